#include "splitc/access/far_atomic.h"

#include <atomic>
#include <bit>
#include <cstddef>

#include "am/am.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// What the owner is to do.
struct WordRequest {
  std::uint32_t ticket;
  AtomicOp op;
  WordType type;
  std::uint64_t offset;
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(WordRequest) == 32);
// An answer is 64 bits, of which as many bytes are copied as the word has.
static_assert(std::endian::native == std::endian::little);

template <class T>
std::uint64_t change(const WordRequest& request) noexcept {
  if (!has_op<T>(request.op)) return 0;  // no caller asks for that
  auto* const word = reinterpret_cast<T*>(world().router().segment() + request.offset);
  return word_bits(
      change_word(request.op, word, word_of_bits<T>(request.a), word_of_bits<T>(request.b)));
}

template <class Signed, class Unsigned>
std::uint64_t change_integer_word(const WordRequest& request) noexcept {
  return request.type.is_signed ? change<Signed>(request) : change<Unsigned>(request);
}

std::uint64_t change(const WordRequest& request) noexcept {
  if (request.type.is_float) {
    return request.type.bytes == 4 ? change<float>(request) : change<double>(request);
  }
  switch (request.type.bytes) {
    case 1: return change_integer_word<std::int8_t, std::uint8_t>(request);
    case 2: return change_integer_word<std::int16_t, std::uint16_t>(request);
    case 4: return change_integer_word<std::int32_t, std::uint32_t>(request);
    default: return change_integer_word<std::int64_t, std::uint64_t>(request);
  }
}

void on_word_before(am::Reply, std::uint32_t ticket, std::uint64_t before) {
  world().tickets().answered(ticket, reinterpret_cast<const std::byte*>(&before));
}

void on_word(am::Request message, WordRequest request) {
  std::move(message).reply<&on_word_before>(request.ticket, change(request));
}

handle start(const FarAtomic& change, void* before, std::size_t bytes, Call call,
             const void* caller) {
  check_far(change.bits, change.type.bytes, call, caller);
  World& w = world();
  // pairs with: the atomics of other processes; what was written before is there for who sees this
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Tickets::Start start(w.tickets(),
                       {.proc = proc_of(change.bits), .result = before, .result_bytes = bytes});
  const WordRequest request{start.ticket(), change.op, change.type, change.bits & kOffsetMask,
                            change.a,       change.b};
  w.endpoint().request<&on_word>({proc_of(change.bits), call.where}, request);
  return start.started();
}

}  // namespace

void add_atomic_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_word, &on_word_before>();
}

std::uint64_t change_far_atomically(const FarAtomic& change, Call call) {
  std::uint64_t before = 0;
  const void* const caller = __builtin_return_address(0);
  const handle started = start(change, &before, sizeof before, call, caller);
  finish_one(started, am::Reason{.call = call.name, .where = call.where, .caller = caller});
  // pairs with: the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return before;
}

handle start_far_atomic(const FarAtomic& change, void* before, Call call) {
  return start(change, before, change.type.bytes, call, __builtin_return_address(0));
}

}  // namespace splitc::detail
