#include "splitc/rpc/pack.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "splitc/world/tickets.h"
#include "splitc/world/world.h"

// What can be seen of the captures of a lambda that goes to another process.

namespace splitc::detail {
namespace {

// Whether nobody has been told of this place.
bool is_new(const am::SourceLocation& where) {
  static auto* const told = new std::set<std::pair<std::string, std::uint32_t>>;
  static std::mutex mutex;  // guards it, among threads
  const auto lock = lock_among_threads(mutex);
  return told->emplace(where.file_name(), where.line()).second;
}

}  // namespace

void note_addresses(const void* captures, std::size_t bytes, std::uint32_t proc, Call call) {
  if (this_context == nullptr) return;
  const Stack stack = my_stack();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, static_cast<const std::byte*>(captures) + at, sizeof word);
    if (word < here || word >= stack.end || !is_new(call.where)) continue;
    std::fprintf(stderr,
                 "rank %u: %s: the function that goes to process %u captures 0x%" PRIxPTR
                 ", which is an address of this process's stack and means nothing there; capture "
                 "the value (at %s:%u)\n",
                 my_proc(), call.name, proc, word, call.where.file_name(), call.where.line());
    return;
  }
}

}  // namespace splitc::detail
