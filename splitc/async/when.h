#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "am/types/types.h"
#include "splitc/async/operation.h"

// Several operations as one, to be waited for or used with co_await like each of them.
//
//   auto [x, y] = when_all(get(p), rpc(2, &size_of)).result();
//   std::vector<long> sizes = when_all(std::move(futures)).result();
//
//   switch (when_any(answer, timeout).result()) {        // the futures stay with their owner
//     case 0: use(answer.result()); ..
//
// An operation is a handle, future, started collective call, task, when_all or when_any. Cost: no
// allocation but that of vectors. Thread rule: a thread of the program, outside handlers.

namespace splitc {

namespace detail {

// What every combination has: `Self` is the combination, `Derived` of this.
template <class Self>
class Combination {
 public:
  // Whether it is complete. Polls once if not, and never waits. Two names of one thing.
  [[nodiscard]] bool ready() const { return is_ready(self()); }
  [[nodiscard]] bool try_wait() const { return ready(); }
  // Waits until it is, polling.
  void wait(am::Here where = {}) const { wait_for_operation(self(), {Self::kName, where}); }
  // Waits, and returns the results.
  decltype(auto) result(am::Here where = {}) {
    wait_for_operation(self(), {Self::kName, where});
    return static_cast<Self&>(*this).take(where);
  }

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

// The result of one among several; of none, a std::monostate.
template <class X>
using Element =
    std::conditional_t<std::is_void_v<ResultOfOperation<X>>, std::monostate, ResultOfOperation<X>>;
template <class X>
Element<X> take_element(X& x, am::SourceLocation where) {
  if constexpr (std::is_void_v<ResultOfOperation<X>>) {
    Operation<X>::take(x, where);
    return {};
  } else {
    return Operation<X>::take(x, where);
  }
}

// Waits for the operations in turn, on behalf of the waiters for all of them.
template <class All>
class WaiterForAll : public Waiter {
 public:
  WaiterForAll() noexcept
      : Waiter([](Waiter& self) noexcept { static_cast<WaiterForAll&>(self).go_on(); }) {}
  WaiterForAll(const WaiterForAll&) noexcept : WaiterForAll() {}

  // `those` stay where they are while anything waits.
  void start(const All& those, Waiter& outer) {
    outer_.push(outer);
    if (all_ != nullptr) return;
    all_ = &those;
    go_on();
  }

 private:
  void go_on() {
    if (all_->add_to_first(*this)) return;
    all_ = nullptr;
    outer_.move_to(my_tasks->ready);
  }

  const All* all_ = nullptr;  // nullptr: nobody waits
  WaiterList outer_;
};

template <class... X>
class AllOf : public Combination<AllOf<X...>> {
 public:
  static constexpr const char* kName = "when_all";

  explicit AllOf(X... x) : all_(std::move(x)...) {}

  std::tuple<Element<X>...> take(am::SourceLocation where) {
    return std::apply(
        [where](X&... x) { return std::tuple<Element<X>...>{take_element(x, where)...}; }, all_);
  }
  bool done() const {
    return std::apply([](const X&... x) { return (Operation<X>::done(x) && ...); }, all_);
  }
  // To the first that is not complete; false: all are.
  bool add_to_first(Waiter& waiter) const {
    const auto add = [&waiter]<class One>(const One& x) {
      const bool waits = !Operation<One>::done(x);
      if (waits) Operation<One>::add(x, waiter);
      return waits;
    };
    return std::apply([&add](const X&... x) { return (add(x) || ...); }, all_);
  }

  void add(Waiter& outer) const { own_waiter_.start(*this, outer); }

 private:
  std::tuple<X...> all_;
  mutable WaiterForAll<AllOf> own_waiter_;
};

template <class X>
class AllInVector : public Combination<AllInVector<X>> {
 public:
  static constexpr const char* kName = "when_all";

  explicit AllInVector(std::vector<X> all) : all_(std::move(all)) {}

