// Packets of all kinds, as they come to a process that has asked for many of them.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "am/types/types.h"
#include "tests/am/fuzz/fuzz.h"
#include "tests/am/fuzz/world.h"

namespace am::fuzz {
namespace {

// How a record begins; the packet follows. A record without one lets the process poll.
struct Head {
  std::uint32_t way;  // index of kWays, in the first record
  Rank from;
};

constexpr FakeLinkOptions kWays[] = {{.rma = true, .in_order = true, .emulated = false},
                                     {.rma = true, .in_order = false, .emulated = false},
                                     {.rma = true, .in_order = true, .emulated = true},
                                     {.rma = false, .in_order = false, .emulated = true}};
constexpr std::uint32_t kWayCount = std::size(kWays);
constexpr Rank kMe = 0, kPeer = 1, kOther = 2;

// What the other process is called, which is the same in every conversation but for random words.
World::Names& names_of_peer(std::uint32_t way) {
  static World::Names names[kWayCount];
  return names[way];
}

Bytes record_of(std::uint32_t way, std::span<const std::byte> packet) {
  Bytes record = bytes_of(Head{way, kPeer});
  record.insert(record.end(), packet.begin(), packet.end());
  return record;
}

// Two processes talk until nothing more comes; returns what one of them has heard.
Records converse(std::uint32_t way) {
  World me(kMe, kWays[way]), peer(kPeer, kWays[way]);
  names_of_peer(way) = peer.names();
  me.talk_to(kPeer, peer.names());
  peer.talk_to(kMe, me.names());
  Records heard;
  for (int quiet = 0; quiet < 20;) {
    ++quiet;
    heard.push_back(record_of(way, {}));
    me.step(kPeer, {});
    peer.step(kMe, {});
    for (auto* const sender : {&peer, &me}) {
      while (!sender->link().sent().empty()) {
        quiet = 0;
        const FakeLink::Packet packet = sender->link().sent().front();
        sender->link().sent().pop_front();
        if (sender == &peer) heard.push_back(record_of(way, packet.bytes));
        (sender == &peer ? me : peer).step(sender == &peer ? kPeer : kMe, packet.bytes);
      }
    }
  }
  return heard;
}

}  // namespace

const int kUsualCases = 6'000;

std::vector<Records> valid_inputs() {
  std::vector<Records> all;
  for (std::uint32_t way = 0; way < kWayCount; ++way) all.push_back(converse(way));
  return all;
}

bool decode(const Records& input) {
  if (input.empty()) return true;
  const std::uint32_t way = value_of<Head>(input[0]).way % kWayCount;
  if (names_of_peer(way).whole.magic == 0) converse(way);
  World world(kMe, kWays[way]);
  world.talk_to(kPeer, names_of_peer(way));
  for (const Bytes& record : input) {
    const Rank from = value_of<Head>(record).from % 2 == kPeer ? kPeer : kOther;
    const auto packet = std::span(record).subspan(std::min(record.size(), sizeof(Head)));
    const std::size_t says = value_of<link::PacketHeader>(packet).bytes;
    if (!packet.empty() &&
        (says < sizeof(link::PacketHeader) || says % 8 != 0 || says > packet.size())) {
      return false;  // the link refuses it (frames.cc)
    }
    try {
      world.step(from, packet.first(packet.empty() ? 0 : says));
    } catch (const Refused&) {
      return false;
    } catch (const Error&) {
      return false;
    }
  }
  return true;
}

}  // namespace am::fuzz
