#include "am/far/transfers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/types/shared_words.h"

namespace am {

void Transfers::start_copy(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                           std::span<const std::byte> packet) {
  if (try_by_packets(to, offset, data, packet)) return;
  Transfer& transfer = take(to, offset, packet);
  try {
    transfer.data = transfer.copy_of(data);
  } catch (...) {  // no memory: nothing is owed
    give_back(transfer);
    throw;
  }
  begin(transfer);
}

void Transfers::start_swap(Rank to, std::uint64_t offset, std::vector<std::byte>& data,
                           std::span<const std::byte> packet) {
  if (try_by_packets(to, offset, data, packet)) return clear_kept(data);
  Transfer& transfer = take(to, offset, packet);
  transfer.copy.swap(data);
  transfer.data = transfer.copy;
  begin(transfer);
}

void Transfers::start(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                      std::span<const std::byte> packet, bool& released) {
  if (try_by_packets(to, offset, data, packet)) return release(released);
  Transfer& transfer = take(to, offset, packet);
  transfer.data = data;
  transfer.released = &released;
  begin(transfer);
}

void Transfers::start(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                      std::span<const std::byte> packet, link::Completion& completion) {
  if (try_by_packets(to, offset, data, packet)) return link::complete(completion);
  Transfer& transfer = take(to, offset, packet);
  transfer.data = data;
  transfer.completion = &completion;
  begin(transfer);
}

bool Transfers::try_by_packets(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                               std::span<const std::byte> packet) {
  if (data.size() > one_sided_.sizes().before_packet || goes_together(to, data.size())) {
    return false;
  }
  one_sided_.write_by_packets(to, offset, data);
  link_.send(to, packet);
  return true;
}

Transfers::Transfer& Transfers::take(Rank to, std::uint64_t offset,
                                     std::span<const std::byte> packet) {
  Transfer& transfer = transfers_.take([this](Transfer& made, std::uint32_t) {
    made.owner = this;
    made.done = &written;
  });
  transfer.free = false;
  transfer.packet_sent = false;
  transfer.to = to;
  transfer.offset = offset;
  transfer.packet_bytes = static_cast<std::uint32_t>(packet.size());
  std::memcpy(transfer.packet.data(), packet.data(), packet.size());
  return transfer;
}

bool Transfers::try_together(Rank to, std::uint64_t offset, std::span<const std::byte> data,
                             std::span<const std::byte> packet, bool* released) {
  Transfer& transfer = take(to, offset, packet);
  transfer.released = released;
  transfer.data = data;
  try {
    if (released == nullptr) transfer.data = transfer.copy_of(data);
    if (try_together(transfer)) return true;
  } catch (...) {  // no memory: nothing is owed
    transfer.released = nullptr;
    give_back(transfer);
    throw;
  }
  transfer.released = nullptr;
  give_back(transfer);
  return false;
}

bool Transfers::try_together(Transfer& transfer) {
  transfer.packet_sent = true;  // it may be done at once
  const auto write = link::RmaAccess::with_packet(
      transfer.to, link::RemoteKey::in_segment(transfer.offset), transfer.data,
      std::span(transfer.packet).first(transfer.packet_bytes));
  if (goes_together(transfer.to, transfer.data.size()) && link_.try_access(write, transfer)) {
    return true;
  }
  transfer.packet_sent = false;
  return false;
}

bool Transfers::try_start(Transfer& transfer) {
  if (try_together(transfer)) return true;
  const bool in_order = one_sided_.writes_before_packets(transfer.data.size());
  const auto write = link::RmaAccess::write(
      transfer.to, link::RemoteKey::in_segment(transfer.offset), transfer.data, in_order);
  if (!in_order) return one_sided_.try_access(write, transfer);
  // By the network itself: what packets of OneSided carry may still wait when the packet leaves.
  if (!link_.try_access(write, transfer)) return false;
  send_packet(transfer);
  return true;
}

void Transfers::begin(Transfer& transfer) {
  if (!try_start(transfer)) waiting_.push_back(&transfer);
}

void Transfers::send_packet(Transfer& transfer) {
  link_.send(transfer.to, std::span(transfer.packet).first(transfer.packet_bytes));
  transfer.packet_sent = true;
}

void Transfers::written(link::Completion& completion) {
  auto& transfer = static_cast<Transfer&>(completion);
  Transfers& owner = *transfer.owner;
  if (!transfer.packet_sent) owner.send_packet(transfer);
  if (transfer.released != nullptr) release(*transfer.released);
  transfer.released = nullptr;
  link::Completion* const waiting = std::exchange(transfer.completion, nullptr);
  owner.give_back(transfer);
  if (waiting != nullptr) link::complete(*waiting);
}

void Transfers::give_back(Transfer& transfer) noexcept {
  clear_kept(transfer.copy);
  transfer.free = true;
  transfers_.give_back(transfer);
}

void Transfers::resume() {
  // A target that has no room delays only what goes there.
  std::vector<Rank> full;
  std::erase_if(waiting_, [&](Transfer* one) {
    if (std::ranges::find(full, one->to) != full.end()) return false;
    if (try_start(*one)) return true;
    full.push_back(one->to);
    return false;
  });
}

bool Transfers::owes(Rank to) const noexcept {
  return std::ranges::any_of(transfers_, [to](const Transfer& one) {
    return !one.free && one.to == to && !one.packet_sent;
  });
}

}  // namespace am
