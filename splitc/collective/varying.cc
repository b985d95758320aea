// All to all, of parts of varying size.

#include "splitc/collective/varying.h"

#include <string>

namespace splitc::detail {

void check_counts_of(std::span<const std::size_t> counts, std::size_t all, Call call) {
  if (counts.empty() || counts.size() == all) return;
  refuse(call, "there is room for " + std::to_string(counts.size()) +
                   " counts of what comes, and there are " + std::to_string(all) +
                   "; pass a span of as many");
}
void refuse_room(std::size_t room, std::size_t needed, Call call) {
  refuse(call, "there is room for " + std::to_string(room) + " elements, and " +
                   std::to_string(needed) +
                   " came, which are lost; pass a larger span, or the form without one");
}

}  // namespace splitc::detail
