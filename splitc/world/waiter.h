#pragma once

#include <cstdint>
#include <exception>

// What this process does when an operation is complete: how coroutines that wait for one go on
// (splitc/async/). An operation has a list of waiters; when it is complete they become ready, and
// poll() and the waits for tasks run them, outside handlers.
//
// Thread rule: an operation and its waiters belong to one thread.

namespace splitc::detail {

class WaiterList;

// The part of a waiting object that stands in a list, in one at a time, and leaves it when it ends.
// A copy is in no list.
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

// Those of one thread.
struct Tasks {
  WaiterList ready;              // waiters whose operations are complete
  bool run = false;              // run_ready() is running
  std::exception_ptr orphan;     // what a dropped task threw
  std::uint64_t unfinished = 0;  // tasks (splitc/async/task.h)
};
inline Tasks no_tasks;                                      // while nothing is running
inline constinit thread_local Tasks* my_tasks = &no_tasks;  // of the calling thread

// Runs the waiters that are ready, and those that get ready meanwhile; returns how many. Does
// nothing inside a running one. Throws what dropped tasks threw.
int run_ready();
// Whether it would do something.
inline bool can_run_ready() noexcept {
  return (!my_tasks->ready.empty() || my_tasks->orphan) && !my_tasks->run;
}

}  // namespace splitc::detail
