#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/application.h"
#include "splitc/splitc.h"

namespace pipeline {

// A process: stage my_proc() of a chain through which blocks of numbers pass. It has two buffers
// for what comes and two for what leaves, used by turns, so that one is filled while the other is
// worked on.
class Stage {
 public:
  explicit Stage(std::size_t points);  // collective, and so is its end

  bool is_first() const noexcept { return splitc::my_proc() == 0; }
  bool is_last() const noexcept { return splitc::my_proc() + 1 == splitc::procs(); }
  std::size_t bytes() const noexcept { return points_ * sizeof(double); }

  // The next block from the buffer for what comes to that for what leaves. The first stage makes
  // its blocks, the last one adds them up.
  void work(unsigned turn);
  std::uint64_t checksum() const;  // of the sum; 0 but for the last stage

  std::span<double> input(unsigned turn) const noexcept {
    return inputs_.mine().subspan(turn * points_, points_);
  }
  std::span<double> output(unsigned turn) noexcept {
    return std::span(outputs_).subspan(turn * points_, points_);
  }
  // A buffer for what comes, of another stage.
  splitc::global_ptr<double> input_of(std::uint32_t proc, unsigned turn) const {
    return inputs_.on(proc) + static_cast<std::ptrdiff_t>(turn * points_);
  }

 private:
  std::size_t points_;
  splitc::spread_array<double> inputs_;
  std::vector<double> outputs_;
  std::vector<double> source_;  // the last block that the first stage made
  std::vector<double> sum_;     // of all blocks, at the last stage
};

// The sum of `blocks` blocks behind a chain of `stages`, computed by this process alone.
std::uint64_t serial_checksum(std::size_t points, std::uint32_t blocks, std::uint32_t stages);

}  // namespace pipeline
