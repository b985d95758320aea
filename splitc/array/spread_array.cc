#include "splitc/array/spread_array.h"

#include <string>

namespace splitc::detail {

void refuse_index(std::size_t i, std::size_t n, Call call) {
  refuse(call, "there is no index " + std::to_string(i) + ": " +
                   (n == 0 ? "it has no elements"
                           : "it has " + std::to_string(n) + ", 0 to " + std::to_string(n - 1)));
}

}  // namespace splitc::detail
