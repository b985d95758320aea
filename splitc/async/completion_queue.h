#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

#include "am/types/types.h"
#include "splitc/async/operation.h"
#include "splitc/async/task.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc {

// The operations that are complete, in the order of completion: for programs that have many in
// flight and continue with whichever ends first. A T identifies each.
//
//   completion_queue<int> done;
//   for (int i = 0; i < 64; ++i) done.add(get(block[i], pointers[i]), i);
//   while (done.pending() != 0) use(block[done.pop()]);
//
//   completion_queue<double> values;
//   values.add(rpc(2, &norm), [](double n) { return std::sqrt(n); });      // of a result, f of it
//
// For one operation, then(x, f) calls f in a poll: a callback; f may add to a counter, or set a
// flag.
//
// Cost: a task for each operation, which is an allocation. Memory grows with what is added and not
// popped. Thread rule: one thread of the program, outside handlers; which is where what it adds has
// been started. After the completion queues of verbs and LCI.
template <class T>
class completion_queue {
 public:
  completion_queue() = default;
  // Waits, polling, for the operations in flight, and drops what is in the queue.
  ~completion_queue() {
    const auto ended = [this] { return pending_ == 0; };
    if (!ended()) wait_until(ended);  // tasks go on
  }
  completion_queue(const completion_queue&) = delete;
  completion_queue& operator=(const completion_queue&) = delete;

  // When `x`, an operation, is complete, `tag` comes into the queue; or, if it is a function,
  // tag(result of x), or tag() if that has none. What that throws, or x, comes out of a poll, and
  // nothing comes into the queue.
  template <detail::operation X, class Tag>
  void add(X x, Tag tag) {
    ++pending_;
    static_cast<void>(follow(std::move(x), std::move(tag)));  // a detached task
  }

  // The next one that is complete. Polls once if there is none, and never waits.
  std::optional<T> try_pop() {
    if (done_.empty()) poll();  // tasks go on
    if (done_.empty()) return std::nullopt;
    return take();
  }
  // Waits, polling, until there is one. Throws Error if none will come.
  T pop(am::Here where = {}) {
    const auto ended = [this] { return !done_.empty() || pending_ == 0; };
    if (!ended()) wait_until(ended, where);  // tasks go on
    if (done_.empty()) {
      detail::refuse({"completion_queue::pop", where},
                     "no operation is under way, and none is complete; add() one before");
    }
    return take();
  }

  // The operations in flight, and the complete ones that have not been popped.
  std::size_t pending() const noexcept { return pending_; }
  std::size_t size() const noexcept { return done_.size(); }

 private:
  struct Ended {
    ~Ended() { --queue.pending_; }
    completion_queue& queue;
  };

  template <class X, class Tag>
  task<> follow(X x, Tag tag) {
    using Result = detail::ResultOfOperation<X>;
    const Ended ended{*this};
    if constexpr (std::is_void_v<Result>) {
      co_await std::move(x);
      if constexpr (std::is_invocable_v<Tag&>) {
        done_.push_back(tag());
      } else {
        done_.push_back(std::move(tag));
      }
    } else if constexpr (std::is_invocable_v<Tag&, Result>) {
      done_.push_back(tag(co_await std::move(x)));
    } else {
      static_cast<void>(co_await std::move(x));
      done_.push_back(std::move(tag));
    }
  }

  T take() {
    T first = std::move(done_.front());
    done_.pop_front();
    return first;
  }

  std::deque<T> done_;
  std::size_t pending_ = 0;
};

}  // namespace splitc
