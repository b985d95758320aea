// async/ combines operations in flight: tasks, which are coroutines that wait for them, when_all,
// when_any, and then. It may use world/, access/, collective/ and rpc/. Nothing in it is
// collective.
//
//   task<double> sum_of(global_ptr<double> a, global_ptr<double> b) {
//     auto x = get(a), y = get(b);                   // both are under way
//     co_return co_await x + co_await y;             // others go on meanwhile
//   }
//   ...
//   task<double> one = sum_of(p, q), two = sum_of(r, s);
//   const double all = one.result() + two.result();
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "am/types/types.h"
#include "splitc/async/operation.h"
#include "splitc/world/place.h"
#include "splitc/world/waiter.h"

namespace splitc {

template <class T>
class task;

namespace detail {

// Throws Error where no task may be started.
void check_task_starts();
// At the end of the program: until all tasks have ended.
void finish_tasks(Call on_behalf);

// The wait of a coroutine for `x`, an operation or a reference to one.
template <class X>
class Awaiter final : private Waiter {
 public:
  Awaiter(X x, am::SourceLocation where)
      : Waiter([](Waiter& self) noexcept { static_cast<Awaiter&>(self).waits_.resume(); }),
        x_(std::forward<X>(x)),
        where_(where) {}

  bool await_ready() { return Op::done(x_); }
  void await_suspend(std::coroutine_handle<> waits) {
    waits_ = waits;
    Op::add(x_, *this);
  }
  decltype(auto) await_resume() { return Op::take(x_, where_); }

 private:
  using Op = Operation<std::remove_cvref_t<X>>;

  X x_;
  am::SourceLocation where_;
  std::coroutine_handle<> waits_;
};

// What the frame of a task keeps besides its result.
struct TaskFrame {
  std::exception_ptr thrown;
  WaiterList waiters;
  bool ended = false;
  bool dropped = false;  // the result will not be taken

  TaskFrame() {
    check_task_starts();
    ++my_tasks->unfinished;
  }
  TaskFrame(const TaskFrame&) = delete;
  TaskFrame& operator=(const TaskFrame&) = delete;

  std::suspend_never initial_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { thrown = std::current_exception(); }
  // The last thing a task does.
  struct End {
    TaskFrame& frame;
    // A frame that was dropped ends by itself.
    bool await_ready() noexcept { return frame.end(); }
    void await_suspend(std::coroutine_handle<>) noexcept {}
    void await_resume() noexcept {}
  };
  End final_suspend() noexcept { return {*this}; }
  // Marks the task as ended. Whether its result was dropped.
  bool end() noexcept;
  // The result will not be taken.
  void drop() noexcept {
    dropped = true;
    if (ended) keep_error();
  }
  void keep_error() noexcept {
    if (thrown && !my_tasks->orphan) my_tasks->orphan = thrown;
  }

  template <operation X>
  auto await_transform(X&& x, am::Here where = {}) {
    return Awaiter<X>(std::forward<X>(x), where);
  }
};

template <class T>
struct TaskPromise : TaskFrame {
  std::optional<T> value;

