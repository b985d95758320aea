#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/collective/collective.h"
#include "splitc/collective/started_call.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"
#include "splitc/world/world.h"

// Split-phase collective calls: started now, and waited for later, with computation in between.
//
//   auto sum = start_all_reduce(mine, std::plus<>());     // returns at once
//   auto done = start_barrier();
//   while (compute_a_little()) poll();                    // they go on meanwhile
//   const double total = sum.wait();
//   done.wait();
//
//   call                                       wait() returns
//   start_barrier()                            nothing
//   start_all_bcast(x, root)                   the root's x
//   start_all_reduce(x, op)                    op over all values
//   start_all_gather(x)                        all values, by process
//   start_all_bcast(elements, root)            nothing; then the elements of all are the root's
//   start_all_reduce(mine, result, op)         nothing; then `result` holds op over each element
//   start_all_gather(mine, all)                nothing; then `all` holds everybody's
//   start_all_to_all(to, from)                 nothing; then `from` holds what is for this process
//
// Collective. Starting is the call that all processes make in the same order, among their other
// collective calls. Each does what the call of its name without start_ does
// (splitc/collective/collective.h), is a barrier likewise, and moves as much at the same cost; but
// nobody waits in it. Several may be under way; they go on one after another, in the order in which
// they were started, whenever this process polls. All other collective calls wait first until those
// that were started have ended.
//
// What does not fit on a board, as that header says, is moved by wait() alone, with all others that
// were started before it. Everything else goes on in polls: no process need be in wait() for the
// others to finish, but each must poll.
//
// Memory. Values are copied when the call is started. Elements (`lasting_elements`,
// splitc/world/elements.h) stay where they are until wait() has returned; until then arguments may
// not be changed, and results not be read.
//
// Thread rule: the world's thread. Starting, and wait(), throw Error in a handler. An operation
// `op` is called in a poll, so it may not wait, nor start or make a collective call: Error.
// world().job().barrier() knows nothing of these calls: wait for them before.

namespace splitc {

// A collective call that was started, of which wait() returns a T or nothing. It may be moved. One
// that is dropped goes on all the same, before the program ends; what it throws comes out of the
// next collective call, or the end of the program.
template <class T = void>
class started {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, bool, T>;

  started(detail::SharedOwner<detail::AnyStarted> call, std::optional<Value>& result) noexcept
      : call_(std::move(call)), result_(&result) {}
  ~started() {
    if (call_ != nullptr) call_->drop();
  }
  started(started&&) noexcept = default;
  started& operator=(started&& other) noexcept {
    std::swap(call_, other.call_);
    std::swap(result_, other.result_);
    return *this;
  }

  // Whether it has ended, so that wait() returns at once. Polls once if not, and never waits;
  // throws what a handler throws. Two names of one thing. What wait() alone moves (above) does not
  // end before it.
  [[nodiscard]] bool ready() const {
    if (!ended()) poll();  // tasks go on
    return ended();
  }
  [[nodiscard]] bool try_wait() const { return ready(); }
  // Polls until it has ended; once. Throws Error as the call of its name does, or if it has been
  // waited for already, and what `op` throws.
  T wait(am::SourceLocation where = am::SourceLocation::current()) {
    if (call_ == nullptr) detail::refuse({"started::wait", where}, "there is nothing to wait for");
    call_->wait(where);
    const detail::SharedOwner<detail::AnyStarted> call = std::move(call_);
    if constexpr (!std::is_void_v<T>) return std::move(**result_);
  }
  // wait(), by the name that other operations have for it.
  T result(am::SourceLocation where = am::SourceLocation::current()) { return wait(where); }

  // For the library. Whether it has ended; nullptr: it has been waited for.
  bool ended() const noexcept { return call_ == nullptr || call_->done(); }
  detail::AnyStarted* call() const noexcept { return call_.get(); }

