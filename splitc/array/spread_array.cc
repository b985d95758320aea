#include "splitc/array/spread_array.h"

#include <string>

namespace splitc::detail {

void refuse_index(std::size_t i, std::size_t n, Call call) {
  // A program that comes to 2^63 has counted below 0.
  refuse(call, "there is no index " + std::to_string(static_cast<std::ptrdiff_t>(i)) + ": " +
                   (n == 0 ? "it has no elements"
                           : "it has " + std::to_string(n) + ", 0 to " + std::to_string(n - 1)));
}

}  // namespace splitc::detail
