#include "am/one_sided.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "am/router.h"

namespace am {
namespace {

using link::Access;
using link::Type;

// Copies; objects of 1, 2, 4 and 8 aligned bytes in one piece, so that a neighbour who looks at the
// same time sees the old value or the new.
void copy_whole(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  const auto copy_as = [&]<class Word>(Word) {
    if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0 ||
        reinterpret_cast<std::uintptr_t>(from) % sizeof(Word) != 0) {
      return false;
    }
    const Word word = std::atomic_ref(*reinterpret_cast<Word*>(const_cast<std::byte*>(from)))
                          .load(std::memory_order_relaxed);
    std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_relaxed);
    return true;
  };
  switch (bytes) {
    case 0: return;
    case 1: *to = *from; return;
    case 2:
      if (copy_as(std::uint16_t())) return;
      break;
    case 4:
      if (copy_as(std::uint32_t())) return;
      break;
    case 8:
      if (copy_as(std::uint64_t())) return;
      break;
    default: break;
  }
  std::memcpy(to, from, bytes);
}

constexpr std::size_t kSmall = 64;   // bytes of an access that gains by company
constexpr std::uint32_t kAlone = 2;  // of these under way before the next ones gather

// Sends an access packet with `data` behind it.
void send(link::Link& link, Rank to, Type type, std::uint64_t offset, std::uint64_t number,
          std::span<const std::byte> data) {
  const auto bytes = static_cast<std::uint32_t>(data.size());
  const std::uint32_t packet_bytes = sizeof(Access) + link::rounded(bytes);
  const Access packet{link::make_header(type, packet_bytes, bytes), offset, number};
  std::byte* const at = link.claim(to, packet_bytes);
  std::memcpy(at, &packet, sizeof packet);
  copy_whole(at + sizeof packet, data.data(), bytes);
  link.commit(to);
}

const std::byte* data_of(const Access& packet) noexcept {
  return reinterpret_cast<const std::byte*>(&packet + 1);
}

bool whole(const Access& packet, std::uint32_t data_bytes) noexcept {
  return packet.head.bytes == sizeof packet + link::rounded(data_bytes);
}

}  // namespace

OneSided::OneSided(Router& router, link::Link& link) noexcept
    : router_(router), link_(link), rma_(link.has_rma()), emulated_(link.prefers_packets()) {}

OneSided::Counted& OneSided::count(link::Completion& completion) {
  if (free_counted_.empty()) {
    all_counted_.push_back(std::make_unique<Counted>());
    all_counted_.back()->owner = this;
    all_counted_.back()->done = &counted;
    free_counted_.push_back(all_counted_.back().get());
  }
  Counted& counted = *free_counted_.back();
  counted.counted = &completion;
  return counted;
}

void OneSided::counted(link::Completion& completion) {
  auto& counted = static_cast<Counted&>(completion);
  --counted.owner->small_;
  counted.owner->free_counted_.push_back(&counted);
  counted.counted->done(*counted.counted);
}

bool OneSided::try_read(Rank from, std::uint64_t offset, std::span<std::byte> to,
                        link::Completion& completion) {
  const bool small = emulated_ && to.size() <= kSmall;
  if (rma_ && !small) return link_.try_read(from, offset, to, completion);
  if (rma_ && small_ < kAlone && link_.try_read(from, offset, to, count(completion))) {
    return take_counted();
  }
  return start({from, offset, to.data(), to.size(), false, &completion});
}

bool OneSided::try_write(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                         bool before_packets, link::Completion& completion) {
  const bool small = emulated_ && from.size() <= kSmall;
  if (rma_ && !small) return link_.try_write(to, offset, from, before_packets, completion);
  if (rma_ && small_ < kAlone &&
      link_.try_write(to, offset, from, before_packets, count(completion))) {
    return take_counted();
  }
  return start({to, offset, const_cast<std::byte*>(from.data()), from.size(), true, &completion});
}

bool OneSided::take_counted() noexcept {
  free_counted_.pop_back();
  ++small_;
  return true;
}

