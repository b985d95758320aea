#include "shmem/mailbox.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "shmem/error.h"

namespace shmem {
namespace {

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
// at once do not all try the same one.
std::uint32_t claim_inbox(MailboxHeader& header, std::span<const std::byte> caller) {
  std::uint32_t hash = 2166136261u;
  for (const std::byte b : caller) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  for (std::uint32_t i = 0; i < header.inboxes; ++i) {
    const std::uint32_t number = (hash + i) % header.inboxes;
    InboxState state = InboxState::kFree;
    // pairs with: Mailbox::hang_up(), so that the cursors left by the last sender are visible
    if (header.states[number].compare_exchange_strong(state, InboxState::kInUse,
                                                      std::memory_order_acq_rel)) {
      return number;
    }
  }
  throw Error("all " + std::to_string(header.inboxes) +
              " inboxes of the mailbox are taken by other senders; create the receiving endpoint "
              "with room for more, or unmap endpoints that are no longer used");
}

}  // namespace

void MailboxHeader::raise_bit(std::uint32_t inbox_number, std::uint32_t bit) noexcept {
  // pairs with: Mailbox::find_raised(), which sees the bit when it has seen the count; and rest()
  word_of(inbox_number).fetch_or(first_bit(inbox_number) << bit, std::memory_order_seq_cst);
  raises.fetch_add(1, std::memory_order_seq_cst);
}

Outbox::Outbox(const Region::Address& address, std::span<const std::byte> caller, Doorbell& bell,
               Fence fence)
    : region_(Region::open(address)),
      header_(checked_header(region_, address.pid)),
      bell_(bell),
      fence_(fence) {
  if (caller.size() > kCallerBytes) {
    throw Error("a caller's name has " + std::to_string(caller.size()) + " bytes, at most " +
                std::to_string(kCallerBytes) + " fit");
  }
  inbox_number_ = claim_inbox(*header_, caller);
  inbox_ = header_->inbox(inbox_number_);
  lane_word_ = &header_->word_of(inbox_number_);
  lane_bit_ = MailboxHeader::first_bit(inbox_number_);
  const auto resume = [this](Lane lane, auto& producer) {
    const std::uint64_t next = inbox_->next_sequence[index(lane)];
    if (next != 0) producer.resume(next, inbox_->last_slot[index(lane)]);
  };
  resume(Lane::kShort, sent_.shorts);
  resume(Lane::kMedium, sent_.mediums);
  resume(Lane::kLong, sent_.longs);
  std::memcpy(inbox_->caller, caller.data(), caller.size());
  inbox_->caller_bytes = static_cast<std::uint32_t>(caller.size());
}

void Outbox::close() noexcept {
  const auto leave = [this](Lane lane, const auto& producer) {
    inbox_->next_sequence[index(lane)] = producer.next_sequence();
    inbox_->last_slot[index(lane)] = producer.last_slot();
  };
  leave(Lane::kShort, sent_.shorts);
  leave(Lane::kMedium, sent_.mediums);
  leave(Lane::kLong, sent_.longs);
  // pairs with: Mailbox::hang_up()
  header_->states[inbox_number_].store(InboxState::kClosed, std::memory_order_release);
  header_->raise_bit(inbox_number_, kClosedBit);
  bell_.notify(fence_);
}

Mailbox::Mailbox(std::uint32_t inboxes, Fence fence)
    : region_(
          Region::create({.what = "the mailbox of an endpoint", .bytes = mailbox_bytes(inboxes)})),
      header_(reinterpret_cast<MailboxHeader*>(region_.data())),
      fence_(fence),
      readers_(std::make_unique<Reader[]>(inboxes)),
      known_((inboxes + kInboxesPerWord - 1) / kInboxesPerWord) {
  active_.reserve(std::size_t{inboxes} * kBitsPerInbox);
  header_->inboxes = inboxes;
  header_->magic = MailboxHeader::kMagic;
}

bool Mailbox::lane_has_message(Active lane) noexcept {
  Inbox& inbox = *header_->inbox(lane.inbox);
  auto& read = readers_[lane.inbox].read;
  switch (lane.bit) {
    case index(Lane::kShort): return read.shorts.peek(inbox.shorts.slots) != nullptr;
    case index(Lane::kMedium): return read.mediums.peek(inbox.mediums.slots) != nullptr;
    case index(Lane::kLong): return read.longs.peek(inbox.longs.slots) != nullptr;
    default:
      // pairs with: Outbox::close()
      return header_->states[lane.inbox].load(std::memory_order_acquire) == InboxState::kClosed;
  }
}

bool Mailbox::has_message() noexcept {
  // pairs with: MailboxHeader::raise_bit()
  if (header_->raises.load(std::memory_order_acquire) != raises_seen_) find_raised();
  return std::any_of(active_.begin(), active_.end(),
                     [this](Active lane) { return lane_has_message(lane); });
}

void Mailbox::find_raised() noexcept {
  // pairs with: MailboxHeader::raise_bit()
  raises_seen_ = header_->raises.load(std::memory_order_acquire);
  for (std::uint32_t word = 0; word < known_.size(); ++word) {
    // pairs with: MailboxHeader::raise_bit()
    const std::uint64_t raised = header_->words[word].load(std::memory_order_acquire);
    for (std::uint64_t fresh = raised & ~known_[word]; fresh != 0; fresh &= fresh - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(fresh));
      active_.push_back({word * kInboxesPerWord + lane / kBitsPerInbox, lane % kBitsPerInbox});
    }
    known_[word] |= raised;
  }
}

void Mailbox::rest() noexcept {
  empty_polls_ = 0;
  if (active_.empty()) return;
  for (std::uint32_t word = 0; word < known_.size(); ++word) {
    if (known_[word] == 0) continue;
    // Only bits that are known: of others the raise is still to be counted.
    // pairs with: MailboxHeader::raise_bit()
    header_->words[word].fetch_and(~known_[word], std::memory_order_seq_cst);
    known_[word] = 0;
  }
  fence_.heavy();  // from here on a sender either sees its bit gone, or we see its message
  for (const Active lane : active_) {
    if (lane_has_message(lane)) header_->raise_bit(lane.inbox, lane.bit);
  }
  active_.clear();
}

}  // namespace shmem