  auto take(am::SourceLocation where) {
    if constexpr (std::is_void_v<ResultOfOperation<X>>) {
      for (X& x : all_) Operation<X>::take(x, where);
    } else {
      std::vector<ResultOfOperation<X>> results;
      results.reserve(all_.size());
      for (X& x : all_) results.push_back(Operation<X>::take(x, where));
      return results;
    }
  }
  bool done() const { return next_waiting() == all_.size(); }
  bool add_to_first(Waiter& waiter) const {
    const std::size_t i = next_waiting();
    if (i < all_.size()) Operation<X>::add(all_[i], waiter);
    return i < all_.size();
  }

  void add(Waiter& outer) const { own_waiter_.start(*this, outer); }

 private:
  // Each is found complete once.
  std::size_t next_waiting() const {
    while (done_ < all_.size() && Operation<X>::done(all_[done_])) ++done_;
    return done_;
  }

  std::vector<X> all_;
  mutable std::size_t done_ = 0;
  mutable WaiterForAll<AllInVector> own_waiter_;
};

// A waiter for any of several operations, with a waiter at each of them.
class WaitersForAny {
 public:
  WaitersForAny() = default;
  WaitersForAny(const WaitersForAny&) noexcept {}

  struct One : Waiter {
    WaitersForAny* all = nullptr;
    One() noexcept : Waiter([](Waiter& self) noexcept { static_cast<One&>(self).all->found(); }) {}
  };
  // Whether those at the operations have to be put there.
  bool start(std::span<One> ones, Waiter& outer) noexcept {
    outer_.push(outer);
    const bool first = ones_.empty();
    ones_ = ones;
    for (One& one : ones_) one.all = this;
    return first;
  }

 private:
  void found() noexcept {
    for (One& one : ones_) one.leave();
    ones_ = {};
    outer_.move_to(my_tasks->ready);
  }

  std::span<One> ones_;  // none: nobody waits
  WaiterList outer_;
};

template <class... X>
class AnyOf : public Combination<AnyOf<X...>> {
 public:
  static constexpr const char* kName = "when_any";

  explicit AnyOf(X&... x) : all_(x...) {}

  std::size_t take(am::SourceLocation) const { return first(); }
  bool done() const { return first() < sizeof...(X); }
  void add(Waiter& outer) const {
    if (!waiters_.start(ones_, outer)) return;
    std::apply(
        [this](X&... x) {
          std::size_t i = 0;
          (Operation<X>::add(x, ones_[i++]), ...);
        },
        all_);
  }

 private:
  std::size_t first() const {
    std::size_t i = 0;
    std::apply([&i](X&... x) { ((Operation<X>::done(x) || (++i, false)) || ...); }, all_);
    return i;
  }
  std::tuple<X&...> all_;
  mutable WaitersForAny waiters_;
  mutable std::array<WaitersForAny::One, sizeof...(X)> ones_;
};

template <class X>
requires std::derived_from<X, Combination<X>>
struct Operation<X> {
  static bool done(const X& x) { return x.done(); }
  static void add(const X& x, Waiter& waiter) { x.add(waiter); }
  static auto take(X& x, am::SourceLocation where) { return x.take(where); }
};

}  // namespace detail

// Complete when all are. The result is a tuple of theirs; that of an operation without one is a
// std::monostate. Give futures, calls and tasks by std::move.
template <detail::operation... X>
[[nodiscard]] auto when_all(X... x) {
  return detail::AllOf<X...>(std::move(x)...);
}
// Any number of operations. The result is the vector of their results, in their order, or nothing.
template <detail::operation X>
[[nodiscard]] auto when_all(std::vector<X> all) {
  return detail::AllInVector<X>(std::move(all));
}

// Complete when one is. The result is the place of the first, among the arguments, that is, from 0.
// They stay the caller's, must live meanwhile, and their results be taken from them.
template <detail::operation... X>
[[nodiscard]] auto when_any(X&... x) {
  static_assert(sizeof...(X) > 0, "of no operation none is ever complete");
  return detail::AnyOf<X...>(x...);
}

}  // namespace splitc
