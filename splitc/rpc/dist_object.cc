#include "splitc/rpc/dist_object.h"

#include <string>
#include <vector>

#include "splitc/collective/barrier.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

std::vector<void*> objects;  // by number; nullptr: it has ended

}  // namespace

std::uint32_t add_dist_object(void* object) {
  check_may_wait("dist_object");
  objects.push_back(object);
  return static_cast<std::uint32_t>(objects.size() - 1);
}

void* dist_object_at(std::uint32_t number) {
  if (number < objects.size() && objects[number] != nullptr) return objects[number];
  refuse("dist_object", "this process has no object number " + std::to_string(number) +
                            " any more; keep it until every call that names it has returned");
}

void meet_about_dist_object() { meet("dist_object"); }

void end_dist_object(std::uint32_t number) noexcept {
  at_end([] { quiesce(); });
  objects[number] = nullptr;
  while (!objects.empty() && objects.back() == nullptr) objects.pop_back();
}

}  // namespace splitc::detail
