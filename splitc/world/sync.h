#pragma once

#include <atomic>
#include <cstdint>

#include "am/types/types.h"
#include "splitc/world/place.h"

namespace am {
struct Reason;
}

namespace splitc {

// Completion of split-phase operations: Split-C's sync().
//
//   call                what it waits for                      if that is not complete yet
//   sync()              all operations of this thread          waits, polling
//   sync(handle)        one operation                          waits, polling
//   try_sync()          all operations of this thread          polls once, may return false
//   try_sync(handle)    one operation                          polls once, may return false
//
// The operations are get, put, their forms for ranges, shapes and lists, atomic_get and atomic_put,
// as started by the calling thread. Stores are not among them: a sender does not wait for its
// stores (splitc/access/store.h).
//
// Fence. Each of these calls, when it returns (true), is also a full memory fence of the processor:
// no access after it is performed before one that precedes it. So a sync() between a write and a
// read of another object excludes store buffering.
//
// Cost. With near operations only, which are complete when they have been started: one fence. With
// far ones: until the last answer has come.
//
// Threads. A thread of the program, outside handlers. With nothing in flight any thread may call
// sync() as a fence.
//
// Errors. sync() and sync(handle) throw nothing: called where they may not wait, or if a handler
// throws while they poll, they end the job with the sentence. try_sync() throws Error in a handler
// if something is in flight, and passes on what handlers throw.

// One operation that has been started. Plain bytes of this process, meaningless to others. It may
// be copied, and dropped: sync() waits for everything. It may be waited for any number of times,
// also after its operation is complete.
class handle {
 public:
  // The handle of an operation that is complete, as near gets and puts are at once.
  constexpr handle() noexcept = default;
  // The handle of an operation in flight: its slot in the table of operations, and that slot's
  // generation, incremented each time the slot is reused, from 1.
  constexpr handle(std::uint32_t ticket, std::uint32_t generation) noexcept
      : ticket_(ticket), generation_(generation) {}

  // The two parts, for the library.
  constexpr std::uint32_t ticket() const noexcept { return ticket_; }
  constexpr std::uint32_t generation() const noexcept { return generation_; }  // 0: complete

  // Every operation in flight, futures and started collective calls included, has these: ready()
  // and try_wait(), two names of one call, are try_sync(*this), poll once if it is not complete and
  // never wait; wait() is sync(*this), and so is result(), as there is no value.
  [[nodiscard]] inline bool ready() const;
  [[nodiscard]] inline bool try_wait() const;
  inline void wait(am::Here where = {}) const noexcept;
  inline void result(am::Here where = {}) const noexcept;

 private:
  std::uint32_t ticket_ = 0;
  std::uint32_t generation_ = 0;
};

namespace detail {

// Operations of the calling thread in flight; 0 while it uses only gets and puts on its node.
inline constinit std::uint64_t none_outstanding = 0;  // of a thread that has started none
inline constinit thread_local std::uint64_t* outstanding = &none_outstanding;

// Wait until there are none, or until this one is complete. What a handler throws meanwhile ends
// the job.
void finish_outstanding() noexcept;
void finish_one(handle h, Call call) noexcept;
// On behalf of another call, which gives the name and place of `reason`.
void finish_one(handle h, const am::Reason& reason) noexcept;
// Poll once, and return whether there are none, or whether this one is complete.
bool try_finish_outstanding();
bool try_finish_one(handle h);

// Always part of the program's own function, which a report on a sync() that waits in vain names.
[[gnu::always_inline]] inline void complete_all() noexcept {
  if (*outstanding != 0) [[unlikely]]
    finish_outstanding();
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace detail
}  // namespace splitc

// Waits until every get, put and split-phase atomic that this thread has started is complete: the
// values of gets are in their destinations, and every process sees the puts. A full fence.
//
// The name is POSIX's as well, which standard headers bring along, and an overload of the same
// signature would make every sync() of a program that says `using namespace splitc` ambiguous. So
// this is that function, as far as files that include this header are concerned: always expanded
// here, while libc's own, which writes file systems to disk, stays what it is everywhere else.
extern "C" {
extern inline __attribute__((always_inline, gnu_inline)) void sync() noexcept {
  splitc::detail::complete_all();
}
}

namespace splitc {

using ::sync;

// Waits until the operation of `h` is complete. Others may be in flight still. A full fence.
// `where` is the place of the call, which the report on a job that stands still names.
inline void sync(handle h, am::Here where = {}) noexcept {
  if (h.generation() != 0) [[unlikely]]
    detail::finish_one(h, detail::Call("sync", where));
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Returns whether everything is complete; polls once if something is in flight. If true, this was a
// sync(). Does not wait: it is for programs that have other work meanwhile. In a loop of it nothing
// else needs to poll.
[[nodiscard]] inline bool try_sync() {
  if (*detail::outstanding != 0 && !detail::try_finish_outstanding()) [[unlikely]]
    return false;
  sync();
  return true;
}
// Whether the operation of `h` is complete; if true, this was a sync(h).
[[nodiscard]] inline bool try_sync(handle h) {
  if (h.generation() != 0 && !detail::try_finish_one(h)) [[unlikely]]
    return false;
  sync(handle());
  return true;
}

inline bool handle::ready() const { return try_sync(*this); }
inline bool handle::try_wait() const { return try_sync(*this); }
inline void handle::wait(am::Here where) const noexcept { sync(*this, where); }
inline void handle::result(am::Here where) const noexcept { sync(*this, where); }

// Another name of try_sync().
[[nodiscard]] inline bool is_sync() { return try_sync(); }

}  // namespace splitc
