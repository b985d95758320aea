// The words that every part of Active Messages shares.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace am {

using Rank = std::uint32_t;  // a process of the job: 0 to size - 1

// Thrown by set-up calls: one sentence with rank, call, value, cause and remedy.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace am