 private:
  detail::SharedOwner<detail::AnyStarted> call_;
  std::optional<Value>* result_;  // of it
};

namespace detail {

template <class T, class Take, class Run>
started<T> start_call(Call call, StartedCall::Plan plan, Take take, Run run) {
  using Made = StartedValue<typename started<T>::Value, Take, Run>;
  auto made = SharedOwner<Made>(new Made(call, std::move(plan), std::move(take), std::move(run)));
  start(made);
  std::optional<typename started<T>::Value>& result = made->result;
  return {std::move(made), result};
}
template <class T>
std::vector<std::byte> bytes_of_value(const T& x) {
  const auto bytes = std::as_bytes(std::span(&x, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace detail

started<> start_barrier(am::SourceLocation where = am::SourceLocation::current());

template <detail::one_value T>
started<T> start_all_bcast(const T& x, std::uint32_t root = 0,
                           am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  const detail::Call call("start_all_bcast", where);
  detail::check_root(root, call);
  return detail::start_call<T>(
      call,
      {.how = detail::StartedCall::How::kBroadcast,
       .bytes = sizeof(T),
       .kind = detail::type_of<T>() << 24 | root,
       .moved = sizeof(T),
       .root = root,
       .shown = detail::bytes_of_value(x)},
      [root](const detail::Round& round) { return detail::value_of<T>(round, root); },
      [x, root, where] { return all_bcast(x, root, where); });
}

template <class T, class Op>
started<T> start_all_reduce(const T& x, Op op,
                            am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  return detail::start_call<T>(
      {"start_all_reduce", where},
      {.how = detail::StartedCall::How::kGather,
       .bytes = sizeof(T),
       .kind = detail::type_of<T>(),
       .moved = sizeof(T),
       .shown = detail::bytes_of_value(x)},
      [op](const detail::Round& round) mutable { return detail::combine<T>(round, procs(), op); },
      [x, op, where] { return all_reduce(x, op, where); });
}

template <class T>
started<std::vector<T>> start_all_gather(const T& x,
                                         am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  return detail::start_call<std::vector<T>>(
      {"start_all_gather", where},
      {.how = detail::StartedCall::How::kGather,
       .bytes = sizeof(T),
       .kind = detail::type_of<T>(),
       .moved = sizeof(T),
       .shown = detail::bytes_of_value(x)},
      [](const detail::Round& round) {
        std::vector<T> all;
        for (std::uint32_t p = 0; p < procs(); ++p) all.push_back(detail::value_of<T>(round, p));
        return all;
      },
      [x, where] { return all_gather(x, where); });
}

template <detail::lasting_only_elements R>
started<> start_all_bcast(R&& elements, std::uint32_t root = 0,
                          am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<R>;
  detail::check_plain<Element>();
  detail::check_writable<R>();
  const std::span<Element> data = detail::span_of(elements);
  const detail::Call call("start_all_bcast", where);
  detail::check_root(root, call);
  return detail::start_call<void>(
      call,
      {.how = detail::StartedCall::How::kBroadcast,
       .bytes = data.size_bytes(),
       .kind = detail::type_of<Element>() << 24 | root,
       .moved = data.size_bytes(),
       .root = root,
       .argument = std::as_bytes(data)},
      [data, root](const detail::Round& round) {
        if (my_proc() != root && !data.empty()) {
          std::memcpy(data.data(), round.of(root), data.size_bytes());
        }
        return true;
      },
      [data, root, where] { return all_bcast(data, root, where), true; });
}

template <lasting_elements R, class Op>
started<> start_all_reduce(R&& my_elements, std::span<detail::ValueOf<R>> result, Op op,
                           am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<R>;
  detail::check_value<Element>();
  const std::span<const Element> mine = detail::span_of(my_elements);
  const detail::Call call("start_all_reduce", where);
  detail::check_span(result.size(), mine.size(), call);
  detail::check_apart(std::as_bytes(mine), std::as_bytes(result), mine.data() == result.data(),
                      call);
  return detail::start_call<void>(
      call,
      {.how = detail::StartedCall::How::kGather,
       .bytes = mine.size_bytes(),
       .kind = detail::type_of<Element>(),
       .moved = mine.size_bytes(),
       .argument = std::as_bytes(mine)},
      [result, op](const detail::Round& round) mutable {
        auto* const to = reinterpret_cast<std::byte*>(result.data());
        if (!result.empty()) std::memcpy(to, round.of(0), result.size_bytes());
        for (std::uint32_t p = 1; p < procs(); ++p) {
          detail::combine_elements<Element, Op>(&op, to, round.of(p), result.size());
        }
        return true;
      },
      [mine, result, op, where] { return all_reduce(mine, result, op, where), true; });
}

template <lasting_elements R>
started<> start_all_gather(R&& my_elements, std::span<detail::ValueOf<R>> all,
                           am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<R>;
  detail::check_plain<Element>();
  const std::span<const Element> mine = detail::span_of(my_elements);
  const detail::Call call("start_all_gather", where);
  detail::check_gathered(all.size(), mine.size(), call);
  detail::check_apart(std::as_bytes(mine), std::as_bytes(all),
                      mine.data() == all.data() + my_proc() * mine.size(), call);
  return detail::start_call<void>(
      call,
      {.how = detail::StartedCall::How::kGather,
       .bytes = mine.size_bytes(),
       .kind = detail::type_of<Element>(),
       .moved = mine.size_bytes(),
       .argument = std::as_bytes(mine)},
      [all, bytes = mine.size_bytes()](const detail::Round& round) {
        auto* const to = reinterpret_cast<std::byte*>(all.data());
        for (std::uint32_t p = 0; p < procs() && bytes != 0; ++p) {
          std::memcpy(to + p * bytes, round.of(p), bytes);
        }
        return true;
      },
      [mine, all, where] { return all_gather(mine, all, where), true; });
}

template <lasting_elements R>
started<> start_all_to_all(R&& parts, std::span<detail::ValueOf<R>> from,
                           am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<R>;
  detail::check_plain<Element>();
  const std::span<const Element> to = detail::span_of(parts);
  const detail::Call call("start_all_to_all", where);
  detail::check_span(from.size(), to.size(), call);
  detail::check_parts(to.size(), call);
  detail::check_apart(std::as_bytes(to), std::as_bytes(from), false, call);
  const std::size_t part = to.size_bytes() / procs();
  return detail::start_call<void>(
      call,
      {.how = detail::StartedCall::How::kTranspose,
       .bytes = to.size_bytes(),
       .kind = detail::type_of<Element>(),
       .moved = part,
       .argument = std::as_bytes(to)},
      [from, part](const detail::Round& round) {
        auto* const at = reinterpret_cast<std::byte*>(from.data());
        for (std::uint32_t p = 0; p < procs() && part != 0; ++p) {
          std::memcpy(at + p * part, round.of(p), part);
        }
        return true;
      },
      [to, from, where] { return all_to_all(to, from, where), true; });
}

}  // namespace splitc
