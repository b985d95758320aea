#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/channel/channel.h"
#include "am/core/bundle.h"
#include "am/types/function.h"

namespace am {

// The functions of reductions; any other associative T(T, T) may be used as well.
struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const noexcept {
    return static_cast<T>(a + b);
  }
};
struct Min {
  template <class T>
  constexpr T operator()(T a, T b) const noexcept {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  constexpr T operator()(T a, T b) const noexcept {
    return a < b ? b : a;
  }
};

// Many senders, one result: when a put of every sender has arrived, their elements are combined in
// the order of the senders, so that the bits do not depend on which was first, and the callback
// runs. Each sender has a SendChannel of its own. (CkDirect's authors had this as future work.)
//
//   receiver                                            sender i
//   am::ReduceChannel<double> in(bundle, result, room,
//                                n, [&] { ++rounds; });
//   ... in.handle(i) travels in any message ...         am::SendChannel out(bundle, handle);
//                                                       out.associate(std::as_bytes(mine));
//                                                       out.put();
//   bundle.wait_until([&] { return rounds == 1; });
//   use(result);
//   in.ready();                                         ... once it knows of that: out.put();
//
// The rule of channels holds for each sender: a put comes after ready() for its one before.
//
// Cost: a put for each sender, as on any channel; and senders - 1 passes over the elements, inside
// the poll that finds the last put.
//
// Neither copied nor moved. Thread rule: the bundle's.
template <class T, class Op = Add>
requires std::is_arithmetic_v<T>
class ReduceChannel {
 public:
  // `result` is memory anywhere in this process. `room` is part of its segment, where the senders'
  // puts arrive: `senders` times as many elements as `result` has, exactly. Both are the caller's,
  // and stay while this does. `senders` is at least 1. `callback` as ReceiveChannel's, once for
  // each round, with the combination in `result`. Throws Error: other sizes; as ReceiveChannel.
  ReduceChannel(Bundle& bundle, std::span<T> result, std::span<T> room, std::uint32_t senders,
                Function<void()> callback, Op op = {})
      : result_(result), room_(room), op_(op), callback_(std::move(callback)) {
    if (senders == 0 || room.size() != senders * result.size()) {
      bundle.refuse("ReduceChannel", std::to_string(room.size()) + " elements of room for " +
                                         std::to_string(senders) + " senders of " +
                                         std::to_string(result.size()) +
                                         "; there must be as many as that, and a sender");
    }
    for (std::uint32_t i = 0; i < senders; ++i) {
      in_.emplace_back(bundle, std::as_writable_bytes(part(i)), [this] { arrived(); });
    }
  }
  ReduceChannel(const ReduceChannel&) = delete;
  ReduceChannel& operator=(const ReduceChannel&) = delete;

  // For sender `sender`, 0 to senders - 1, whose SendChannel sends result.size() elements. Throws
  // std::out_of_range for any other.
  const ChannelHandle& handle(std::uint32_t sender) const { return in_.at(sender).handle(); }

  // The next round may begin: puts may come, and are reported. Sends nothing. Also inside the
  // callback.
  void ready(CheckedCall call = {"ready", SourceLocation::current()}) {
    for (ReceiveChannel& in : in_) in.ready(call);
  }

 private:
  // Where the elements of `sender` arrive.
  std::span<T> part(std::size_t sender) const {
    return room_.subspan(sender * result_.size(), result_.size());
  }
  // A put has arrived: combines them all if it was the last.
  void arrived() {
    if (++arrived_ != in_.size()) return;
    arrived_ = 0;
    for (std::size_t i = 0; i < result_.size(); ++i) result_[i] = part(0)[i];
    for (std::size_t sender = 1; sender < in_.size(); ++sender) {
      const std::span<T> other = part(sender);
      for (std::size_t i = 0; i < result_.size(); ++i) result_[i] = op_(result_[i], other[i]);
    }
    callback_();
  }

  const std::span<T> result_;
  const std::span<T> room_;
  const Op op_;
  const Function<void()> callback_;
  std::vector<ReceiveChannel> in_;
  std::size_t arrived_ = 0;  // senders
};

}  // namespace am
