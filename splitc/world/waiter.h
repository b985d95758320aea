#pragma once

#include <cstddef>
#include <exception>
#include <utility>

// What this process does when an operation is complete: how coroutines that wait for one go on
// (splitc/async/). An operation has a list of waiters; when it is complete they become ready, and
// poll() and the waits for tasks run them, outside handlers.
//
// Thread rule: the world's thread.

namespace splitc::detail {

// Part of who waits, where it stays until it has been run or removed.
struct Waiter {
  void (*run)(Waiter& self) noexcept = nullptr;
  Waiter* next = nullptr;
};

// Intrusive, so that nothing is allocated.
class WaiterList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void push(Waiter& waiter) noexcept {
    waiter.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &waiter;
    last_ = &waiter;
  }
  Waiter* pop() noexcept {
    return first_ == nullptr ? nullptr : std::exchange(first_, first_->next);
  }
  // If it is here. Looks at all of them.
  void remove(const Waiter& waiter) noexcept;
  // Puts all of this list behind those of `other`.
  void move_to(WaiterList& other) noexcept;

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;  // unless it is empty
};

inline constinit WaiterList ready_waiters;  // their operations are complete
inline constinit bool waiters_run = false;  // run_ready() is running
// What a task threw of which nobody will take the result.
inline std::exception_ptr orphan_error;

// Runs those that are ready, and those that get ready meanwhile; returns how many. Does nothing in
// one that is running. Throws what tasks threw of which nobody will take the result.
int run_ready();
// Whether it would do something.
inline bool can_run_ready() noexcept {
  return (!ready_waiters.empty() || orphan_error) && !waiters_run;
}

}  // namespace splitc::detail
