#include "splitc/access/store.h"

#include <algorithm>
#include <span>

#include "am/core/far/remote_memory.h"
#include "am/route/router.h"
#include "am/types/shared_words.h"
#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/reach.h"
#include "splitc/world/sync.h"
#include "splitc/world/tickets.h"
#include "splitc/world/world.h"

namespace splitc {

namespace {

// The number of the line of this process's first thread; those of the others follow.
std::uint32_t first_line() {
  return world().router().near_index(my_proc()) * world().contexts().threads();
}
std::uint64_t own_line_in(std::uint64_t offset) {
  return offset + StoreLines::offset_of(first_line());
}

}  // namespace

store_counter::store_counter()
    : offset_(detail::all_allocate(StoreLines::bytes(world().storers()), "store_counter", 0)),
      line_offset_(own_line_in(offset_)),
      in_heap_(true) {}

store_counter::store_counter(InWorld)
    : offset_(0), line_offset_(own_line_in(offset_)), in_heap_(false) {
  default_ = this;
}

store_counter::~store_counter() {
  if (!in_heap_) {
    default_ = nullptr;
    return;
  }
  // What is on its way from another node may not land in memory that is another's by then.
  if (detail::has_far_peers()) detail::at_end([this] { wait_all_far("~store_counter"); });
  detail::all_free_at_end(offset_, "the end of a store_counter");
}

StoreLines store_counter::lines_of(std::uint32_t proc) const noexcept {
  return {detail::mapped(proc, offset_), world().storers()};
}

// Before the bytes are counted, and so before the receiver is woken to look at them.
void store_counter::note_target(std::uint32_t proc, std::uint32_t thread) noexcept {
  const StoreLines lines = lines_of(proc);
  const std::uint32_t index = first_line() + thread;
  if (!lines.add(index)) return;
  const auto lock = detail::lock_among_threads(mutex_);
  targets_.push_back(&lines.of(index));
}

void store_counter::count_among_threads(const std::byte* base, std::uint64_t bits,
                                        std::uint64_t bytes) {
  const std::uint32_t thread = detail::context().number;
  count_in_line(base, bits, bytes, line_offset_ + thread * sizeof(StoreLine), thread);
}

std::uint64_t store_counter::arrived() const noexcept {
  const StoreLines lines = lines_of(my_proc());
  // pairs with: OneSided::count()
  std::uint64_t sum = lines.far().bytes.load(std::memory_order_acquire);
  lines.for_each_near([&sum](const StoreLine& line) {
    // pairs with: count()
    sum += line.bytes.load(std::memory_order_acquire);
  });
  return sum;
}

std::uint64_t store_counter::available() const { return arrived() - consumed_; }

bool store_counter::try_wait(std::uint64_t bytes) {
  if (available() < bytes && detail::this_context != nullptr && !am::Bundle::handling()) {
    poll();  // tasks go on
  }
  if (available() < bytes) return false;
  consumed_ += bytes;
  return true;
}

void store_counter::wait(std::uint64_t bytes, am::Here where) {
  detail::check_may_wait({"store_sync", where});
  detail::wait_polling([&] { return available() >= bytes; }, am::Wake::kRung,
                       [&] {
                         return am::Reason{.call = {"store_sync", where},
                                           .have = std::min(available(), bytes),
                                           .wanted = bytes,
                                           .unit = "bytes",
                                           .needs_all = true};
                       });
  consumed_ += bytes;
}

void store_counter::reset() { consumed_ = arrived(); }

std::uint64_t store_counter::sent() const noexcept {
  std::uint64_t sum = std::atomic_ref(sent_far_).load(std::memory_order_relaxed);
  const auto lock = detail::lock_among_threads(mutex_);
  for (const StoreLine* const line : targets_) {
    sum += line->bytes.load(std::memory_order_relaxed);
  }
  return sum;
}

[[gnu::always_inline]] inline bool store_counter::store_watched(std::uint64_t bits,
                                                                const void* local,
                                                                std::size_t bytes,
                                                                const detail::Call& call) {
  std::byte* const to = detail::reach(bits, local, bytes, call);
  if (to == detail::far_base()) [[likely]]
    return false;
  am::copy_whole(to, static_cast<const std::byte*>(local), bytes);
  count(detail::mapping_of(bits), bits, bytes);
  return true;
}

void store_counter::store_far(std::uint64_t bits, const void* local, std::size_t bytes,
                              detail::Call call) {
  if (bytes == 0) return;
  call = call.or_from(__builtin_return_address(0));
  if (store_watched(bits, local, bytes, call)) return;
  const std::uint32_t proc = detail::proc_of(bits);
  const std::uint64_t offset = bits & detail::kOffsetMask;
  const std::span from(static_cast<const std::byte*>(local), bytes);
  if (detail::context().remote->try_append(proc, offset, from, offset_)) {
    count_sent(bytes);
    return;
  }
  std::uint64_t sent = 0;  // counted also if an exception ends this
  const am::Finally counted([&] { count_sent(sent); });
  detail::context().remote->store(proc, offset, from, offset_, call, sent);
}

handle store_counter::start_store_far(std::uint64_t bits, const void* local, std::size_t bytes,
                                      detail::Call call) {
  if (bytes == 0) return {};
  call = call.or_from(__builtin_return_address(0));
  if (store_watched(bits, local, bytes, call)) return {};
  detail::Tickets::Start start(detail::context().tickets, {.proc = detail::proc_of(bits)});
  std::uint64_t sent = 0;
  const am::Finally counted([&] { count_sent(sent); });
  const bool waits = detail::context().remote->start_store(
      detail::proc_of(bits), bits & detail::kOffsetMask,
      {static_cast<const std::byte*>(local), bytes}, offset_, start.ticket(), call, sent);
  return waits ? start.started() : handle();
}

void store_counter::wait_all(detail::Call call) {
  if (detail::has_far_peers()) {
    wait_all_far(call);
  } else {
    wait_all_near(call);
  }
}

void store_counter::wait_all_near(detail::Call call) {
  // Everybody says how much it has stored so far, in one of two marks by turns: a process that is
  // already in its next round writes the other one, and cannot come to the round after that before
  // this process has entered it.
  const unsigned parity = round_++ % 2;
  {
    const auto lock = detail::lock_among_threads(mutex_);
    for (StoreLine* const line : targets_) {
      const std::uint64_t bytes = line->bytes.load(std::memory_order_relaxed);
      if (line->marks[parity].load(std::memory_order_relaxed) != bytes) {
        line->marks[parity].store(bytes, std::memory_order_relaxed);
      }
    }
  }
  detail::meet(call);
  std::uint64_t sum = 0;
  lines_of(my_proc()).for_each_near(
      [&](const StoreLine& line) { sum += line.marks[parity].load(std::memory_order_relaxed); });
  consumed_ = sum;
}

// Stores from other nodes land some time. All processes add up what they have sent and what they
// have received until the sums agree. Each takes its two numbers before it enters the sum and sends
// nothing before it leaves it, and nobody leaves it before all have entered. So every byte that
// somebody has received in these numbers was sent in these numbers too, and where the sums agree
// none is on its way. Whoever leaves the last sum first may store again at once; what arrives of
// that at a slower process is not in the number that this one took, and so is not consumed.
void store_counter::wait_all_far(detail::Call call) {
  struct Bytes {
    std::uint64_t sent;
    std::uint64_t received;
  };
  const auto add = [](const Bytes& a, const Bytes& b) {
    return Bytes{a.sent + b.sent, a.received + b.received};
  };
  for (;;) {
    const Bytes mine{sent(), arrived()};
    const Bytes all = detail::to_all(detail::of_job(detail::GroupCall(call)), mine, add);
    if (all.sent == all.received) {
      consumed_ = mine.received;
      return;
    }
    detail::poll_bundles();
  }
}

am::LearningStats learned_stores() {
  return detail::has_far_peers() ? detail::context().remote->learning() : am::LearningStats{};
}

void all_store_sync(am::Here where) {
  sync();
  store_counter::default_counter().wait_all(where);
}

}  // namespace splitc
