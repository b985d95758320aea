#pragma once

// What shmem::Mailbox and shmem::Outbox do for every message; included by shmem/mailbox.h.

#include <bit>

#include "shmem/mailbox.h"

namespace shmem {

// What a sink does with each message, as an object of the messages of a row: by the sink's own
// replies() and requests(), or by its functions for one message.
template <Lane kLane, class Sink>
struct EachReply {
  void reply(Room room, Mark mark) {
    ++count;
    sink.template reply<kLane>(room, mark);
  }
  void released(Room room) { sink.template released<kLane>(room); }
  int passed() const noexcept { return count; }
  Sink& sink;
  int count = 0;
};
template <Lane kLane, class Sink>
[[gnu::always_inline]] inline auto replies_of(Sink& sink) {
  if constexpr (requires { sink.template replies<kLane>(); }) {
    return sink.template replies<kLane>();
  } else {
    return EachReply<kLane, Sink>{sink};
  }
}
template <Lane kLane, class Sink>
struct EachRequest {
  Mark request(Room room, Mark mark) { return sink.template request<kLane>(inbox, room, mark); }
  Mark one_way(Room room, Mark mark) { return sink.template one_way<kLane>(inbox, room, mark); }
  void threw(Room) {}
  Sink& sink;
  std::uint32_t inbox;
};
template <Lane kLane, class Sink>
[[gnu::always_inline]] inline auto requests_of(Sink& sink, std::uint32_t inbox) {
  if constexpr (requires { sink.template requests<kLane>(inbox); }) {
    return sink.template requests<kLane>(inbox);
  } else {
    return EachRequest<kLane, Sink>{sink, inbox};
  }
}

template <Threads kThreads, Lane kLane, class Sink>
inline int Outbox::reap_lane(Sink& sink) {
  auto& producer = sent_.of<kLane>();
  Slot* const slots = inbox_->slots<kLane>();
  typename std::remove_reference_t<decltype(producer)>::Answered answered;
  if (!producer.find_reply(slots, answered)) return 0;
  auto replies = replies_of<kLane>(sink);
  int returned = 0;
  do {
    std::uint32_t back;
    while (producer.take_returned_before(answered, slots, progress<kLane>(), back)) [[unlikely]] {
        ++returned;
        sink.template returned<kLane>(Room(&slots[back]));
      }
    const Room room(answered.slot);
    if constexpr (kThreads == Threads::kOne) {
      producer.release_reply(answered);
      replies.reply(room, mark_of(answered.head));
    } else {
      // The slot stays until the sink, which may let other threads send meanwhile, has done with
      // it. Only this thread frees replies of the lane, as it has its turn.
      try {
        replies.reply(room, mark_of(answered.head));
      } catch (...) {
        producer.release_reply(answered);
        throw;
      }
      producer.release_reply(answered);
      replies.released(room);
    }
  } while (replies.passed() < kBudget && producer.find_reply(slots, answered));
  return replies.passed() + returned;
}

// Replies first: a returned request behind one is taken when the reply has been.
template <Threads kThreads, Lane kLane, class Sink>
int Outbox::take_returned_in(Sink& sink) {
  int count = 0;
  while (const int replies = reap_lane<kThreads, kLane>(sink)) count += replies;
  std::uint32_t slot;
  while (sent_.of<kLane>().take_returned(inbox_->slots<kLane>(), progress<kLane>(), slot)) {
    ++count;
    sink.template returned<kLane>(inbox_->room<kLane>(slot));
    while (const int replies = reap_lane<kThreads, kLane>(sink)) count += replies;
  }
  return count;
}

template <Threads kThreads, class Sink>
int Outbox::take_returned(Sink&& sink) {
  const auto take = [&]<Lane kLane>() {
    return in_turn<kThreads, kLane>([&] { return take_returned_in<kThreads, kLane>(sink); });
  };
  return take.template operator()<Lane::kShort>() + take.template operator()<Lane::kMedium>() +
         take.template operator()<Lane::kLong>();
}

template <Threads kThreads, Lane kLane, class Sink>
int Outbox::abandon_lane(Sink& sink) {
  auto& producer = sent_.of<kLane>();
  // What was read has been answered, counted or returned: gone() has made sure that this is seen.
  int count = take_returned_in<kThreads, kLane>(sink);
  // Those that the sink sends meanwhile have their turn with the next call.
  for (auto left = producer.in_flight(); left != 0 && producer.in_flight() != 0; --left) {
    const Room room = inbox_->room<kLane>(producer.oldest_slot());
    producer.release_oldest();
    ++count;
    sink.template undelivered<kLane>(
        room, mark_of(room.slot->request.head.load(std::memory_order_relaxed)));
  }
  return count;
}

template <Threads kThreads, class Sink>
int Outbox::abandon(Sink&& sink) {
  abandoned_ = true;
  const auto abandon = [&]<Lane kLane>() {
    return in_turn<kThreads, kLane>([&] { return abandon_lane<kThreads, kLane>(sink); });
  };
  return abandon.template operator()<Lane::kShort>() +
         abandon.template operator()<Lane::kMedium>() + abandon.template operator()<Lane::kLong>();
}

template <Threads kThreads, class Sink>
inline int Mailbox::poll(Sink&& sink) {
  const auto make = [](std::uint32_t place) { return polled(place); };
  const auto visit = [&](Polled place) { return this->visit<kThreads>(place, sink); };
  if constexpr (kThreads == Threads::kOne) {
    return attention_.poll(make, visit);
  } else {
    return attention_.poll_shared(make, visit);
  }
}

template <Threads kThreads, class Sink>
inline int Mailbox::visit(Polled place, Sink& sink) {
  if constexpr (kThreads == Threads::kAny) {
    if (busy(place)) return attention_.kBusy;
  }
  switch (place.which) {
    case index(Lane::kShort): return drain_in_turn<kThreads, Lane::kShort>(place.inbox, sink);
    case index(Lane::kMedium): return drain_in_turn<kThreads, Lane::kMedium>(place.inbox, sink);
    case index(Lane::kLong): return drain_in_turn<kThreads, Lane::kLong>(place.inbox, sink);
    default: return hang_up<kThreads>(place.inbox, sink);
  }
}

// The end of a sender comes after everything that it has sent.
inline bool Mailbox::busy(Polled place) const noexcept {
  const std::uint8_t busy = readers_[place.inbox].busy;
  return place.which == kClosedPlace ? busy != 0 : (busy >> place.which & 1) != 0;
}

template <Threads kThreads, Lane kLane, class Sink>
inline int Mailbox::drain_in_turn(std::uint32_t number, Sink& sink) {
  if constexpr (kThreads == Threads::kOne) {
    return drain<kThreads, kLane>(number, sink);
  } else {
    if (busy({number, index(kLane)})) return 0;
    const Turn turn(readers_[number].busy, index(kLane));
    return drain<kThreads, kLane>(number, sink);
  }
}

// Finishes requests of one sender: each by its reply, or a one-way request now and then by a count.
// One-way requests that were not delivered, and have a reply, are returned. Wakes the sender, if
// there is something for it: a look without a fence after each message, as the next handler may
// take long, and one with it after the last, which finds a sender that was about to sleep
// meanwhile. Where other threads come in between, one with a fence after each.
template <Threads kThreads, Lane kLane>
class Mailbox::Finisher {
 public:
  Finisher(Inbox& inbox, Reader& reader, const Fence& fence) noexcept
      : inbox_(inbox),
        reader_(reader),
        bell_(*reader.bell),
        fence_(fence),
        told_(consumer().told()) {}
  ~Finisher() {
    if (consumer().told() != told_) bell_.notify(fence_);
  }
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;

