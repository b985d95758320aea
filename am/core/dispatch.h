#pragma once

#include <cstdint>
#include <span>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/message/handler.h"
#include "am/message/slot_format.h"
#include "am/route/activity.h"
#include "am/route/router.h"

// From a message to its handler: the one way in for messages of this node (dispatch.cc) and of
// others (far/deliver.cc). And back to its sender, if it was of this node (returned.cc).

namespace am {

// In whose way a handler could be: template parameter of all that is between a poll and it.
struct Endpoint::OneThread {
  // Lives while a handler runs.
  struct Outside {
    explicit Outside(const Bundle&) noexcept {}
  };
  static constexpr shmem::Threads kThreads = shmem::Threads::kOne;
  static constexpr Answer kAnswer = Answer::kOne;
  static Activity& activity(const Bundle& bundle) noexcept { return *bundle.activity_; }
};
struct Endpoint::AnyThread {
  using Outside = Bundle::Unlocked;
  static constexpr shmem::Threads kThreads = shmem::Threads::kAny;
  static constexpr Answer kAnswer = Answer::kOneUncounted;
  static Activity& activity(const Bundle& bundle) noexcept { return bundle.activity(); }
};

// Not inline, so that the handlers with types have the registers; what callers know is theirs.
template <class Access>
[[gnu::noinline]] void Endpoint::invoke_untyped(const HandlerEntry& entry, HandlerIndex handler,
                                                Shape shape, Delivery& delivery) {
  Access::activity(*bundle_).enter_handler(entry.untyped, delivery.from.name.rank);
  const typename Access::Outside others(*bundle_);
  entry.untyped(UntypedMessage(delivery, handler, shape), entry.context);
}

// Calls the handler and counts it, if the message is what it takes; else says why not.
//
// `granted`: a long message whose payload was written before it came, as its sender was allowed to:
// it is delivered, even to a handler that has been replaced since. `find_payload(payload)` ->
// Status finds the payload of a medium or long message as the handler shall see it; asked last.
template <Kind kKind, class Access, class FindPayload>
[[gnu::always_inline]] inline Status Endpoint::try_invoke(HandlerIndex handler, Shape shape,
                                                          bool granted, Delivery& delivery,
                                                          FindPayload find_payload) {
  const HandlerEntry* entry = &handlers_[handler];
  if (entry->shape != shape) [[unlikely]] {
    if (kKind == Kind::kLong && granted) entry = &handlers_.admitted(handler, shape);
    const bool is_get = handler == 0 && shape == kGetShape;
    if (!is_get && !takes(entry->shape, shape)) return mismatch(entry->shape);
    if (is_get || entry->shape == kAnyShape) {
      const Status status =
          kKind == Kind::kShort ? Status::kDelivered : find_payload(delivery.payload);
      if (status != Status::kDelivered) return status;
      if (is_get) return serve_get(delivery);
      ++stats_[kKind].received(role_of(shape));
      // Nothing can be answered but a request.
      if (role_of(shape) != Role::kRequest) delivery.answer = Answer::kNone;
      invoke_untyped<Access>(*entry, handler, shape, delivery);
      return Status::kDelivered;
    }
  }
  if constexpr (kKind != Kind::kShort) {
    const Status status = find_payload(delivery.payload);
    if (status != Status::kDelivered) [[unlikely]]
      return status;
  }
  ++stats_[kKind].received(role_of(shape));
  Access::activity(*bundle_).enter_handler(entry->invoke, delivery.from.name.rank);
  const typename Access::Outside others(*bundle_);
  entry->invoke(delivery);
  return Status::kDelivered;
}

// What the mailbox passes its messages to.
class Endpoint::Dispatch {
 public:
  explicit Dispatch(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}

  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller);
  void closed(std::uint32_t inbox);
  template <shmem::Lane kLane>
  void unread(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark) {
    unread_reply(endpoint_.correspondents_[inbox], room, packet::ReplyMark::of(mark));
  }

 protected:
  template <class Access, Role kRole, shmem::Lane kLane>
  shmem::Mark serve(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark);

