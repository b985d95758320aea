#pragma once

#include <atomic>
#include <cstdint>

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
// Operations of this process that are under way; 0 while it uses only gets and puts.
inline std::uint64_t outstanding = 0;
void finish_outstanding();      // waits until there are none
void finish_one(handle h);      // waits for this one
bool try_finish_one(handle h);  // polls once; whether it is done
bool try_finish_outstanding();
}  // namespace detail

// Waits until every get, put and split-phase atomic that this process has started is complete: the
// values of gets are there, and every process sees the puts. A full fence: a read after it is not
// older than it.
inline void sync() {
  if (detail::outstanding != 0) [[unlikely]]
    detail::finish_outstanding();
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Waits for one operation.
inline void sync(handle h) {
  if (h.generation() != 0) [[unlikely]]
    detail::finish_one(h);
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
