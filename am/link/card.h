// By what a process lets others find it: a fixed part that each kind of link defines,
// and then the network address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace am::link {

// The checksum of two ranges of bytes, one after the other: enough to notice a card that was cut or
// overwritten by accident (FNV-1a), but no protection from attackers.
inline std::uint32_t checksum(std::span<const std::byte> first,
                              std::span<const std::byte> second) noexcept {
  std::uint32_t hash = 2166136261u;
  const auto add = [&hash](std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  };
  add(first);
  add(second);
  return hash;
}

// One behind the other. (Not inline: g++ 12 warns of a copy that wraps around where it knows one of
// the sizes.)
std::vector<std::byte> joined(std::span<const std::byte> first, std::span<const std::byte> second);

// A `Card` is trivially copyable without padding, and has `kMagic`, `magic`, `address_bytes` and
// `check`, the last of which covers the whole card and the address. Fills those three in.
template <class Card>
std::vector<std::byte> pack_card(Card card, std::span<const std::byte> address) {
  static_assert(std::has_unique_object_representations_v<Card>);
  card.magic = Card::kMagic;
  card.address_bytes = static_cast<std::uint32_t>(address.size());
  card.check = 0;
  card.check = checksum(std::as_bytes(std::span(&card, 1)), address);
  return joined(std::as_bytes(std::span(&card, 1)), address);
}

// What is wrong with a card that another process has sent.
struct CardFault {
  std::string what = {};    // "is damaged"; "": nothing
  bool other_kind = false;  // it may be a good one of another kind of link
};

// Reads `card`, and the address, which has `own_address_bytes` at every process of a job. What it
// gives is good only if there is no fault.
template <class Card>
CardFault unpack_card(std::span<const std::byte> bytes, std::size_t own_address_bytes, Card& card,
                      std::span<const std::byte>& address) {
  if (bytes.size() < sizeof card) {
    return {"has " + std::to_string(bytes.size()) + " bytes, too few to be one", true};
  }
  std::memcpy(&card, bytes.data(), sizeof card);
  address = bytes.subspan(sizeof card);
  if (card.magic != Card::kMagic || card.address_bytes != address.size()) {
    return {"is cut off, or is none of this kind of network", true};
  }
  if (address.size() != own_address_bytes) {
    return {"has " + std::to_string(address.size()) + " bytes where this process's has " +
                std::to_string(own_address_bytes) + ", so it is of another provider",
            true};
  }
  const std::uint32_t check = std::exchange(card.check, 0);
  if (check != checksum(std::as_bytes(std::span(&card, 1)), address)) return {"is damaged"};
  return {};
}

}  // namespace am::link
