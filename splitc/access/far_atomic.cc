#include "splitc/access/far_atomic.h"

#include <cstddef>

#include "am/am.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// What the owner is to do.
struct WordRequest {
  std::uint32_t ticket;
  std::uint16_t op;
  std::uint16_t bytes;  // of the word
  std::uint64_t offset;
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(WordRequest) == 32);

template <class Word>
std::uint64_t change(const WordRequest& request) noexcept {
  auto* const word = reinterpret_cast<Word*>(world().router().segment() + request.offset);
  const auto a = static_cast<Word>(request.a);
  auto b = static_cast<Word>(request.b);
  switch (static_cast<AtomicOp>(request.op)) {
    case AtomicOp::kAdd:
      // pairs with: the atomics of other processes
      return __atomic_fetch_add(word, a, __ATOMIC_SEQ_CST);
    case AtomicOp::kExchange:
      // pairs with: the atomics of other processes
      return __atomic_exchange_n(word, a, __ATOMIC_SEQ_CST);
    case AtomicOp::kCompareAndSwap:
      // pairs with: the atomics of other processes
      __atomic_compare_exchange_n(word, &b, a, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      return b;
  }
  return 0;
}

void on_word_before(am::Reply, std::uint32_t ticket, std::uint64_t before) {
  world().tickets().answered(ticket, reinterpret_cast<const std::byte*>(&before));
}

void on_word(am::Request message, WordRequest request) {
  const std::uint64_t before =
      request.bytes == 4 ? change<std::uint32_t>(request) : change<std::uint64_t>(request);
  std::move(message).reply<&on_word_before>(request.ticket, before);
}

}  // namespace

void add_atomic_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_word, &on_word_before>();
}

std::uint64_t change_far_atomically(AtomicOp op, std::uint64_t bits, std::uint32_t bytes,
                                    std::uint64_t a, std::uint64_t b, Call call) {
  check_far(bits, bytes, call);
  World& w = world();
  std::uint64_t before = 0;
  // pairs with: the atomics of other processes; what was written before is there for who sees this
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Tickets::Start start(w.tickets(),
                       {.proc = proc_of(bits), .result = &before, .result_bytes = sizeof before});
  const WordRequest request{start.ticket(),
                            static_cast<std::uint16_t>(op),
                            static_cast<std::uint16_t>(bytes),
                            bits & kOffsetMask,
                            a,
                            b};
  w.endpoint().request<&on_word>({proc_of(bits), call.where}, request);
  finish_one(
      start.started(),
      am::Reason{.call = call.name, .where = call.where, .caller = __builtin_return_address(0)});
  // pairs with: the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return before;
}

}  // namespace splitc::detail
