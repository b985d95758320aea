#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "examples/conjugate_gradient/rows.h"
#include "splitc/splitc.h"

namespace conjugate_gradient {

// A vector in blocks, where each process has its ghosts behind its own elements.
class Vector {
 public:
  // Collective, and so is the end of it.
  Vector(const splitc::distribution& blocks, const Plan& plan);

  // This process's elements and ghosts, its elements only, and its ghosts only.
  std::span<double> local() const { return all_.mine().first(own_ + ghosts_); }
  std::span<double> own() const { return local().first(own_); }
  std::span<double> ghosts() const { return local().subspan(own_); }

  // The ghosts of process `proc` from its `first` on.
  splitc::global_ptr<double> ghosts_on(std::uint32_t proc, std::uint32_t first) const {
    return all_.on(proc) + static_cast<std::ptrdiff_t>(blocks_.size_on(proc) + first);
  }
  // Element i of the whole, at its owner.
  splitc::global_ptr<const double> at(std::uint32_t i) const {
    return all_.on(blocks_.owner(i)) + static_cast<std::ptrdiff_t>(blocks_.local(i));
  }

 private:
  splitc::distribution blocks_;
  std::size_t own_, ghosts_;
  splitc::spread_array<double> all_;
};

// One way to bring all ghosts up to date, in three steps that every process takes in turn. Between
// the last step of one turn and the first of the next there lies a reduction: whoever comes out of
// it knows that all processes have released their ghosts, and that nobody reads its elements.
class Halo {
 public:
  Halo() = default;
  Halo(const Halo&) = delete;
  Halo& operator=(const Halo&) = delete;
  virtual ~Halo() = default;

  virtual void start() = 0;    // this process's elements have their new values
  virtual void finish() = 0;   // returns when its ghosts have theirs
  virtual void release() = 0;  // it needs its ghosts no more
};

struct Version {
  std::string_view name;
  // Collective, and so is the end of what it returns. The vector and the plan live longer.
  std::unique_ptr<Halo> (*make)(const Vector& vector, const Plan& plan);
};
std::span<const Version> versions();

}  // namespace conjugate_gradient
