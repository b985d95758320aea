#pragma once

// The receiving loop of shmem::Mailbox; included by shmem/mailbox.h.

#include "shmem/mailbox.h"

namespace shmem {

template <Lane kLane>
Room Inbox::room(std::uint32_t slot) noexcept {
  auto& memory = ring<kLane>();
  std::byte* const payload = kLane == Lane::kMedium ? medium_requests[slot] : nullptr;
  return {&memory.slots[slot], &memory.extensions[slot], payload, memory.reply_payloads[slot]};
}

template <class Sink>
inline int Mailbox::poll(Sink&& sink) {
  // pairs with: MailboxHeader::raise_bit(); a raise seen late is seen by a later poll.
  if (header_->raises.load(std::memory_order_relaxed) != raises_seen_) [[unlikely]]
    find_raised();
  int count = 0;
  for (std::size_t i = 0; i < active_.size(); ++i) count += poll_lane(active_[i], sink);
  if (count != 0) {
    empty_polls_ = 0;
  } else if (++empty_polls_ == kSweep) [[unlikely]] {
    rest();
  }
  return count;
}

template <class Sink>
inline int Mailbox::poll_lane(Active lane, Sink& sink) {
  switch (lane.bit) {
    case index(Lane::kShort): return drain<Lane::kShort>(lane.inbox, sink);
    case index(Lane::kMedium): return drain<Lane::kMedium>(lane.inbox, sink);
    case index(Lane::kLong): return drain<Lane::kLong>(lane.inbox, sink);
    default: hang_up(lane.inbox, sink); return 0;
  }
}

// Says that the request in `slot` has been handled: by its reply, or for a one-way request now and
// then by a count.
template <Lane kLane>
inline void Mailbox::finish(Inbox& inbox, Reader& reader, Slot& slot, Mark mark, Mark reply) {
  auto& consumer = reader.read.template of<kLane>();
  Slot* const slots = inbox.slots<kLane>();
  if ((mark & kOneWay) == 0) {
    consumer.answer(slots, slot, reply);
  } else if (consumer.finish_one_way(slots, slot)) {
    inbox.consumed[index(kLane)].publish(consumer.consumed());
  } else {
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
        sink.template one_way<kLane>(number, inbox.room<kLane>(at), mark);
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

template <class Sink>
void Mailbox::hang_up(std::uint32_t number, Sink& sink) {
  // pairs with: Outbox::close()
  if (header_->states[number].load(std::memory_order_acquire) != InboxState::kClosed) return;
  Reader& reader = readers_[number];
  if (reader.open) sink.closed(number);
  reader.open = false;
  // pairs with: Outbox::Outbox(), which claims it
  header_->states[number].store(InboxState::kFree, std::memory_order_release);
}

}  // namespace shmem