  [[gnu::always_inline]] void answer(Slot& slot, Mark reply) noexcept {
    consumer().answer(slot, reply);
    look();
  }
  [[gnu::always_inline]] void one_way(Slot& slot, Mark reply) noexcept {
    Progress& progress = inbox_.progress[index(kLane)];
    if (reply != kNoReply) [[unlikely]] {
      consumer().give_back(slot, reply, progress);
      bell_.alert(fence_);
    } else if (consumer().finish_one_way(progress)) {
      look();
    }
  }

 private:
  auto& consumer() noexcept { return reader_.read.template of<kLane>(); }
  [[gnu::always_inline]] void look() noexcept {
    if constexpr (kThreads == Threads::kAny) {
      bell_.notify(fence_);
    } else {
      bell_.notify_after_fence();
    }
  }

  Inbox& inbox_;
  Reader& reader_;
  Doorbell& bell_;
  const Fence& fence_;
  const std::uint64_t told_;  // to the sender before
};

template <Threads kThreads, Lane kLane, class Sink>
inline int Mailbox::drain(std::uint32_t number, Sink& sink) {
  Reader& reader = readers_[number];
  Inbox& inbox = *header_->inbox(number);
  Slot* const slots = inbox.slots<kLane>();
  auto& consumer = reader.read.template of<kLane>();
  std::uint64_t head;
  Slot* slot = consumer.peek(slots, head);
  if (slot == nullptr) return 0;
  if (!reader.open) [[unlikely]]
    open(number, reader, sink);
  Finisher<kThreads, kLane> finisher(inbox, reader, fence_);
  auto requests = requests_of<kLane>(sink, number);
  int count = 0;
  do {
    const Mark mark = mark_of(head);
    Mark reply = kNoReply;
    if ((mark & kOneWay) == 0) {
      try {
        reply = requests.request(Room(slot), mark);
      } catch (...) {
        requests.threw(Room(slot));
        finisher.answer(*slot, kNoReply);  // no credit is lost
        throw;
      }
      finisher.answer(*slot, reply);
    } else {
      // The sender writes well ahead and never looks back: fetching early takes nothing from it.
      __builtin_prefetch(&slots[(Room::place(*slot) + kAhead) % window(kLane)]);
      try {
        reply = requests.one_way(Room(slot), mark);
      } catch (...) {
        finisher.one_way(*slot, kNoReply);
        throw;
      }
      finisher.one_way(*slot, reply);
    }
  } while (++count != kBudget && (slot = consumer.peek(slots, head)) != nullptr);
  return count;
}

template <class Sink>
void Mailbox::open(std::uint32_t number, Reader& reader, Sink& sink) {
  const Inbox& inbox = *header_->inbox(number);
  reader.bell = &sink.opened(number, std::span(inbox.caller, inbox.caller_bytes));
  reader.open = true;
}

// Frees the inbox of a sender that has closed, when everything has been read.
template <Threads kThreads, class Sink>
int Mailbox::hang_up(std::uint32_t number, Sink& sink) {
  // pairs with: Outbox::close()
  if (header_->states[number].load(std::memory_order_acquire) != InboxState::kClosed) return 0;
  Reader& reader = readers_[number];
  const Turn turn(reader.busy, kClosedPlace);
  int count = drain_in_turn<kThreads, Lane::kShort>(number, sink) +
              drain_in_turn<kThreads, Lane::kMedium>(number, sink) +
              drain_in_turn<kThreads, Lane::kLong>(number, sink);
  if (!read_everything(*header_->inbox(number), reader)) return count;
  count += return_unread<Lane::kShort>(number, sink) + return_unread<Lane::kMedium>(number, sink) +
           return_unread<Lane::kLong>(number, sink);
  if (reader.open) sink.closed(number);
  reader.open = false;
  // pairs with: Outbox::try_open(), which claims it
  header_->states[number].store(InboxState::kFree, std::memory_order_release);
  return count;
}

// The last commit of the dead is seen here: its process has ended, and the kernel has said so.
template <Threads kThreads, class Sink>
bool Mailbox::bury(std::int32_t pid, int& count, Sink&& sink) {
  bool done = true;
  for (std::uint32_t number = 0; number < header_->inboxes; ++number) {
    // pairs with: Outbox::introduce(), and, of what is claimed, Outbox::try_open()
    const InboxState state = header_->states[number].load(std::memory_order_seq_cst);
    if (state == claimed_by(pid)) {
      header_->states[number].store(InboxState::kFree, std::memory_order_release);
    } else if (state == InboxState::kInUse && header_->inbox(number)->pid == pid) {
      done &= bury_inbox<kThreads>(number, count, sink);
    } else if (state == InboxState::kClosed && header_->inbox(number)->pid == pid) {
      // It may have died before it said so.
      while (readers_[number].busy == 0) {
        const int passed = hang_up<kThreads>(number, sink);
        if (passed == 0) break;
        count += passed;
      }
      done &= header_->states[number].load(std::memory_order_relaxed) != InboxState::kClosed;
    }
  }
  // It may have set a bit and died before the summary: the next sender of that inbox would take it
  // for seen. pairs with: Attention::activate()
  header_->attention.summary.fetch_or(~std::uint64_t{0}, std::memory_order_seq_cst);
  return done;
}

template <Threads kThreads, class Sink>
bool Mailbox::bury_inbox(std::uint32_t number, int& count, Sink& sink) {
  Reader& reader = readers_[number];
  const auto drain_all = [&] {
    return drain_in_turn<kThreads, Lane::kShort>(number, sink) +
           drain_in_turn<kThreads, Lane::kMedium>(number, sink) +
           drain_in_turn<kThreads, Lane::kLong>(number, sink);
  };
  while (const int passed = drain_all()) count += passed;
  if (reader.busy != 0) return false;
  close_for_dead(*header_->inbox(number), reader);
  // No partner: its sender is dead.
  header_->states[number].store(InboxState::kClosed, std::memory_order_relaxed);
  count += hang_up<kThreads>(number, sink);
  return true;
}

// Everything that a sender who has closed has left.
template <class Sink>
void Mailbox::clear(std::uint32_t number, Sink& sink) {
  // A visit drains no more than its budget.
  while (header_->states[number].load(std::memory_order_relaxed) == InboxState::kClosed) {
    hang_up<Threads::kOne>(number, sink);
  }
}

template <Lane kLane, class Sink>
int Mailbox::return_unread(std::uint32_t number, Sink& sink) {
  Inbox& inbox = *header_->inbox(number);
  std::uint64_t& unread = inbox.unread[index(kLane)];
  int count = 0;
  while (unread != 0) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(unread));
    unread &= unread - 1;  // first: the sink may throw
    const Room room = inbox.room<kLane>(slot % window(kLane));
    ++count;
    sink.template unread<kLane>(number, room,
                                mark_of(room.slot->reply.head.load(std::memory_order_relaxed)));
  }
  return count;
}

