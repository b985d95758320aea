// What the kernels have in common: their options, and how each is timed, verified and reported, as
// the Parallel Research Kernels do it (R. Van der Wijngaart, T. Mattson: The Parallel Research
// Kernels, HPEC 2014). The code is our own; numbers and metrics are theirs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "examples/application.h"
#include "examples/command_line.h"
#include "splitc/splitc.h"

namespace prk {

using examples::part;
using examples::Range;

// A kernel with its data, in one way of communicating. Every member is collective.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  virtual void iterate() = 0;
  // After so many iterations: this process's share of the number that verifies the result. The
  // shares of all processes are added up.
  virtual double found(std::uint32_t iterations) = 0;
};

struct Way {
  std::string name;
  std::function<std::unique_ptr<Kernel>()> make;
};

// What the options of a kernel ask for.
struct Problem {
  std::string title;     // in words: sizes and how they are divided
  std::string verified;  // in words: the number that verifies the result
  std::function<double(double iterations)> expected;  // that number
  std::string unit;                                   // "MB", "MFlop", ...
  double work;  // of all processes in one iteration, in this unit
};

// What the user asks of every kernel.
struct Runs {
  std::string with = "all";
  std::uint32_t iterations = 10;  // that are timed, behind one that is not
  std::uint32_t repetitions = 1;
};
// Adds them to the options of the line, with the names of the ways.
void add_options(examples::CommandLine& line, Runs& runs, std::vector<std::string> ways);

// Runs the kernel in each way asked for, in turn, and prints on process 0 the rate of each and
// whether its result is right. Returns the exit code: 1 if one is wrong.
int measure(const Runs& runs, const Problem& problem, std::span<const Way> ways);

// The processes as a grid, as square as possible, which divides an area into tiles.
struct Tile {
  Range x, y;
};
class Tiles {
 public:
  Tiles(std::size_t width, std::size_t height);

  std::uint32_t across() const noexcept { return across_; }  // tiles along x
  std::uint32_t down() const noexcept { return down_; }
  std::uint32_t x_of(std::uint32_t proc) const noexcept { return proc % across_; }
  std::uint32_t y_of(std::uint32_t proc) const noexcept { return proc / across_; }
  std::uint32_t proc(std::uint32_t x, std::uint32_t y) const noexcept { return y * across_ + x; }
  Range columns(std::uint32_t x) const noexcept { return part(width_, across_, x); }
  Range rows(std::uint32_t y) const noexcept { return part(height_, down_, y); }
  Tile of(std::uint32_t proc) const noexcept { return {columns(x_of(proc)), rows(y_of(proc))}; }
  std::string words() const;  // "2 x 3 tiles"

 private:
  std::size_t width_, height_;
  std::uint32_t across_, down_;
};

// The kernels: each reads its options and runs. args[0] is the name of the kernel.
int nstream(splitc::Args args);
int stencil(splitc::Args args);
int transpose(splitc::Args args);
int synch_p2p(splitc::Args args);
int sparse(splitc::Args args);
int random_access(splitc::Args args);
int dgemm(splitc::Args args);
int reduce(splitc::Args args);
int particles(splitc::Args args);

}  // namespace prk
