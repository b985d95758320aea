#pragma once

#include <type_traits>
#include <utility>

#include "am/types/types.h"
#include "splitc/access/split_phase.h"
#include "splitc/group/started.h"
#include "splitc/rpc/future.h"
#include "splitc/world/sync.h"
#include "splitc/world/waiter.h"
#include "splitc/world/world.h"

// What a task can wait for: an operation is complete, or notifies a waiter on completion.

namespace splitc::detail {

// Operation<T>, of each type of operation:
//
//   done(x)          whether it is complete, or there is nothing to take; does not poll
//   add(x, waiter)   for one that is not: `waiter` becomes ready when it is
//   take(x, where)   waits if it must, and gives the result
template <class T>
struct Operation;

template <class T>
concept operation = requires(T& x) {
  Operation<std::remove_cvref_t<T>>::done(x);
};

template <>
struct Operation<handle> {
  static bool done(handle h) noexcept {
    return h.generation() == 0 || context().tickets.done(h) || context().tickets.lost(h);
  }
  static void add(handle h, Waiter& waiter) noexcept { context().tickets.add_waiter(h, waiter); }
  static void take(handle h, am::SourceLocation where) noexcept { sync(h, where); }
};

template <class T>
struct Operation<future<T>> {
  using Handle = Operation<handle>;
  static bool done(const future<T>& f) noexcept { return Handle::done(f.operation()); }
  static void add(const future<T>& f, Waiter& waiter) noexcept {
    Handle::add(f.operation(), waiter);
  }
  static T take(future<T>& f, am::SourceLocation where) { return f.result(where); }
};

template <class T>
struct Operation<started<T>> {
  static bool done(const started<T>& call) noexcept { return call.ended(); }
  static void add(const started<T>& call, Waiter& waiter) noexcept {
    call.call()->waiters().push(waiter);
  }
  static T take(started<T>& call, am::SourceLocation where) { return call.wait(where); }
};

template <class T>
using ResultOfOperation =
    decltype(Operation<T>::take(std::declval<T&>(), std::declval<am::SourceLocation>()));

// Polls, and lets tasks go on, until done(argument). Throws Error in a handler, and in a task that
// has waited already: it would hold up the others.
void wait_with_tasks(bool (*done)(const void* argument), const void* argument, Call on_behalf);

template <class T>
void wait_for_operation(const T& x, Call on_behalf) {
  wait_with_tasks([](const void* it) { return Operation<T>::done(*static_cast<const T*>(it)); },
                  __builtin_addressof(x), on_behalf);
}
// Polls once, if it is not complete.
template <class T>
bool is_ready(const T& x) {
  if (Operation<T>::done(x)) return true;
  poll();  // tasks go on
  return Operation<T>::done(x);
}

}  // namespace splitc::detail

namespace splitc {

// Starts reading the object at `p`, and returns a future of its value: get(local, p) without a
// place to name, for co_await and when_all.
//
//   double x = get(p).result();
//   double y = co_await get(p);             // in a task
//
// Errors, routes and costs are those of get(local, p) (splitc/access/split_phase.h), and the value
// is copied once more.
template <class T>
[[nodiscard]] future<std::remove_cv_t<T>> get(global_ptr<T> p, am::Here where = {}) {
  using Value = std::remove_cv_t<T>;
  detail::RpcSlot& slot = detail::rpc_calls({"get", where}).take_slot();
  future<Value> value(slot);  // gives it back if this throws
  slot.operation = detail::get_at<T>(slot.result.template place_of<Value>(), p, 0, where);
  return value;
}
template <class T>
[[nodiscard]] future<std::remove_cv_t<T>> get(const global_ref<T>& r) {
  return get(&r, r.where());
}

}  // namespace splitc
