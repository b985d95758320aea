#pragma once

#include <cstdint>
#include <span>

#include "am/core/dispatch.h"

// The hot path of what comes from this node: messages that are delivered in a row. It is all
// inline, so that what is the same for a row stays in registers; whatever is unusual about a
// message is left to am/core/dispatch.cc.

namespace am {

// Requests of one sender in one lane that are delivered in a row: what they have in common is
// looked up once, and they are counted at the end. (In a parallel bundle each is counted before its
// handler, as other threads read the counts meanwhile.)
template <class Access, shmem::Lane kLane>
class RequestRow {
 public:
  RequestRow(Endpoint& endpoint, const Correspondent& from) noexcept
      : endpoint_(endpoint), from_(from), activity_(Access::activity(endpoint.bundle())) {
    activity_.begin_row(from_.name.rank);
  }
  ~RequestRow() { count(); }
  RequestRow(const RequestRow&) = delete;
  RequestRow& operator=(const RequestRow&) = delete;

  shmem::Mark request(shmem::Room room, shmem::Mark mark) {
    return pass<Role::kRequest>(room, mark);
  }
  shmem::Mark one_way(shmem::Room room, shmem::Mark mark) {
    return pass<Role::kOneWay>(room, mark);
  }
  // The handler of a request threw: what it has replied does not leave.
  [[gnu::cold]] void threw(shmem::Room room) noexcept {
    const std::uint64_t head = room.slot->request.head.load(std::memory_order_relaxed);
    if (from_.staged_reply[shmem::index(kLane)] == head) {
      drop_staged(endpoint_.bundle(), room, room.slot->reply);
    }
  }

 private:
  static constexpr Kind kKind = packet::kind_of(kLane);

  // A message that its handler takes, as nearly all are, goes to it; serve() sees to all others.
  template <Role kRole>
  shmem::Mark pass(shmem::Room room, shmem::Mark mark);
  // Its payload, if there is nothing unusual about it.
  bool find_payload(shmem::Room room, std::span<std::byte>& payload) const noexcept;
  // (Inline, since the row stays in registers only if its address is not taken.)
  template <Role kRole>
  [[gnu::always_inline]] shmem::Mark pass_unusual(shmem::Room room, shmem::Mark mark) {
    const shmem::Mark reply = Dispatch(endpoint_).serve<Access, kRole, kLane>(from_, room, mark);
    activity_.begin_row(from_.name.rank);
    return reply;
  }
  void count() noexcept;

  Endpoint& endpoint_;
  const Correspondent& from_;
  Activity& activity_;
  // Delivered and not counted yet: requests, those without reply, and short replies that were sent,
  // together in one register. A row has at most shmem::kBudget of them.
  static constexpr std::uint32_t kRequest = 1;
  static constexpr std::uint32_t kOneWay = 1 << 8;
  static constexpr std::uint32_t kReply = 1 << 16;
  static_assert(shmem::kBudget < 256);
  std::uint32_t tally_ = 0;
};

template <class Access>
class Arrivals final : public Dispatch {
 public:
  using Dispatch::Dispatch;
  template <shmem::Lane kLane>
  RequestRow<Access, kLane> requests(std::uint32_t inbox) noexcept {
    return {endpoint_, endpoint_.parts().incoming.sender(inbox)};
  }
};

// Replies to one translation's requests in one lane that are delivered in a row, as RequestRow.
template <class Access, shmem::Lane kLane>
class ReplyRow {
 public:
  ReplyRow(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint),
        near_(*endpoint.parts().translations[to].near),
        to_(to),
        activity_(Access::activity(endpoint.bundle())) {
    begin();
  }
  ~ReplyRow() { count(); }
  ReplyRow(const ReplyRow&) = delete;
  ReplyRow& operator=(const ReplyRow&) = delete;

  // A short reply that its handler takes goes to it; take() sees to all others.
  void reply(shmem::Room room, shmem::Mark mark);
  void released(shmem::Room room) {
    ReplyDispatch(endpoint_, to_).give_back(kLane, rejected_, room);
  }
  int passed() const noexcept { return passed_; }

 private:
  void count() noexcept;
  void begin() noexcept { activity_.begin_row(near_.peer.name.rank); }
  [[gnu::always_inline]] void pass_unusual(shmem::Room room, shmem::Mark mark) {
    ++unusual_;
    ReplyDispatch replies(endpoint_, to_);
    const ReplyDispatch::Rejected rejected = replies.take<Access, kLane>(room, mark);
    if constexpr (Access::kAlone) {
      replies.give_back(kLane, rejected, room);
    } else {
      rejected_ = rejected;
    }
    begin();
  }

