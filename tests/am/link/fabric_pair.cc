#include "tests/am/link/fabric_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>

namespace am::link::test {
namespace {

constexpr std::size_t kCardHead = offsetof(CardParts, address);

}  // namespace

std::unique_ptr<rdma::Fabric> open_fabric(const std::string& provider, bool local_keys) {
  const rdma::FabricOptions options{
      .provider = provider, .one_host = true, .claim_local_keys = local_keys};
  const auto ways = rdma::Fabric::candidates(options);
  return std::make_unique<rdma::Fabric>(options, ways.front().way);
}

Side::Side(const std::string& provider, Rank rank, const Options& options)
    : segment_(static_cast<std::byte*>(::operator new (kSegment, std::align_val_t{4096}))) {
  std::ranges::fill(segment(), std::byte{0});
  link_ = std::make_unique<FabricLink>(
      open_fabric(provider, options.local_keys),
      FabricLink::Options{
          .rank = rank,
          .size = 4,
          .peers = 3,
          .segment = segment(),
          .use_rma = options.use_rma,
          .longest_access = options.longest_access,
          .fatal = [](const std::string& sentence) { throw Fatal(sentence); },
          .warn = [this](const std::string& sentence) { warnings_.push_back(sentence); },
          .longest_gap_ns = options.longest_gap_ns});
}

void Side::send(Rank to, std::uint64_t number, std::uint16_t bytes, Type type, bool more) {
  send_numbered(*link_, to, number, bytes, type, more);
}

void Side::deliver(Rank, const PacketHeader& packet) {
  const std::uint64_t number = number_of(packet);
  numbers_.push_back(number);
  if (on_packet) on_packet(number);
}

Pair::Pair(const std::string& provider, const Side::Options& options)
    : a(provider, 0, options), b(provider, 1, options) {
  a.link().introduce(1, b.link().card());
  b.link().introduce(0, a.link().card());
}

CardParts parts_of(std::span<const std::byte> card) {
  CardParts parts{};
  std::memcpy(static_cast<void*>(&parts), card.data(), kCardHead);
  parts.address.assign(card.begin() + kCardHead, card.end());
  return parts;
}

std::vector<std::byte> make_card(CardParts parts) {
  parts.address_bytes = static_cast<std::uint32_t>(parts.address.size());
  parts.check = 0;
  std::vector<std::byte> card(kCardHead);
  std::memcpy(card.data(), &parts, kCardHead);
  card.insert(card.end(), parts.address.begin(), parts.address.end());
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const std::byte b : card) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  std::memcpy(card.data() + offsetof(CardParts, check), &hash, sizeof hash);
  return card;
}

}  // namespace am::link::test
