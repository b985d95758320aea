#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "splitc/splitc.h"

namespace examples {

// All elements of `values`, in this process.
template <class T>
std::vector<T> collect(const splitc::spread_array<T>& values) {
  std::vector<T> all(values.size());
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    std::vector<T> part(values.size_on(proc));
    splitc::bulk_read(std::span(part), values.on(proc));
    for (std::size_t i = 0; i < part.size(); ++i) all[values.global(proc, i)] = part[i];
  }
  return all;
}

}  // namespace examples
