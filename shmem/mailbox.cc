#include "shmem/mailbox.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace shmem {
namespace {

// What Room::request_payload() relies on.
static_assert(offsetof(Inbox, medium_requests) - offsetof(Inbox, mediums) ==
              sizeof(RingMemory<window(Lane::kMedium)>));

std::size_t mailbox_bytes(std::uint32_t inboxes) {
  return sizeof(MailboxHeader) + std::size_t{inboxes} * sizeof(Inbox);
}

MailboxHeader* checked_header(const Region& region, std::int32_t pid) {
  auto* header = reinterpret_cast<MailboxHeader*>(region.data());
  if (region.size() < sizeof(MailboxHeader) || header->magic != MailboxHeader::kMagic ||
      header->inboxes > kMaxInboxes || region.size() < mailbox_bytes(header->inboxes)) {
    throw Error("the memory of process " + std::to_string(pid) +
                " is not a mailbox of this version; all programs of a job must be built from the "
                "same Splitphase");
  }
  return header;
}

// Takes a free inbox, looking first where this caller's hash points so that many callers that come
// at once do not all try the same one. kMaxInboxes: none is free, but there will be.
std::uint32_t claim_inbox(MailboxHeader& header, std::span<const std::byte> caller) {
  const std::size_t hash = std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(caller.data()), std::min<std::size_t>(caller.size(), 64)});
  const InboxState claimed = claimed_by(getpid());
  bool some_closed = false;
  for (std::uint32_t i = 0; i < header.inboxes; ++i) {
    const auto number = static_cast<std::uint32_t>((hash + i) % header.inboxes);
    InboxState state = InboxState::kFree;
    // pairs with: Mailbox::hang_up(), so that the cursors left by the last sender are visible
    if (header.states[number].compare_exchange_strong(state, claimed, std::memory_order_acq_rel)) {
      return number;
    }
    some_closed |= state == InboxState::kClosed;
  }
  if (some_closed) return kMaxInboxes;
  throw Error("all " + std::to_string(header.inboxes) +
              " inboxes of the mailbox are taken by other senders; create the receiving endpoint "
              "with room for more (Endpoint::Options::inboxes, at most " +
              std::to_string(kMaxInboxes) + "), or unmap or end endpoints that are no longer used");
}

}  // namespace

Owned<Outbox> Outbox::try_open(const Region::Address& address, std::span<const std::byte> caller,
                               Doorbell& bell, Fence fence) {
  if (caller.size() > kCallerBytes) {
    throw Error("a caller's name has " + std::to_string(caller.size()) + " bytes, at most " +
                std::to_string(kCallerBytes) + " fit");
  }
  Region region = Region::open(address);
  const std::uint32_t number = claim_inbox(*checked_header(region, address.pid), caller);
  if (number == kMaxInboxes) return nullptr;
  Owned<Outbox> box(new Outbox(std::move(region), number, bell, fence));
  box->introduce(caller);
  return box;
}

Owned<Outbox> Outbox::to_nobody(Doorbell& bell, Fence fence) {
  Region region =
      Region::create({.what = "requests to an endpoint that is gone", .bytes = mailbox_bytes(1)});
  auto* const header = reinterpret_cast<MailboxHeader*>(region.data());
  header->closed.store(1, std::memory_order_relaxed);  // no partner: nobody else maps it
  return Owned<Outbox>(new Outbox(std::move(region), 0, bell, fence));
}

Outbox::Outbox(Region region, std::uint32_t inbox_number, Doorbell& bell, Fence fence)
    : region_(std::move(region)),
      header_(reinterpret_cast<MailboxHeader*>(region_.data())),
      inbox_(header_->inbox(inbox_number)),
      place_word_(&header_->attention.word_of(place_of(inbox_number, 0))),
      assisted_bit_(fence.kernel_assists() ? MailboxBits::bit_of(place_of(inbox_number, 0)) : 0),
      bell_(bell),
      fence_(fence),
      inbox_number_(inbox_number) {
  region_.hide_from_children();
  const auto resume = [this](Lane lane, auto& producer) {
    const std::uint64_t next = inbox_->next_sequence[index(lane)];
    // No partner: the receiver has freed the inbox, which ordered this, and counts on for us only.
    const std::uint64_t returned =
        inbox_->progress[index(lane)].returned.load(std::memory_order_relaxed);
    if (next != 0) producer.resume(next, inbox_->last_slot[index(lane)], returned);
  };
  resume(Lane::kShort, sent_.shorts);
  resume(Lane::kMedium, sent_.mediums);
  resume(Lane::kLong, sent_.longs);
}

void Outbox::announce_to_idle(Lane lane) noexcept {
  fence_.light();
  const std::uint32_t place = place_of(inbox_number_, index(lane));
  if (!header_->attention.raised(place)) header_->attention.raise(place);
  bell_.notify_after_fence();
}

void Outbox::introduce(std::span<const std::byte> caller) noexcept {
  std::memcpy(inbox_->caller, caller.data(), caller.size());
  inbox_->caller_bytes = static_cast<std::uint32_t>(caller.size());
  inbox_->pid = getpid();
  // pairs with: Mailbox::close(), which looks for inboxes in use after having stored `closed`
  header_->states[inbox_number_].store(InboxState::kInUse, std::memory_order_seq_cst);
}

