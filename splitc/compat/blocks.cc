#include "splitc/compat/blocks.h"

#include <utility>
#include <vector>

namespace splitc::compat {
namespace {

// A function, as arrays of other files may be constructed before anything of this one is.
std::vector<std::function<void()>>& waiting() {
  static std::vector<std::function<void()>> list;
  return list;
}

}  // namespace

void detail::allocate_in_job(std::function<void()> allocate) {
  if (splitc::detail::place.bases != nullptr) {
    allocate();
  } else {
    waiting().push_back(std::move(allocate));
  }
}

void allocate_static_arrays() {
  for (const std::function<void()>& allocate : std::exchange(waiting(), {})) allocate();
}

}  // namespace splitc::compat
