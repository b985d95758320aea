// Frames as the network delivers them.
#include <algorithm>

#include "am/link/fabric/incoming.h"
#include "tests/am/fuzz/append_packets.h"
#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {
namespace {

using link::FrameHeader;
using link::Incoming;
using link::PacketHeader;

constexpr std::uint64_t kToken = 0x0123456789abcdef;
constexpr std::uint32_t kProcesses = 4;
constexpr std::uint32_t kWindow = 8;

Bytes frame(Rank source, std::uint32_t number, std::initializer_list<std::uint16_t> packets) {
  Bytes bytes = bytes_of(FrameHeader{kToken, source, number});
  append_packets(bytes, packets);
  return bytes;
}

}  // namespace

const int kUsualCases = 300'000;

std::vector<Records> valid_inputs() {
  return {{frame(1, 1, {8, 16, 4096}), frame(2, 1, {8}), frame(1, 2, {}), frame(2, 2, {24, 8})},
          {frame(3, 2, {8}), frame(3, 4, {16}), frame(3, 3, {8, 8}), frame(3, 1, {32}),
           frame(3, 5, {8})}};
}

bool decode(const Records& input) {
  Incoming incoming(kToken, kProcesses, kWindow);
  std::uint32_t opened[kProcesses] = {};
  for (const Bytes& bytes : input) {
    // With memory of its own, so that a sanitizer sees what lies beside it.
    const std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
    auto* const at = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(words.data()));
    std::ranges::copy(bytes, at);
    const Incoming::Opened how = incoming.open({at, bytes.size()});
    if (how == Incoming::Opened::kTwice || how == Incoming::Opened::kStranger) {
      require(incoming.finished());
      return false;
    }
    if (how == Incoming::Opened::kEarly) continue;
    do {
      const Rank source = incoming.source();
      require(source < kProcesses && incoming.received(source) == ++opened[source]);
      while (!incoming.finished()) {
        const PacketHeader* const packet = incoming.packet();
        if (packet == nullptr) return false;
        require(packet->bytes >= sizeof *packet && packet->bytes % 8 == 0);
        const auto* const first = reinterpret_cast<const std::byte*>(packet);
        require(Bytes(first, first + packet->bytes).size() == packet->bytes);  // all can be read
        incoming.skip(*packet);
      }
    } while (incoming.open_early());
  }
  return !incoming.waits();
}

}  // namespace am::fuzz
