#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "am/types/link_stats.h"
#include "am/types/types.h"
#include "splitc/access/access.h"
#include "splitc/world/refused.h"
#include "splitc/world/segment.h"

// One-way writes that are counted where they land: Split-C's `:-`, where *p :- x is store(p, x).
//
//   store(p, x);                 // at the sender: starts, returns, and is never heard of again
//   store_sync(sizeof(x));       // at the receiver: waits for that many bytes, from anybody
//   all_store_sync();            // or, collective: every store of every process has landed
//
// An exchange among all processes, none of which knows how much it will receive from which:
//
//   for (const Item& item : mine) store(next_place(item), item);     // counted by the library
//   all_store_sync();                                                // everybody has everything
//
// Completion. The sender is done on return, and the value may be reused. At the target the bytes
// are written first and then added to a count, so a process that has counted a store sees its bytes
// and all that its sender had written or seen before. Counted are bytes, not stores: when 8 of 16
// bytes have been counted, either of two stores may be the one that has landed.
//
// Order. None between stores, also not to one address, until they are counted. sync() does not
// wait for stores. A barrier() completes the stores between processes of one node only.
//
// Phases. What is left over after a wait counts for the next one, so two phases may share a counter
// as long as each waits for exactly its bytes. Bytes are counted regardless of their sender: where
// several processes store in turn, a later store may arrive first and be taken for an earlier one.
// A store_counter of its own for each phase or neighbour keeps them apart without that care.
//
// What each costs, and where it may be called:
//
//   route               cost                                            allowed
//   near (same node)    the store, one store to the counter line, and   any thread,
//                       one load to see whether the target sleeps:      handlers
//                       1.7 ns for 8 bytes; with several threads a
//                       call more
//   far (other node)    up to 4 KiB: one packet, coalesced with         any thread,
//                       others: 10 million a second over TCP. More:     outside handlers
//                       an RMA write and a packet, and waits until
//                       the source is free
//
// A far store waits, and polls, only while the network has no room for it, or above 4 KiB.
//
// Errors of store() are those of write() (splitc/access/access.h).

namespace splitc {

// Counts the bytes that have been stored at this process, by all senders together, less those that
// earlier waits have consumed. The default counter serves all stores that name none.
//
// Neither copied nor moved. Every process has its own object; the n-th that each constructs are one
// counter together. Thread rule: each of run()'s threads stores; one at a time waits on one, and
// makes or ends it.
class store_counter {
 public:
  // Collective. Takes 64 bytes per thread of each process of the node that has most, and at least
  // 128 more, from the spread heap of every process. Throws Error if the memory is not there. Costs
  // a barrier.
  store_counter();
  // Collective: waits until every store between nodes has landed, and frees the memory after a
  // barrier. Does nothing while an exception propagates; the memory then stays allocated.
  ~store_counter();
  // The default counter, in the runtime's memory. Only run() makes it.
  struct InWorld {};
  explicit store_counter(InWorld);
  store_counter(const store_counter&) = delete;
  store_counter& operator=(const store_counter&) = delete;

  // Waits, polling, until `bytes` more have been stored here than earlier waits consumed, and
  // consumes them. Bytes beyond that stay for the next wait. Throws Error in a handler or in
  // another thread. Each poll costs one load per thread of the node that has stored here, and one
  // for all other nodes together.
  void wait(std::uint64_t bytes, am::Here where = {});
  // Consumes `bytes` without waiting: polls once if they are not here yet, as stores from other
  // nodes land in polls only, and returns false, having consumed nothing, if they still are not. In
  // a handler it does not poll. Throws what a handler throws.
  bool try_wait(std::uint64_t bytes);
  // Bytes that have arrived and have not been consumed. Does not poll.
  std::uint64_t available() const;
  // Consumes all that has arrived (Split-C's reset_store_sync). Only while no store is in flight to
  // this process: what lands later is not forgotten. Waits that consume their bytes never need it.
  void reset();

  // Collective: waits until every store of every process on this counter has landed, consumes them,
  // and is a barrier. Stores made after it are never consumed by it. Handlers may not store on this
  // counter meanwhile, nor other threads. Costs, on one node, a barrier, a store for each process
  // that this one has stored at, and a load for each that has stored here; across nodes, one
  // reduction of two numbers, repeated until all that was sent has been received.
  void wait_all(am::Here where = {}) { wait_all(detail::Call("all_store_sync", where)); }
  void wait_all(detail::Call call);  // on behalf of `call`

  // Counts `bytes` that this process has just written at the global pointer `bits`, of a process of
  // this node whose mapping_of() is `base`, and wakes that if it sleeps.
  void count(const std::byte* base, std::uint64_t bits, std::uint64_t bytes) {
    if (detail::is_threaded()) [[unlikely]]
      return count_among_threads(base, bits, bytes);
    count_alone(base, bits, bytes);
  }
  // count() in a program of one thread, which is the only writer of its line.
  void count_alone(const std::byte* base, std::uint64_t bits, std::uint64_t bytes) noexcept {
    count_in_line(base, bits, bytes, line_offset_, 0);
  }

  // Sends `bytes` to another node, to be written at the global pointer `bits` and counted there.
  // `local` may be reused on return.
  void store_far(std::uint64_t bits, const void* local, std::size_t bytes, detail::Call call);

