#include "splitc/access/word_op.h"

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/observe/activity.h"
#include "am/route/router.h"
#include "splitc/access/word_atomic.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// An answer is 64 bits, of which as many bytes are copied as the word has.
static_assert(std::endian::native == std::endian::little);

// Make a change of `word`, of this node.
template <class T>
std::uint64_t change_as(const FarAtomic& change, std::byte* word) noexcept {
  if (!has_op<T>(change.op)) return 0;  // no caller asks for that
  return word_bits(change_word(change.op, reinterpret_cast<T*>(word), word_of_bits<T>(change.a),
                               word_of_bits<T>(change.b)));
}
template <class Signed>
std::uint64_t change_integer(const FarAtomic& change, std::byte* word) noexcept {
  if (change.type.is_signed) return change_as<Signed>(change, word);
  return change_as<std::make_unsigned_t<Signed>>(change, word);
}
std::uint64_t make(const FarAtomic& change, std::byte* word) noexcept {
  if (change.type.is_float) {
    return change.type.bytes == 4 ? change_as<float>(change, word)
                                  : change_as<double>(change, word);
  }
  switch (change.type.bytes) {
    case 1: return change_integer<std::int8_t>(change, word);
    case 2: return change_integer<std::int16_t>(change, word);
    case 4: return change_integer<std::int32_t>(change, word);
    default: return change_integer<std::int64_t>(change, word);
  }
}

void on_word_before(am::Reply, std::uint32_t ticket, std::uint64_t before) {
  context().tickets.answered(ticket, reinterpret_cast<const std::byte*>(&before));
}

void on_word(am::Request message, FarAtomic change) {
  std::byte* const word = world().router().segment() + (change.bits & kOffsetMask);
  std::move(message).reply<&on_word_before>(change.ticket, make(change, word));
}

// If the word is on this node, a change that is watched: makes it, and returns the value before.
std::optional<std::uint64_t> change_watched(const FarAtomic& change, Call call) {
  std::byte* const word = watched(change.bits, change.type.bytes, call);
  if (word == far_base()) return {};
  fence_before_comparison();
  const std::uint64_t before = make(change, word);
  fence_behind_atomic();
  return before;
}

handle start(FarAtomic change, void* before, std::size_t bytes, Call call) {
  check_far(change.bits, change.type.bytes, call);
  // pairs with: the atomics of other processes; what was written before is there for who sees this
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Tickets::Start start(context().tickets,
                       {.proc = proc_of(change.bits), .result = before, .result_bytes = bytes});
  change.ticket = start.ticket();
  context().endpoint.request<&on_word>({proc_of(change.bits), call.where}, change);
  return start.started();
}

}  // namespace

void add_atomic_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_word, &on_word_before>();
}

std::uint64_t change_far_atomically(const FarAtomic& change, Call call) {
  call = call.or_from(__builtin_return_address(0));
  if (const auto before = change_watched(change, call)) return *before;
  std::uint64_t before = 0;
  const handle started = start(change, &before, sizeof before, call);
  finish_one(started, am::Reason{.call = call});
  // pairs with: the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return before;
}

handle start_far_atomic(const FarAtomic& change, void* before, Call call) {
  call = call.or_from(__builtin_return_address(0));
  if (const auto value = change_watched(change, call)) {
    if (before != nullptr) std::memcpy(before, &*value, change.type.bytes);
    return {};
  }
  return start(change, before, change.type.bytes, call);
}

}  // namespace splitc::detail