  task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};
template <>
struct TaskPromise<void> : TaskFrame {
  task<void> get_return_object() noexcept;
  void return_void() noexcept {}
};

}  // namespace detail

// A coroutine that waits for operations by co_await, while the others go on. A function that
// returns a task<T> and says co_await or co_return is one.
//
// In it, co_await x waits for an operation x and gives its result:
//
//   handle          of get(local, p), put, the bulk calls, start_fetch_and_add, ..   nothing
//   future<T>       of get(p), rpc, rpc_at                                           the T
//   started<T>      of start_all_reduce, ..                                          the T
//   task<T>         another one                                                      the T
//   when_all(..), when_any(..)                                                       see when.h
//
// An operation that is complete already costs a test, and no wait. The other kinds of waiting,
// sync(), barrier(), *p of another node, are allowed, but hold up all tasks of the process.
//
// Progress. It runs at once, until the first co_await that has to wait. After that it goes on in
// poll(), in wait_until(), and where the program waits for a task, when_all or when_any: in the
// program's thread, outside handlers, one task at a time, in the order in which the operations were
// completed. Not in sync(), barrier() and other calls that wait.
//
// Ownership. The task owns the coroutine's frame, which is one allocation. Parameters by reference
// must live until it has ended; so must what a lambda has captured, if the coroutine is a lambda.
// A task that is dropped goes on all the same, and has ended before the program ends. None outlives
// run().
//
// Errors. What the coroutine throws comes out where its result is taken; of a task that was
// dropped, out of the next poll() or wait for a task, or the end of the program. So it does of the
// others in a when_all of which several throw. Throws Error if it
// is started in a handler or in another thread; a wait for a task that has not ended does in
// another task that has been resumed, where co_await is the way, and if its result has been taken.
//
// Thread rule: a thread of the program, outside handlers.
template <class T = void>
class [[nodiscard]] task {
 public:
  using promise_type = detail::TaskPromise<T>;

  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (!frame_) return;
    frame_.promise().drop();
    if (frame_.promise().ended) frame_.destroy();
  }

  // Whether it has ended. Polls once if not, and never waits. Two names of one thing.
  [[nodiscard]] bool ready() const { return detail::is_ready(*this); }
  [[nodiscard]] bool try_wait() const { return ready(); }
  // Waits until it has, polling.
  void wait(am::Here where = {}) const { detail::wait_for_operation(*this, {"task::wait", where}); }
  // Waits, and returns what it has returned, or throws what it has thrown; once.
  T result(am::Here where = {}) {
    detail::wait_for_operation(*this, {"task::result", where});
    const task ended = std::move(*this);
    promise_type& promise = ended.promise();
    if (promise.thrown) std::rethrow_exception(std::exchange(promise.thrown, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*promise.value);
  }

 private:
  friend promise_type;
  friend detail::Operation<task>;
  using Frame = std::coroutine_handle<promise_type>;

  explicit task(Frame frame) noexcept : frame_(frame) {}
  promise_type& promise() const {
    if (!frame_) [[unlikely]] {
      detail::refuse("task", "there is nothing here: its result has been taken, or it was moved");
    }
    return frame_.promise();
  }

  Frame frame_;  // nullptr: its result has been taken, or it was moved away
};

namespace detail {

template <class T>
task<T> TaskPromise<T>::get_return_object() noexcept {
  return task<T>(task<T>::Frame::from_promise(*this));
}
inline task<void> TaskPromise<void>::get_return_object() noexcept {
  return task<void>(task<void>::Frame::from_promise(*this));
}

template <class T>
struct Operation<task<T>> {
  static bool done(const task<T>& x) noexcept { return !x.frame_ || x.frame_.promise().ended; }
  static void add(const task<T>& x, Waiter& waiter) noexcept {
    x.frame_.promise().waiters.push(waiter);
  }
  static T take(task<T>& x, am::SourceLocation where) { return x.result(where); }
};

template <class F, class... T>
struct ThenOf {
  using Result = std::invoke_result_t<F&, T...>;
};
template <class F>
struct ThenOf<F, void> {
  using Result = std::invoke_result_t<F&>;
};

}  // namespace detail

// f(result of x) as soon as `x`, an operation, is complete and tasks go on; f() if it has none. The
// task has its result. If x is complete, f is called at once.
//
//   auto name = then(rpc(2, &find_key), [](Key k) { return name_of(k); });
template <detail::operation X, class F>
auto then(X x, F f) -> task<typename detail::ThenOf<F, detail::ResultOfOperation<X>>::Result> {
  if constexpr (std::is_void_v<detail::ResultOfOperation<X>>) {
    co_await std::move(x);
    co_return f();
  } else {
    co_return f(co_await std::move(x));
  }
}

}  // namespace splitc
