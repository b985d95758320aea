#pragma once

#include <cstddef>
#include <cstdint>

#include "splitc/splitc.h"

namespace containers {

// The process that keeps what has this hash. By the upper bits of a product, so that all processes
// get their share also where the hash of a number is the number, as std::hash gives it.
inline std::uint32_t owner_of(std::size_t hash) {
  const std::uint64_t mixed = std::uint64_t{hash} * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>((mixed >> 32) * splitc::procs() >> 32);
}

}  // namespace containers
