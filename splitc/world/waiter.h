#pragma once

#include <exception>

// What this process does when an operation is complete: how coroutines that wait for one go on
// (splitc/async/). An operation has a list of waiters; when it is complete they become ready, and
// poll() and the waits for tasks run them, outside handlers.
//
// Thread rule: the world's thread.

namespace splitc::detail {

class WaiterList;

// Part of who waits, in one list at a time, which it leaves by itself when it ends. A copy is in
// none.
struct Waiter {
  void (*run)(Waiter& self) noexcept = nullptr;

  Waiter() = default;
  explicit Waiter(void (*function)(Waiter&) noexcept) noexcept : run(function) {}
  Waiter(const Waiter& other) noexcept : run(other.run) {}
  Waiter& operator=(const Waiter& other) noexcept {
    leave();
    run = other.run;
    return *this;
  }
  ~Waiter() { leave(); }
  inline void leave() noexcept;

 private:
  friend WaiterList;
  WaiterList* list_ = nullptr;  // nullptr: none
  Waiter* next_ = nullptr;
  Waiter* previous_ = nullptr;
};

// Intrusive, so that nothing is allocated, and leaving costs the same whatever its length.
class WaiterList {
 public:
  constexpr WaiterList() noexcept = default;
  WaiterList(WaiterList&& other) noexcept { other.move_to(*this); }
  WaiterList& operator=(WaiterList&& other) noexcept {
    clear();
    other.move_to(*this);
    return *this;
  }
  ~WaiterList() { clear(); }

  bool empty() const noexcept { return first_ == nullptr; }
  // `waiter` is in no list.
  void push(Waiter& waiter) noexcept;
  Waiter* pop() noexcept;
  void remove(Waiter& waiter) noexcept;  // which is here
  // Puts all of this list behind those of `other`.
  void move_to(WaiterList& other) noexcept;
  void clear() noexcept;

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

inline void Waiter::leave() noexcept {
  if (list_ != nullptr) list_->remove(*this);
}

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
// At the end of the world: nobody waits any more.
void forget_waiters() noexcept;

}  // namespace splitc::detail