  // Sends as store_far(), but `local` lives unchanged until the handle is complete.
  handle start_store_far(std::uint64_t bits, const void* local, std::size_t bytes,
                         detail::Call call);

  // Where processes of other nodes count what comes from this one, by RemoteMemory::count(), as an
  // offset in their segments; and that `bytes` have been sent which will be counted there.
  std::uint64_t place() const noexcept { return offset_; }
  void count_sent(std::uint64_t bytes) noexcept {
    if (detail::is_threaded()) [[unlikely]] {
      std::atomic_ref(sent_far_).fetch_add(bytes, std::memory_order_relaxed);
    } else {
      sent_far_ += bytes;
    }
  }

  // The counter of stores that name none. Exists inside run() only.
  static store_counter& default_counter() noexcept { return *default_; }

 private:
  StoreLines lines_of(std::uint32_t proc) const noexcept;
  void note_target(std::uint32_t proc, std::uint32_t thread) noexcept;  // its first store there
  void count_among_threads(const std::byte* base, std::uint64_t bits, std::uint64_t bytes);
  // In the line at `line_offset` of the target's segment, which thread number `thread` of this
  // process, the calling one, writes alone.
  [[gnu::always_inline]] void count_in_line(const std::byte* base, std::uint64_t bits,
                                            std::uint64_t bytes, std::uint64_t line_offset,
                                            std::uint32_t thread) noexcept {
    std::byte* const segment = detail::mapped(base, bits & ~detail::kOffsetMask);
    StoreLine& line = *reinterpret_cast<StoreLine*>(segment + line_offset);
    const std::uint64_t before = line.bytes.load(std::memory_order_relaxed);
    if (before == 0) [[unlikely]]
      note_target(detail::proc_of(bits), thread);
    // pairs with: arrived(); the bytes were written before
    line.bytes.store(before + bytes, std::memory_order_release);
    detail::wake_owner(segment);
  }
  // Whether the target is on this node: then an access that is watched, and done.
  bool store_watched(std::uint64_t bits, const void* local, std::size_t bytes,
                     const detail::Call& call);
  std::uint64_t arrived() const noexcept;
  std::uint64_t sent() const noexcept;
  void wait_all_near(detail::Call call);
  void wait_all_far(detail::Call call);

  static inline store_counter* default_ = nullptr;  // set while a world runs

  std::uint64_t offset_;       // of the lines in every segment
  std::uint64_t line_offset_;  // of that of this process's first thread there
  bool in_heap_;
  mutable std::mutex mutex_;         // guards the next among threads
  std::vector<StoreLine*> targets_;  // its threads' lines that have been written
  std::uint64_t consumed_ = 0;       // of what has arrived
  std::uint64_t round_ = 0;          // number of wait_all calls
  // Bytes to other nodes, where this process cannot read its lines.
  mutable std::uint64_t sent_far_ = 0;
};

// Statistics of this process: how many targets of large stores to other nodes have repeated so
// often that they got a put channel of their own, and how many stores used these (none with
// SPLITC_LEARN=0, or on one node; docs/channels.md).
am::LearningStats learned_stores();

// *p :- value. Starts writing `value`, which is copied before return, to the object at `p`, and
// adds sizeof(T) to the target's `counter` when it has landed.
template <detail::writable T>
inline void store(global_ptr<T> p, const std::type_identity_t<T>& value,
                  store_counter& counter = store_counter::default_counter(), am::Here where = {}) {
  detail::check_access(p, 0, {"store", where});
  std::byte* const base = detail::store_base_of(p.bits());
  if (base == detail::far_base()) [[unlikely]] {
    const T copy = value;
    counter.store_far(p.bits(), &copy, sizeof(T), {"store", where});
    if (detail::store_base_of(p.bits()) != base) __builtin_unreachable();  // as base_stays()
    return;
  }
  detail::save<T>(detail::mapped(base, p.bits()), value, __ATOMIC_RELAXED);
  counter.count_alone(base, p.bits(), sizeof(T));
}
// Stores through references, as in store(a[i], value).
template <detail::writable T>
inline void store(const global_ref<T>& r, const std::type_identity_t<T>& value,
                  store_counter& counter = store_counter::default_counter()) {
  store(&r, value, counter, r.where());
}

// Waits until `bytes` of stores have landed at this process, on the default counter or on
// `counter`, and consumes them: store_counter::wait(). Split-C's store_sync.
inline void store_sync(std::uint64_t bytes, am::Here where = {}) {
  store_counter::default_counter().wait(bytes, where);
}
inline void store_sync(std::uint64_t bytes, store_counter& counter, am::Here where = {}) {
  counter.wait(bytes, where);
}
void store(detail::refused<"store(p, value): the value has the type of the elements, not const; p "
                           "is &a[i], a[i], another global_ptr, or *s of a spread_ptr s">,
           detail::anything = {}, detail::anything = {}, detail::anything = {});
void store_sync() = delete;  // store_sync(bytes): how many bytes of stores are to land here
// store_counter::reset() of the default counter: Split-C's reset_store_sync.
inline void reset_store_sync() { store_counter::default_counter().reset(); }
// Collective: a sync(), and then wait_all() of the default counter. So all gets, puts and stores of
// all processes before it are visible to every process after it. Split-C's all_store_sync.
void all_store_sync(am::Here where = {});

}  // namespace splitc
