#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "splitc/compat/blocks.h"
#include "splitc/compat/operations.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/heap.h"
#include "splitc/world/world.h"

namespace splitc::compat {

namespace {

// Where the segment of this process is, and after the job, where it was: handlers of atexit() run
// then.
struct Range {
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;
};
Range segment;

bool in_job() noexcept { return splitc::detail::place.bases != nullptr; }

void look_for_segment() noexcept {
  if (!in_job()) return;
  segment = {reinterpret_cast<std::uintptr_t>(splitc::detail::mapped(my_proc(), 0)),
             splitc::detail::place.segment_bytes};
}

bool is_in_segment(const void* p) noexcept {
  look_for_segment();
  return reinterpret_cast<std::uintptr_t>(p) - segment.begin < segment.bytes;
}

std::size_t segment_block_bytes(const void* p) {
  const auto block = world().heap().block_of(splitc::detail::offset_of(p, my_proc(), "realloc"));
  return block ? block->bytes : 0;
}

}  // namespace

void* c_malloc(std::size_t bytes) noexcept {
  if (!in_job()) return std::malloc(bytes);
  look_for_segment();
  try {
    return local_malloc<std::byte>(bytes);
  } catch (const Error&) {
    return std::malloc(bytes);
  }
}

void* c_calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const p = c_malloc(all);
  if (p != nullptr) std::memset(p, 0, all);
  return p;
}

void* c_realloc(void* p, std::size_t bytes) noexcept {
  if (p == nullptr) return c_malloc(bytes);
  if (!is_in_segment(p)) return std::realloc(p, bytes);
  if (!in_job()) return nullptr;  // what p had went with the job
  void* const larger = c_malloc(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, p, std::min(bytes, segment_block_bytes(p)));
  local_free(p, am::SourceLocation());
  return larger;
}

void c_free(void* p) noexcept {
  if (!is_in_segment(p)) {
    std::free(p);
  } else if (in_job()) {
    local_free(p, am::SourceLocation());
  }
}

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
