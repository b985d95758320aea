#pragma once

#include <utility>

#include "am/types/types.h"
#include "splitc/rpc/pack.h"
#include "splitc/rpc/rpc_calls.h"
#include "splitc/world/sync.h"

namespace splitc {

namespace detail {
// sync(h) without its fence: what the function wrote is visible to a process that has its answer.
inline void finish_call(handle h, Call call) noexcept {
  if (h.generation() != 0) finish_one(h, call);
}
}  // namespace detail

// The result of a call that another process makes for this one, which may still be to come: what
// rpc() returns. It can be moved, not copied, and does not outlive run(). Throws Error when it is
// used after it has been moved away. One that is dropped is dropped with its result; the call is
// made all the same, and sync() waits for it.
//
// sync() waits for all of them, like for gets and puts, and then every one is ready().
//
// Cost: no allocation, except for results that are vectors, and where more are in flight than ever
// before. Thread rule: a thread of the program, outside handlers.
template <class T>
class future {
 public:
  future(future&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  future& operator=(future&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~future() {
    detail::RpcCalls* const calls = detail::rpc_calls_or_none();
    if (slot_ != nullptr && calls != nullptr) calls->give_back(*slot_);
  }

  // For sync() and try_sync().
  handle started(am::Here where = {}) const { return slot({"future::started", where}).operation; }
  // Whether the result is there; polls once if not, and never waits. Two names of one thing.
  [[nodiscard]] bool ready() { return try_sync(started()); }
  [[nodiscard]] bool try_wait() { return ready(); }
  // Waits until it is, polling; no fence. Like sync() it ends the job if it may not wait here, or
  // if a handler throws meanwhile.
  void wait(am::Here where = {}) { finish({"future::wait", where}); }
  // Waits, and returns the result; as often as it is called.
  T result(am::Here where = {}) {
    finish({"future::result", where});
    return slot_->result.get<T>();
  }
  template <std::same_as<T> U>
  operator U() const = delete;  // write f.result(), which waits

  // By the library.
  explicit future(detail::RpcSlot& slot) noexcept : slot_(&slot) {}
  // started(); complete, if it has been moved away.
  handle operation() const noexcept { return slot_ == nullptr ? handle() : slot_->operation; }

 private:
  void finish(detail::Call call) { detail::finish_call(slot(call).operation, call); }
  const detail::RpcSlot& slot(detail::Call call) const {
    if (slot_ == nullptr) [[unlikely]] {
      detail::refuse(call, "there is no result here: this future has been moved away");
    }
    return *slot_;
  }

  detail::RpcSlot* slot_;  // nullptr: moved away
};

// The future of a function that returns nothing.
template <>
class future<void> {
 public:
  handle started() const noexcept { return operation_; }
  [[nodiscard]] bool ready() { return try_sync(operation_); }
  [[nodiscard]] bool try_wait() { return ready(); }
  void wait(am::Here where = {}) { detail::finish_call(operation_, {"future::wait", where}); }
  void result(am::Here where = {}) { detail::finish_call(operation_, {"future::result", where}); }

  explicit future(handle operation = {}) noexcept : operation_(operation) {}
  handle operation() const noexcept { return operation_; }

 private:
  handle operation_;
};

}  // namespace splitc