bool OneSided::start(const ByMessages& access) {
  if (free_.empty()) {
    if (accesses_.size() == kMost) return false;
    free_.push_back(static_cast<std::uint32_t>(accesses_.size()));
    accesses_.push_back(access);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  accesses_[number] = access;
  if (!send_pieces(number)) waiting_.push_back(number);
  return true;
}

// False: there is more to send, later.
bool OneSided::send_pieces(std::uint32_t number) {
  ByMessages& access = accesses_[number];
  while (access.asked < access.bytes) {
    if (access.asked - access.done >= kAhead || link_.congested(access.rank)) return false;
    const std::uint64_t bytes =
        std::min<std::uint64_t>(access.bytes - access.asked, link::kMaxData);
    const std::uint64_t tag = access.asked << 16 | number;  // where in the access, and which
    if (access.write) {
      send(link_, access.rank, Type::kPut, access.offset + access.asked, tag,
           {access.local + access.asked, bytes});
    } else {
      std::byte wanted[sizeof bytes];
      std::memcpy(wanted, &bytes, sizeof bytes);
      send(link_, access.rank, Type::kGet, access.offset + access.asked, tag, wanted);
    }
    access.asked += bytes;
  }
  return true;
}

void OneSided::resume() {
  std::erase_if(waiting_, [this](std::uint32_t number) { return send_pieces(number); });
}

bool OneSided::in_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return offset <= router_.segment_bytes() && bytes <= router_.segment_bytes() - offset;
}

bool OneSided::serve_get(Rank from, const Access& packet) {
  std::uint64_t bytes = 0;
  if (!whole(packet, sizeof bytes)) return false;
  std::memcpy(&bytes, data_of(packet), sizeof bytes);
  if (bytes > link::kMaxData || !in_segment(packet.offset, bytes)) return false;
  send(link_, from, Type::kGot, bytes, packet.number, {router_.segment() + packet.offset, bytes});
  return true;
}

bool OneSided::serve_put(Rank from, const Access& packet) {
  const std::uint64_t bytes = packet.head.data_bytes;
  if (!whole(packet, packet.head.data_bytes) || !in_segment(packet.offset, bytes)) return false;
  copy_whole(router_.segment() + packet.offset, data_of(packet), bytes);
  send(link_, from, Type::kPutDone, bytes, packet.number, {});
  return true;
}

// Notes that a piece is done.
bool OneSided::account(const Access& packet, std::uint64_t bytes) {
  const auto number = static_cast<std::uint32_t>(packet.number & 0xffff);
  ByMessages& access = accesses_[number];
  access.done += bytes;
  if (access.done != access.bytes) return true;
  link::Completion& completion = *access.completion;
  free_.push_back(number);
  completion.done(completion);
  return true;
}

bool OneSided::take_data(const Access& packet) {
  const auto number = static_cast<std::uint32_t>(packet.number & 0xffff);
  const std::uint64_t at = packet.number >> 16;
  const std::uint64_t bytes = packet.head.data_bytes;
  if (!whole(packet, packet.head.data_bytes) || number >= accesses_.size()) return false;
  const ByMessages& access = accesses_[number];
  if (access.write || at > access.asked || bytes > access.asked - at) return false;
  copy_whole(access.local + at, data_of(packet), bytes);
  return account(packet, bytes);
}

bool OneSided::take_done(const Access& packet) {
  const auto number = static_cast<std::uint32_t>(packet.number & 0xffff);
  if (!whole(packet, 0) || number >= accesses_.size()) return false;
  const ByMessages& access = accesses_[number];
  if (!access.write || packet.offset > access.asked - access.done) return false;
  return account(packet, packet.offset);
}

void OneSided::store(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                     std::uint64_t counter) {
  send(link_, to, Type::kStore, offset, counter, data);
}

bool OneSided::take_store(const Access& packet) {
  const std::uint64_t bytes = packet.head.data_bytes;
  if (!whole(packet, packet.head.data_bytes) || !in_segment(packet.offset, bytes)) return false;
  copy_whole(router_.segment() + packet.offset, data_of(packet), bytes);
  return count(packet.number, bytes);
}

link::Count OneSided::make_count(std::uint64_t counter, std::uint64_t bytes) noexcept {
  return {link::make_header(Type::kCount, sizeof(link::Count)), counter, bytes};
}

bool OneSided::take_count(const link::Count& packet) { return count(packet.counter, packet.bytes); }

// To a counter of stores, of which this process is the only writer: its line is that of one far
// process.
bool OneSided::count(std::uint64_t counter, std::uint64_t bytes) {
  if (counter % sizeof counter != 0 || !in_segment(counter, sizeof counter)) return false;
  std::atomic_ref word(*reinterpret_cast<std::uint64_t*>(router_.segment() + counter));
  // pairs with: whoever reads the counter, and then what was stored
  word.store(word.load(std::memory_order_relaxed) + bytes, std::memory_order_release);
  return true;
}

}  // namespace am
