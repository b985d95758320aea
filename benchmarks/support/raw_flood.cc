#include <cstring>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"
#include "benchmarks/support/raw.h"
#include "shmem/doorbell.h"
#include "shmem/ring.h"

namespace bench {
namespace {

using shmem::Mark;
using shmem::Slot;
using Handler = Mark (*)(Slot&);

constexpr std::uint64_t kSlots = Board::kRingSlots;
constexpr Mark kPing = 1;
constexpr Mark kPong = 2;

// What the handlers have received.
struct Received {
  std::uint64_t requests = 0;
  std::uint64_t sum = 0;
} received;

Mark on_ping(Slot& slot) {
  std::uint64_t number;
  std::memcpy(&number, slot.request.bytes, sizeof number);
  ++number;
  ++received.requests;
  std::memcpy(slot.reply.bytes, &number, sizeof number);
  return kPong;
}
Mark on_pong(Slot& slot) {
  std::uint64_t number;
  std::memcpy(&number, slot.reply.bytes, sizeof number);
  received.sum += number;
  return 0;
}

// As the library's, which are not known where they are called.
Handler handlers[256] = {nullptr, on_ping, on_pong};

Mark handle(Mark mark, Slot& slot) { return opaque(handlers)[mark & 0xff](slot); }

// Numbers of requests: the next, and the oldest whose reply is to come.
struct Requester {
  Slot* slots;
  shmem::Doorbell& bell;
  const shmem::Fence& fence;
  std::uint64_t next;
  std::uint64_t oldest;

  void send(std::uint64_t argument) {
    Slot& slot = slots[next % kSlots];
    std::memcpy(slot.request.bytes, &argument, sizeof argument);
    // pairs with: Responder::answer()
    slot.request.head.store(shmem::make_head(next++, kPing), std::memory_order_release);
    bell.notify(fence);
  }
  // False: no reply is there.
  bool reap() {
    Slot& slot = slots[oldest % kSlots];
    // pairs with: Responder::answer()
    const std::uint64_t head = slot.reply.head.load(std::memory_order_acquire);
    if (!shmem::is_head_of(head, oldest)) return false;
    ++oldest;
    handle(shmem::mark_of(head), slot);
    return true;
  }
};

struct Responder {
  Slot* slots;
  shmem::Doorbell& bell;
  const shmem::Fence& fence;
  std::uint64_t expected;

  // False: no request is there.
  bool answer() {
    Slot& slot = slots[expected % kSlots];
    // pairs with: Requester::send()
    const std::uint64_t head = slot.request.head.load(std::memory_order_acquire);
    if (!shmem::is_head_of(head, expected)) return false;
    const Mark reply = handle(shmem::mark_of(head), slot);
    // pairs with: Requester::reap()
    slot.reply.head.store(shmem::make_head(expected++, reply), std::memory_order_release);
    bell.notify(fence);
    return true;
  }
};

}  // namespace

double Raw::flood(int pairs) {
  const shmem::Fence fence = pair_.fence();
  const std::uint64_t first = flooded_ + 1;
  const std::uint64_t end = first + static_cast<std::uint64_t>(pairs);
  shmem::Doorbell& bell = board_.bells[pair_.other()];
  const Stopwatch watch;
  if (pair_.first()) {
    Requester requester{board_.flood, bell, fence, first, first};
    while (requester.oldest != end) {
      if (requester.next != end && requester.next - requester.oldest != kSlots) {
        requester.send(requester.next);
      } else {
        spin_until<false>([&] { return requester.reap(); });
        while (requester.oldest != requester.next && requester.reap()) {
        }
      }
    }
  } else {
    Responder responder{board_.flood, bell, fence, first};
    while (responder.expected != end) spin_until<false>([&] { return responder.answer(); });
  }
  const double ns = watch.ns();
  keep(received.sum);
  flooded_ = end - 1;
  return ns / pairs;
}

}  // namespace bench
