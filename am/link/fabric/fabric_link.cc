#include "am/link/fabric/fabric_link.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "am/link/card.h"
#include "am/link/in_flight.h"
#include "am/types/clock.h"
#include "rdma/error.h"

namespace am::link {
namespace {

// Over plain TCP a write is a system call at either end, and so is a packet behind it. The others
// gain less, or lose: `sockets` takes half as long again for 1 KiB.
bool writes_frames(const rdma::Fabric& fabric) {
  return fabric.is_native_tcp() && fabric.puts_in_parts() && fabric.put_data_bits() == 64 &&
         fabric.write_before_send();
}

// Receives that are posted, which arriving frames fill in turn: a window of medium requests and
// their replies. Over TCP, where a frame that finds none waits in its socket, only as many as a
// cache holds: with 32 instead of 128, 20 KiB there and back take 33 us instead of 41, and a flood
// of short messages is 1.5 times as fast. (16 are no faster, and many short ones that wait cost
// more system calls.)
std::size_t received_frames(const rdma::Fabric& fabric, std::uint32_t peers) {
  const bool waits = fabric.is_native_tcp();
  const std::size_t per_peer = waits ? 4 : 16;
  const std::size_t least = waits ? 32 : 128;
  return std::clamp<std::size_t>(peers * per_peer, least, 1024);
}

}  // namespace

std::size_t FabricLink::most_receives() const {
  return received_frames(*fabric_, options_.peers) + kExtraBytes / frame_bytes_;
}

// Followed by the address.
struct FabricLink::Card {
  static constexpr std::uint32_t kMagic = 0x6b6e696c;  // "link"

  std::uint32_t magic = 0;
  std::uint32_t address_bytes = 0;
  std::uint64_t token = 0;
  rdma::RemoteKey segment = {};
  std::uint32_t unused = 0;
  std::uint32_t check = 0;
};

FabricLink::FabricLink(std::unique_ptr<rdma::Fabric> fabric, const Options& options)
    : options_(options),
      fabric_(std::move(fabric)),
      token_(random_word()),
      frame_bytes_(std::max(fabric_->eager_bytes() / 8 * 8, kLeastFrame)),
      longest_access_(std::min(options.longest_access, fabric_->info().ep_attr->max_msg_size)),
      gather_ticks_(ticks_of_ns(kGatherNs)),
      routes_(options.size),
      incoming_(token_, options.size, kFrames.per_peer + 2 * kMaxUnsignaled),
      endpoint_(*fabric_, {.operations = InFlight::most(kFrames, options.peers) +
                                         InFlight::most(kAccesses, options.peers) + most_receives(),
                           .wait_fd = options.sleeps || options.progress_thread ||
                                      fabric_->has_cheap_wait_fd()}),
      frames_(*fabric_, endpoint_, frame_bytes_) {
  if (fabric_->has_rma() && options.use_rma) {
    segment_.emplace(*fabric_, options.segment,
                     FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE, &endpoint_.fid());
  }
  receives_.emplace(*fabric_, endpoint_, received_frames(*fabric_, options.peers), frame_bytes_);
  if (segment_ && writes_frames(*fabric_)) written_.emplace(*fabric_, endpoint_);
  address_bytes_ = endpoint_.address().size();
  known_ = NodeRows(options.size, sizeof(Known) + address_bytes_);
  can_ = abilities();
}

Abilities FabricLink::abilities() {
  Abilities can{
      .frame_bytes = frame_bytes_,
      .keeps_claims = true,
      .wait_fd = endpoint_.wait_fd(),
      .drive = {},
      .description = fabric_->describe() + (written_ ? "; long messages are one write each" : "")};
  if (options_.progress_thread) can.drive = [this] { endpoint_.drive(); };
  can.emulated = !fabric_->is_hardware() && !options_.progress_thread;
  if (!segment_) return can;
  can.rma = true;
  can.ordered_write = fabric_->write_before_send() ? longest_access_ : 0;
  can.notified_write = fabric_->max_put();
  can.word_bits = fabric_->put_data_bits();
  can.registrar = this;
  return can;
}

std::vector<std::byte> FabricLink::card() const {
  return pack_card(Card{.token = token_, .segment = segment_ ? segment_->key() : rdma::RemoteKey{}},
                   endpoint_.address());
}

void FabricLink::introduce(Rank rank, std::span<const std::byte> bytes) {
  const auto refuse = [this, rank](const std::string& what) {
    throw Error("rank " + std::to_string(options_.rank) + ": the network address of rank " +
                std::to_string(rank) + " " + what +
                "; the exchange of addresses was disturbed: start the job again");
  };
  Card card{};
  std::span<const std::byte> address;
  const CardFault fault = unpack_card(bytes, address_bytes_, card, address);
  if (!fault.what.empty()) refuse(fault.what);
  const Known theirs{card.token, {card.segment.base, card.segment.key}};
  known_.set(rank, joined(std::as_bytes(std::span(&theirs, 1)), address));
}

FabricLink::Known FabricLink::known(Rank rank) const noexcept {
  std::array<std::byte, kMaxCard> row;
  known_.read(rank, row);
  Known known{};
  std::memcpy(&known, row.data(), sizeof known);
  return known;
}

std::vector<std::byte> FabricLink::address(Rank rank) const {
  std::vector<std::byte> row(sizeof(Known) + address_bytes_);
  known_.read(rank, row);
  row.erase(row.begin(), row.begin() + sizeof(Known));
  return row;
}

// To a process that is dead, or that address() leads to.
Route& FabricLink::add_route(Rank rank) {
  Route& made = all_routes_.emplace_back();
  const Known theirs = known(rank);
  made.rank = rank;
  made.segment = theirs.segment;
  made.token = theirs.token;
  routes_[rank] = &made;
  return made;
}

Route& FabricLink::make_route(Rank rank) {
  fi_addr_t there = FI_ADDR_UNSPEC;
  try {
    there = endpoint_.insert(address(rank));
  } catch (const rdma::Error& error) {
    give_up("no way to rank " + std::to_string(rank) + ": " + error.what());
  }
  Route& made = add_route(rank);
  made.address = there;
  return made;
}

}  // namespace am::link
