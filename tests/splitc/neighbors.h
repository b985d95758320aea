// The processes beside this one, in a ring.
#pragma once

#include <cstdint>

#include "splitc/splitc.h"

namespace test {

inline std::uint32_t right() { return (splitc::my_proc() + 1) % splitc::procs(); }
inline std::uint32_t left() { return (splitc::my_proc() + splitc::procs() - 1) % splitc::procs(); }

}  // namespace test
