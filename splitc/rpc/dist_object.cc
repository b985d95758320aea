#include "splitc/rpc/dist_object.h"

#include <string>
#include <unordered_map>

#include "splitc/pointer/allocate.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// By number. No number is used twice: a call may still be on its way to an object that an exception
// has ended. Never destroyed, as objects may be static.
struct Objects {
  std::unordered_map<std::uint32_t, void*> by_number;
  std::uint32_t made = 0;
};
Objects& objects() {
  static Objects& all = *new Objects;
  return all;
}

}  // namespace

std::uint32_t add_dist_object(void* object) {
  check_may_wait("dist_object");
  const std::uint32_t number = ++objects().made;
  objects().by_number.emplace(number, object);
  return number;
}

void* dist_object_at(std::uint32_t number) {
  const auto found = objects().by_number.find(number);
  if (found != objects().by_number.end()) return found->second;
  refuse("dist_object", "this process has no object number " + std::to_string(number) +
                            " any more; keep it until every call that names it has returned");
}

void end_dist_object(std::uint32_t number) noexcept {
  at_end([] { quiesce(am::SourceLocation()); });  // the program has not written it
  objects().by_number.erase(number);
}

}  // namespace splitc::detail