bool Outbox::has_reply() noexcept {
  const auto ready = []<std::uint32_t kSlots>(Producer<kSlots>& producer, Slot* slots) {
    typename Producer<kSlots>::Answered answered;
    return producer.find_reply(slots, answered);
  };
  return ready(sent_.shorts, inbox_->shorts.slots) || ready(sent_.mediums, inbox_->mediums.slots) ||
         ready(sent_.longs, inbox_->longs.slots);
}

std::uint64_t Outbox::awaited_slots(std::uint32_t lane) const noexcept {
  switch (static_cast<Lane>(lane)) {
    case Lane::kShort: return sent_.shorts.awaited_slots();
    case Lane::kMedium: return sent_.mediums.awaited_slots();
    default: return sent_.longs.awaited_slots();
  }
}

bool Outbox::has_returned() const noexcept {
  return sent_.shorts.any_returned(progress<Lane::kShort>()) ||
         sent_.mediums.any_returned(progress<Lane::kMedium>()) ||
         sent_.longs.any_returned(progress<Lane::kLong>());
}

void Outbox::close() noexcept {
  const auto leave = [this](Lane lane, const auto& producer) {
    inbox_->next_sequence[index(lane)] = producer.next_sequence();
    inbox_->last_slot[index(lane)] = producer.last_slot();
    inbox_->unread[index(lane)] = producer.awaited_slots();
  };
  leave(Lane::kShort, sent_.shorts);
  leave(Lane::kMedium, sent_.mediums);
  leave(Lane::kLong, sent_.longs);
  if (abandoned_) {
    // Mailbox::close() may be about to look here for what senders have left: what this one has
    // taken back may not be handled as well. Nobody else comes to a mailbox that has closed.
    // pairs with: Mailbox::close()
    header_->states[inbox_number_].store(InboxState::kFree, std::memory_order_release);
    return;
  }
  // pairs with: Mailbox::hang_up()
  header_->states[inbox_number_].store(InboxState::kClosed, std::memory_order_release);
  header_->attention.raise(place_of(inbox_number_, kClosedPlace));
  bell_.notify(fence_);
}

Mailbox::Mailbox(std::uint32_t inboxes, Fence fence)
    : region_(
          Region::create({.what = "the mailbox of an endpoint", .bytes = mailbox_bytes(inboxes)})),
      header_(reinterpret_cast<MailboxHeader*>(region_.data())),
      fence_(fence),
      readers_(new Reader[inboxes]()),
      attention_(header_->attention, fence, inboxes * kPlacesPerInbox) {
  region_.hide_from_children();
  header_->inboxes = inboxes;
  header_->magic = MailboxHeader::kMagic;
}

bool Mailbox::has_message(Polled place) noexcept {
  Inbox& inbox = *header_->inbox(place.inbox);
  auto& read = readers_[place.inbox].read;
  if (busy(place)) return false;  // it is taken already, by a thread that looks for the next one
  switch (place.which) {
    case index(Lane::kShort): return read.shorts.peek(inbox.shorts.slots) != nullptr;
    case index(Lane::kMedium): return read.mediums.peek(inbox.mediums.slots) != nullptr;
    case index(Lane::kLong): return read.longs.peek(inbox.longs.slots) != nullptr;
    default:
      // pairs with: Outbox::close()
      return header_->states[place.inbox].load(std::memory_order_acquire) == InboxState::kClosed;
  }
}

bool Mailbox::has_message() noexcept {
  return attention_.any([](std::uint32_t place) { return polled(place); },
                        [this](Polled place) { return has_message(place); });
}

bool Mailbox::read_everything(const Inbox& inbox, const Reader& reader) const noexcept {
  const auto all = [&](Lane lane, const auto& consumer) {
    return consumer.consumed() + 1 == inbox.next_sequence[index(lane)];
  };
  return all(Lane::kShort, reader.read.shorts) && all(Lane::kMedium, reader.read.mediums) &&
         all(Lane::kLong, reader.read.longs);
}

// What its sender would have left. Which replies it has not read nobody knows: they are dropped.
void Mailbox::close_for_dead(Inbox& inbox, const Reader& reader) noexcept {
  const auto leave = [&](Lane lane, const auto& consumer) {
    inbox.next_sequence[index(lane)] = consumer.consumed() + 1;
    inbox.last_slot[index(lane)] = consumer.last_slot();
    inbox.unread[index(lane)] = 0;
  };
  leave(Lane::kShort, reader.read.shorts);
  leave(Lane::kMedium, reader.read.mediums);
  leave(Lane::kLong, reader.read.longs);
}

// Of those who have sent something; of others the counts are below what they may send.
void Mailbox::publish_exactly() noexcept {
  for (std::uint32_t number = 0; number < header_->inboxes; ++number) {
    Reader& reader = readers_[number];
    if (!reader.open) continue;
    Inbox& inbox = *header_->inbox(number);
    reader.read.shorts.publish(inbox.progress[index(Lane::kShort)]);
    reader.read.mediums.publish(inbox.progress[index(Lane::kMedium)]);
    reader.read.longs.publish(inbox.progress[index(Lane::kLong)]);
  }
}

}  // namespace shmem
