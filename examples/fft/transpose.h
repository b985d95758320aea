#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "examples/fft/matrix.h"
#include "splitc/splitc.h"

namespace fft {

// Room for what the other processes send, and what is sent to them: a block of each.
class Parcels {
 public:
  // For matrices of so many rows and columns, and for those of so many columns and rows.
  // Collective, and so is the end of it.
  Parcels(std::size_t rows, std::size_t columns);

  std::size_t block() const noexcept { return block_; }  // the most elements of a block
  std::span<Complex> outgoing() const noexcept { return outgoing_.mine(); }

  // Two, in turn: one process may send its next blocks while another still reads the last ones.
  // That one cannot be a turn further: all have read the last ones before any transpose is done.
  const splitc::spread_array<Complex>& next_incoming() noexcept {
    second_ = !second_;
    return second_ ? incoming_2_ : incoming_1_;
  }

 private:
  std::size_t block_;
  splitc::spread_array<Complex> outgoing_, incoming_1_, incoming_2_;
  bool second_ = false;
};

// One way to make `to` the transpose of `from`. Collective; on return this process's rows of `to`
// are complete, and `from` may be written by anybody.
struct Version {
  std::string_view name;
  void (*transpose)(const Matrix& from, const Matrix& to, Parcels& parcels);
};

std::span<const Version> versions();

}  // namespace fft
