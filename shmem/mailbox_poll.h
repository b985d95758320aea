#pragma once

// What shmem::Mailbox and shmem::Outbox do for every message; included by shmem/mailbox.h.

#include "shmem/mailbox.h"

namespace shmem {

template <Lane kLane>
Room Inbox::room(std::uint32_t slot) noexcept {
  auto& memory = ring<kLane>();
  std::byte* const payload = kLane == Lane::kMedium ? medium_requests[slot] : nullptr;
  return {&memory.slots[slot], &memory.extensions[slot], payload, memory.reply_payloads[slot]};
}

// Replies first: a returned request behind one is taken when the reply has been.
template <Lane kLane, class Sink>
int Outbox::take_returned_in(Sink& sink) {
  int count = 0;
  while (const int replies = reap_lane<kLane>(sink)) count += replies;
  std::uint32_t slot;
  while (sent_.of<kLane>().take_returned(inbox_->slots<kLane>(), progress<kLane>(), slot)) {
    ++count;
    sink.template returned<kLane>(inbox_->room<kLane>(slot));
    while (const int replies = reap_lane<kLane>(sink)) count += replies;
  }
  return count;
}

template <class Sink>
int Outbox::take_returned(Sink&& sink) {
  return take_returned_in<Lane::kShort>(sink) + take_returned_in<Lane::kMedium>(sink) +
         take_returned_in<Lane::kLong>(sink);
}

template <Lane kLane, class Sink>
int Outbox::abandon_lane(Sink& sink) {
  auto& producer = sent_.of<kLane>();
  // What was read has been answered, counted or returned: gone() has made sure that this is seen.
  int count = take_returned_in<kLane>(sink);
  while (producer.in_flight() != 0) {
    const Room room = inbox_->room<kLane>(producer.oldest_slot());
    if (!producer.oldest_is_one_way()) --awaited_;
    producer.release_oldest();
    ++count;
    sink.template undelivered<kLane>(
        room, mark_of(room.slot->request.head.load(std::memory_order_relaxed)));
  }
  return count;
}

template <class Sink>
int Outbox::abandon(Sink&& sink) {
  return abandon_lane<Lane::kShort>(sink) + abandon_lane<Lane::kMedium>(sink) +
         abandon_lane<Lane::kLong>(sink);
}

template <class Sink>
inline int Mailbox::poll(Sink&& sink) {
  return attention_.poll([](std::uint32_t place) { return polled(place); },
                         [&](Polled place) { return visit(place, sink); });
}

template <class Sink>
inline int Mailbox::visit(Polled place, Sink& sink) {
  switch (place.which) {
    case index(Lane::kShort): return drain<Lane::kShort>(place.inbox, sink);
    case index(Lane::kMedium): return drain<Lane::kMedium>(place.inbox, sink);
    case index(Lane::kLong): return drain<Lane::kLong>(place.inbox, sink);
    default: return hang_up(place.inbox, sink);
  }
}

// Finishes the request in `slot`: by its reply, or for a one-way request now and then by a count.
// One that was not delivered, and has a reply, is returned.
template <Lane kLane>
inline void Mailbox::finish(Inbox& inbox, Reader& reader, Slot& slot, Mark mark, Mark reply) {
  auto& consumer = reader.read.template of<kLane>();
  Slot* const slots = inbox.slots<kLane>();
  Progress& progress = inbox.progress[index(kLane)];
  if ((mark & kOneWay) == 0) {
    consumer.answer(slots, slot, reply);
  } else if (reply != kNoReply) [[unlikely]] {
    consumer.give_back(slots, slot, reply, progress);
    return reader.bell->alert(fence_);
  } else if (!consumer.finish_one_way(slots, slot, progress)) {
    return;
  }
  reader.bell->notify(fence_);
}

template <Lane kLane, class Sink>
inline int Mailbox::drain(std::uint32_t number, Sink& sink) {
  Reader& reader = readers_[number];
  Inbox& inbox = *header_->inbox(number);
  Slot* const slots = inbox.slots<kLane>();
  auto& consumer = reader.read.template of<kLane>();
  int count = 0;
  while (Slot* const slot = consumer.peek(slots)) {
    if (!reader.open) [[unlikely]]
      open(number, reader, sink);
    const auto at = static_cast<std::uint32_t>(slot - slots);
    const Mark mark = mark_of(slot->request.head.load(std::memory_order_relaxed));
    Mark reply = kNoReply;
    try {
      if ((mark & kOneWay) == 0) {
        reply = sink.template request<kLane>(number, inbox.room<kLane>(at), mark);
      } else {
        // The sender writes well ahead and never looks back: fetching early takes nothing from it.
        __builtin_prefetch(&slots[(at + kAhead) % window(kLane)]);
        reply = sink.template one_way<kLane>(number, inbox.room<kLane>(at), mark);
      }
    } catch (...) {
      finish<kLane>(inbox, reader, *slot, mark, kNoReply);  // no credit is lost
      throw;
    }
    finish<kLane>(inbox, reader, *slot, mark, reply);
    if (++count == kBudget) break;
  }
  return count;
}

template <class Sink>
void Mailbox::open(std::uint32_t number, Reader& reader, Sink& sink) {
  const Inbox& inbox = *header_->inbox(number);
  reader.bell = &sink.opened(number, std::span(inbox.caller, inbox.caller_bytes));
  reader.open = true;
}

// Frees the inbox of a sender that has closed, when everything has been read.
template <class Sink>
int Mailbox::hang_up(std::uint32_t number, Sink& sink) {
  // pairs with: Outbox::close()
  if (header_->states[number].load(std::memory_order_acquire) != InboxState::kClosed) return 0;
  Reader& reader = readers_[number];
  int count = drain<Lane::kShort>(number, sink) + drain<Lane::kMedium>(number, sink) +
              drain<Lane::kLong>(number, sink);
  if (!read_everything(*header_->inbox(number), reader)) return count;
  count += return_unread<Lane::kShort>(number, sink) + return_unread<Lane::kMedium>(number, sink) +
           return_unread<Lane::kLong>(number, sink);
  if (reader.open) sink.closed(number);
  reader.open = false;
  // pairs with: Outbox::try_open(), which claims it
  header_->states[number].store(InboxState::kFree, std::memory_order_release);
  return count;
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
    if (header_->states[number].load(std::memory_order_seq_cst) != InboxState::kInUse) continue;
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