  Endpoint& endpoint_;
  const Near& near_;
  const std::uint32_t to_;
  Activity& activity_;
  int passed_ = 0;
  int unusual_ = 0;                     // of these; all others are counted at the end
  ReplyDispatch::Rejected rejected_{};  // the last one, until released(); of one thread none
};

template <class Access>
class Replies final : public ReplyDispatch {
 public:
  using ReplyDispatch::ReplyDispatch;
  template <shmem::Lane kLane>
  ReplyRow<Access, kLane> replies() noexcept {
    return {endpoint_, to_};
  }
};

template <class Access, shmem::Lane kLane>
inline void RequestRow<Access, kLane>::count() noexcept {
  Stats::Category& counts = endpoint_.parts().stats[kKind];
  counts.requests_received += tally_ % kOneWay;
  counts.one_way_received += tally_ / kOneWay % 256;
  endpoint_.parts().stats[Kind::kShort].replies_sent += tally_ / kReply;
  tally_ = 0;
}

template <class Access, shmem::Lane kLane>
[[gnu::always_inline]] inline bool RequestRow<Access, kLane>::find_payload(
    shmem::Room room, std::span<std::byte>& payload) const noexcept {
  const shmem::Half& half = room.slot->request;
  if constexpr (kKind == Kind::kMedium) {
    return detail::find_payload<kKind>(half, room.request_payload(), {}, payload) ==
           Status::kDelivered;
  } else if constexpr (kKind == Kind::kLong) {
    const Router& router = endpoint_.bundle().router();
    return packet::placement(half).written &&
           detail::find_payload<kKind>(half, nullptr, {router.segment(), router.segment_bytes()},
                                       payload) == Status::kDelivered;
  } else {
    return true;
  }
}

template <class Access, shmem::Lane kLane>
template <Role kRole>
[[gnu::always_inline]] inline shmem::Mark RequestRow<Access, kLane>::pass(shmem::Room room,
                                                                          shmem::Mark mark) {
  const HandlerEntry& entry = endpoint_.parts().handlers[packet::handler_in(mark)];
  std::span<std::byte> payload;
  if (entry.shape != static_cast<Shape>(shape_of_request(kKind, mark) | from_.barrier) ||
      !find_payload(room, payload)) [[unlikely]] {
    return pass_unusual<kRole>(room, mark);
  }
  constexpr std::uint32_t kOne = kRole == Role::kRequest ? kRequest : kOneWay;
  if constexpr (!Access::kAlone) {
    tally_ = kOne;
    count();
  }
  shmem::Mark reply = shmem::kNoReply;
  activity_.enter_next_handler(entry.invoke);
  try {
    const typename Access::Unlocked unlocked(endpoint_.bundle());
    reply = entry.invoke(endpoint_, from_, room, payload);
  } catch (...) {
    if (Access::kAlone) tally_ += kOne;
    throw;
  }
  if constexpr (!Access::kAlone) {
    count_reply(endpoint_.parts(), reply);
  } else if constexpr (kRole == Role::kOneWay) {
    tally_ += kOne;
    return shmem::kNoReply;
  } else if (packet::is_short_reply(reply)) [[likely]] {
    tally_ += kOne + kReply;
  } else {
    tally_ += kOne;
    count_reply(endpoint_.parts(), reply);
  }
  return reply;
}

template <class Access, shmem::Lane kLane>
inline void ReplyRow<Access, kLane>::count() noexcept {
  if constexpr (Access::kAlone) {
    endpoint_.parts().stats[Kind::kShort].replies_received +=
        static_cast<std::uint32_t>(passed_ - unusual_);
  }
}

template <class Access, shmem::Lane kLane>
[[gnu::always_inline]] inline void ReplyRow<Access, kLane>::reply(shmem::Room room,
                                                                  shmem::Mark mark) {
  ++passed_;
  const HandlerEntry& entry = endpoint_.parts().handlers[packet::handler_in(mark)];
  if (entry.shape != static_cast<Shape>(shape_of_reply(mark) | near_.peer.barrier)) [[unlikely]] {
    return pass_unusual(room, mark);
  }
  if constexpr (!Access::kAlone) {
    rejected_.why = Status::kDelivered;
    ++endpoint_.parts().stats[Kind::kShort].replies_received;
  }
  activity_.enter_next_handler(entry.invoke);
  const typename Access::Unlocked unlocked(endpoint_.bundle());
  entry.invoke(endpoint_, near_.peer, room, {});
}

}  // namespace am
