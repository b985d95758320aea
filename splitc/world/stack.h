#pragma once

#include <cstdint>

namespace splitc::detail {

// The stack of the world's thread, as far as it may grow: [begin, end). Empty: it is not known.
struct Stack {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
// By the world's thread, some 20 us for the first time.
Stack worlds_stack();

}  // namespace splitc::detail