 private:
  // The unusual ends of a message, out of the way of the usual one.
  [[gnu::cold]] shmem::Mark refuse(const Delivery& delivery, Status why);
  [[gnu::cold]] void rejected_reply(const Correspondent& from, const shmem::Room& room,
                                    packet::RequestMark fields);
  void unread_reply(const Correspondent& from, const shmem::Room& room, packet::ReplyMark fields);
  void take_back(Returned& reply, const Correspondent& from, Status why);

  Endpoint& endpoint_;
};

template <class Access>
class Endpoint::Arrivals final : public Dispatch {
 public:
  using Dispatch::Dispatch;
  template <shmem::Lane kLane>
  shmem::Mark request(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark) {
    return serve<Access, Role::kRequest, kLane>(inbox, room, mark);
  }
  template <shmem::Lane kLane>
  shmem::Mark one_way(std::uint32_t inbox, const shmem::Room& room, shmem::Mark mark) {
    return serve<Access, Role::kOneWay, kLane>(inbox, room, mark);
  }
};

// What comes back of one translation's requests.
class Endpoint::ReplyDispatch {
 public:
  ReplyDispatch(Endpoint& endpoint, std::uint32_t to) noexcept
      : endpoint_(endpoint), near_(*endpoint.translations_[to].near), to_(to) {}
  template <shmem::Lane kLane>
  void returned(const shmem::Room& room) {
    take_back(packet::kind_of(kLane), room, Role::kOneWay);
  }
  // The endpoint there has ended without having read this request, or its process has died.
  template <shmem::Lane kLane>
  void undelivered(const shmem::Room& room, shmem::Mark mark) {
    if (packet::RequestMark::of(mark).form != packet::Form::kOrdinary) return;
    const bool one_way = (mark & packet::kOneWay) != 0;
    const bool dead = endpoint_.bundle().router().is_dead(near_.peer.name.rank);
    packet::put_status(room, dead ? Status::kUnreachable : Status::kBadEndpoint);
    settle<kLane>(room);
    take_back(packet::kind_of(kLane), room, one_way ? Role::kOneWay : Role::kRequest);
  }

 protected:
  // A reply that cannot be delivered.
  struct Rejected {
    packet::ReplyMark fields;
    Status why = Status::kDelivered;
  };
  // Delivers a reply; or says why not.
  template <class Access, shmem::Lane kLane>
  Rejected take(const shmem::Room& room, shmem::Mark mark);
  [[gnu::cold]] void reject(shmem::Lane lane, const Rejected& reply, const shmem::Room& room);
  void reject_get(const shmem::Room& room, Status why);

 private:
  // Whether the endpoint's tag still admits the reply to the request in `room`.
  template <shmem::Lane kLane>
  bool settle(const shmem::Room& room) {
    if (near_.retagged.empty()) [[likely]]
      return true;
    return endpoint_.settle_tag(to_, shmem::index(kLane), near_.box->slot_of<kLane>(room));
  }
  template <class Access, Kind kKind>
  Status deliver(const shmem::Room& room, packet::ReplyMark fields, bool tag_admits);
  template <shmem::Lane kLane>
  void reject_in(packet::ReplyMark fields, const shmem::Room& room, Status why);
  [[gnu::cold]] void take_back(Kind kind, const shmem::Room& room, Role role);

  Endpoint& endpoint_;
  const Near& near_;
  const std::uint32_t to_;
};

template <class Access>
class Endpoint::Replies final : public ReplyDispatch {
 public:
  using ReplyDispatch::ReplyDispatch;
  template <shmem::Lane kLane>
  void reply(const shmem::Room& room, shmem::Mark mark) {
    rejected_ = take<Access, kLane>(room, mark);
    if constexpr (Access::kThreads == shmem::Threads::kOne) released<kLane>(room);
  }
  // It goes back in the slot that has become free.
  template <shmem::Lane kLane>
  void released(const shmem::Room& room) {
    if (rejected_.why != Status::kDelivered) [[unlikely]]
      reject(kLane, rejected_, room);
  }

 private:
  Rejected rejected_{};
};

}  // namespace am
