#pragma once

#include <atomic>
#include <cstdint>

#include "am/types/source_location.h"

namespace am {
struct Reason;
}

namespace splitc {

// One get, put or atomic call that has been started. On a node gets and puts are done when they are
// started; where messages or RMA carry them, they are not. May be dropped: sync() waits for
// everything.
class handle {
 public:
  constexpr handle() noexcept = default;
  // Of an operation that is not done yet: the how-manieth use of a ticket, counted from 1.
  constexpr handle(std::uint32_t ticket, std::uint32_t generation) noexcept
      : ticket_(ticket), generation_(generation) {}

  constexpr std::uint32_t ticket() const noexcept { return ticket_; }
  constexpr std::uint32_t generation() const noexcept { return generation_; }  // 0: done

 private:
  std::uint32_t ticket_ = 0;
  std::uint32_t generation_ = 0;
};

namespace detail {

// Operations of this process that are under way; 0 while it uses only gets and puts on its node.
inline std::uint64_t outstanding = 0;

// Wait until there are none, or until this one is done. What a handler throws meanwhile ends the
// job.
void finish_outstanding() noexcept;
void finish_one(handle h, am::SourceLocation where) noexcept;
// On behalf of another call, which gives the name and place of `reason`.
void finish_one(handle h, const am::Reason& reason) noexcept;
// Poll once and say whether it is so.
bool try_finish_outstanding();
bool try_finish_one(handle h);

// Always part of the program's own function, which a report on a sync() that waits in vain names.
[[gnu::always_inline]] inline void complete_all() noexcept {
  if (outstanding != 0) [[unlikely]]
    finish_outstanding();
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace detail
}  // namespace splitc

// Waits until every get, put and split-phase atomic that this process has started is complete: the
// values of gets are there, and every process sees the puts. A full fence: a read after it is not
// older than it.
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

// Waits for one operation.
inline void sync(handle h, am::SourceLocation where = am::SourceLocation::current()) noexcept {
  if (h.generation() != 0) [[unlikely]]
    detail::finish_one(h, where);
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Whether everything (or one operation) is complete now; if so, this was a sync().
[[nodiscard]] inline bool try_sync() {
  if (detail::outstanding != 0 && !detail::try_finish_outstanding()) [[unlikely]]
    return false;
  sync();
  return true;
}
[[nodiscard]] inline bool try_sync(handle h) {
  if (h.generation() != 0 && !detail::try_finish_one(h)) [[unlikely]]
    return false;
  sync(handle());
  return true;
}
[[nodiscard]] inline bool is_sync() { return try_sync(); }

}  // namespace splitc