template <class Sink>
void Mailbox::close(Sink&& sink) {
  publish_exactly();
  // pairs with: Outbox::gone()
  header_->closed.store(1, std::memory_order_seq_cst);
  for (std::uint32_t number = 0; number < header_->inboxes; ++number) {
    // pairs with: Outbox::introduce(), which looks for `closed` after having stored kInUse
    const InboxState state = header_->states[number].load(std::memory_order_seq_cst);
    if (state == InboxState::kClosed) clear(number, sink);
    if (state != InboxState::kInUse) continue;
    Reader& reader = readers_[number];
    if (!reader.open) open(number, reader, sink);
    reader.bell->alert(fence_);
  }
}

// Inline, as a long reply goes through it.
inline Mailbox::Position Mailbox::position_of(const Slot& slot) const noexcept {
  const auto* const first = reinterpret_cast<const std::byte*>(header_->inbox(0));
  const auto* const at = reinterpret_cast<const std::byte*>(&slot);
  const auto inbox =
      static_cast<std::uint32_t>(static_cast<std::size_t>(at - first) / sizeof(Inbox));
  const std::size_t offset = static_cast<std::size_t>(at - first) % sizeof(Inbox);
  const auto position = [&](Lane lane, std::size_t ring) -> Position {
    return {inbox, index(lane), static_cast<std::uint32_t>((offset - ring) / sizeof(Slot))};
  };
  if (offset < offsetof(Inbox, mediums)) return position(Lane::kShort, offsetof(Inbox, shorts));
  if (offset < offsetof(Inbox, longs)) return position(Lane::kMedium, offsetof(Inbox, mediums));
  return position(Lane::kLong, offsetof(Inbox, longs));
}

}  // namespace shmem
