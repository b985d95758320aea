#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "splitc/splitc.h"

namespace gauss {

// An array of which every process has a copy. Who has written some of it stores that at the others,
// which wait for as much: nobody waits for anybody else, as in a broadcast.
class Copies {
 public:
  // Collective.
  explicit Copies(std::size_t size) : blocks_(splitc::procs(), size) {}

  std::span<double> mine() const noexcept { return blocks_.mine(); }
  void store_at_others(std::size_t first, std::size_t count) {
    const std::span<const double> part = mine().subspan(first, count);
    for (std::uint32_t i = 1; i < splitc::procs(); ++i) {
      const std::uint32_t proc = (splitc::my_proc() + i) % splitc::procs();
      bulk_store(blocks_.on(proc) + static_cast<std::ptrdiff_t>(first), part, stored_);
    }
  }
  // For so many elements more, whoever stores them.
  void wait(std::size_t count) { stored_.wait(count * sizeof(double)); }

 private:
  splitc::spread_array<double> blocks_;
  splitc::store_counter stored_;
};

}  // namespace gauss
