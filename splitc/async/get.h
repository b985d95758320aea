#pragma once

#include "splitc/access/split_phase.h"
#include "splitc/rpc/future.h"

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
[[nodiscard]] future<std::remove_cv_t<T>> get(
    global_ptr<T> p, am::SourceLocation where = am::SourceLocation::current()) {
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
