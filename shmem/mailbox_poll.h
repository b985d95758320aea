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
int Mailbox::poll(Sink&& sink) {
  int count = 0;
  // pairs with: MailboxHeader::raise_bit(); the messages themselves are ordered by their heads.
  std::uint64_t words = header_->summary.load(std::memory_order_relaxed);
  while (words != 0) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(words));
    words &= words - 1;
    std::uint64_t lanes = header_->words[word].load(std::memory_order_relaxed);
    while (lanes != 0) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
      lanes &= lanes - 1;
      count += poll_lane(word * 64 + lane, sink);
    }
  }
  if (count != 0) {
    empty_polls_ = 0;
  } else if (++empty_polls_ == kSweep) {
    rest();
  }
  return count;
}

template <class Sink>
int Mailbox::poll_lane(std::uint32_t lane_number, Sink& sink) {
  const std::uint32_t number = lane_number / kBitsPerInbox;
  Reader& reader = readers_[number];
  switch (lane_number % kBitsPerInbox) {
    case index(Lane::kShort): return drain<Lane::kShort>(number, reader, sink);
    case index(Lane::kMedium): return drain<Lane::kMedium>(number, reader, sink);
    case index(Lane::kLong): return drain<Lane::kLong>(number, reader, sink);
    default: hang_up(number, reader, sink); return 0;
  }
}

// Finishes one request when it goes, also because the sink threw, so that no credit is lost.
template <Lane kLane>
struct Mailbox::Finish {
  ~Finish() {
    auto& consumer = reader.read.template of<kLane>();
    Slot* const slots = inbox.slots<kLane>();
    if ((mark & kOneWay) == 0) {
      consumer.answer(slots, slot, reply);
    } else if (consumer.finish_one_way(slots, slot)) {
      inbox.consumed[index(kLane)].publish(consumer.consumed());
    } else {
      return;
    }
    reader.bell->notify(fence);
  }

  Reader& reader;
  Inbox& inbox;
  Slot& slot;
  Fence fence;
  Mark mark;
  Mark reply = kNoReply;
};

template <Lane kLane, class Sink>
int Mailbox::drain(std::uint32_t number, Reader& reader, Sink& sink) {
  Inbox& inbox = *header_->inbox(number);
  Slot* const slots = inbox.slots<kLane>();
  auto& consumer = reader.read.template of<kLane>();
  int count = 0;
  while (Slot* const slot = consumer.peek(slots)) {
    if (!reader.open) [[unlikely]] open(number, reader, sink);
    const Room room = inbox.room<kLane>(static_cast<std::uint32_t>(slot - slots));
    const Mark mark = mark_of(slot->request.head.load(std::memory_order_relaxed));
    Finish<kLane> finish{reader, inbox, *slot, fence_, mark};
    if ((mark & kOneWay) == 0) {
      finish.reply = sink.request(number, kLane, room, mark);
    } else {
      sink.one_way(number, kLane, room, mark);
    }
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
void Mailbox::hang_up(std::uint32_t number, Reader& reader, Sink& sink) {
  const std::uint64_t bit = MailboxHeader::first_bit(number) << kClosedBit;
  // pairs with: Outbox::close(); cleared first, so that a later close raises it again.
  header_->word_of(number).fetch_and(~bit, std::memory_order_acq_rel);
  // pairs with: Outbox::close()
  if (header_->states[number].load(std::memory_order_acquire) != InboxState::kClosed) return;
  if (reader.open) sink.closed(number);
  reader.open = false;
  // pairs with: Outbox::Outbox(), which claims it
  header_->states[number].store(InboxState::kFree, std::memory_order_release);
}

}  // namespace shmem
