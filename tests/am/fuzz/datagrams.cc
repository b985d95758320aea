// Datagrams as the network delivers them, with the right seal: what a process of the job that is
// wrong, or built from something else, could send. Those without it are dropped before anything of
// them is read (tests/am/link/datagram/window/wire_test.cc).
#include <cstring>
#include <memory>

#include "am/link/datagram/window/peer.h"
#include "tests/am/fuzz/append_packets.h"
#include "tests/am/fuzz/fuzz.h"
#include "tests/am/link/datagram/window/test_seal.h"

namespace am::fuzz {
namespace {

using link::PacketHeader;
using link::window::Datagram;
using link::window::DatagramHeader;
using link::window::Decoded;
using link::window::Peer;
using link::window::Slot;
using link::window::SlotPool;
using link::window::Stream;

constexpr std::uint32_t kIncarnation = 7;
constexpr std::size_t kDatagram = 1472;
constexpr std::uint32_t kSent = 16;  // datagrams that the process has sent before
const link::window::Seal kSeal = link::window::test_seal(0xfeed);

Bytes datagram(std::uint32_t number, std::uint32_t ack, std::uint64_t selective,
               std::initializer_list<std::uint16_t> packets, std::uint8_t flags = 0) {
  DatagramHeader header{};
  header.source = 1;
  header.incarnation = kIncarnation;
  header.number = number;
  header.ack = ack;
  header.selective[0] = selective;
  header.sent_ns = 1'000'000 + number;
  header.echo_ns = 1'000 + ack;
  header.limit = 128;
  header.room = 4'096;
  header.flags = packets.size() != 0 ? flags | DatagramHeader::kData : flags;
  header.flags |= DatagramHeader::kVersion;
  Bytes bytes = bytes_of(header);
  append_packets(bytes, packets);
  return bytes;
}

// A process that has sent something, and takes what comes.
class Victim {
 public:
  Victim() {
    for (std::uint32_t i = 0; i < kSent; ++i) {
      const PacketHeader head = link::make_header(link::Type::kBarrier, 1408);
      std::memcpy(peer_.claim(1408), &head, sizeof head);
      peer_.commit();
    }
    send();
  }

  // False: something of it was refused.
  bool take(const Bytes& bytes) {
    now_ns_ += 10'000;
    Datagram datagram{};
    if (link::window::decode(bytes, kSeal, datagram) != Decoded::kGood) return false;
    const std::uint64_t dropped = refused();
    const auto how = peer_.receive(datagram, now_ns_, true);
    bool good = refused() == dropped;
    if (how == Peer::Received::kDeliver) good = read(datagram.payload) && good;
    while (Slot* const slot = peer_.next_kept()) {
      good = read(slot->payload()) && good;
      early_.give_back(*slot);
    }
    send();
    require(peer_.in_flight() <= link::window::kWindow && peer_.kept() <= link::window::kWindow);
    require(peer_.congestion().window() >= 1 &&
            peer_.congestion().window() <= link::window::kWindow);
    return good && !damaged_;
  }

 private:
  std::uint64_t refused() const {
    return counters_.old + counters_.stale + counters_.malformed + counters_.beyond +
           counters_.no_room;
  }
  bool read(std::span<const std::byte> payload) {
    if (damaged_) return false;  // a link ends the job here
    Stream& stream = peer_.stream();
    stream.open(payload);
    for (;;) {
      const Stream::Next next = stream.next();
      if (next == Stream::Next::kEnd) return true;
      if (next == Stream::Next::kDamaged) {
        damaged_ = true;
        return false;
      }
      const auto* const first = reinterpret_cast<const std::byte*>(&stream.packet());
      const std::size_t size = stream.packet().bytes;
      require(size >= sizeof(PacketHeader) && size % 8 == 0 && size <= link::kMaxPacket);
      require(Bytes(first, first + size).size() == size);  // all can be read
      stream.skip();
    }
  }
  void send() {
    int count = 0;
    while (const auto next = peer_.prepare(now_ns_)) {
      require(++count < 1'000);
      peer_.sent(next, false);
    }
  }
  SlotPool::Source source() {
    return [this](std::size_t bytes) {
      memory_.push_back(std::make_unique<std::byte[]>(bytes));
      return SlotPool::Slab{{memory_.back().get(), bytes}, nullptr};
    };
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  link::window::Options options_{.rank = 0, .incarnation = 3};
  link::window::Counters counters_;
  link::window::Staging staging_;
  SlotPool outgoing_{source(), kDatagram};
  SlotPool early_{source(), kDatagram, 64 * kDatagram};
  link::window::Shared shared_{options_, outgoing_, early_, staging_, counters_};
  Peer peer_{shared_, kIncarnation, kSeal};
  std::int64_t now_ns_ = 1'000;
  bool damaged_ = false;
};

}  // namespace

const int kUsualCases = 30'000;

std::vector<Records> valid_inputs() {
  return {{datagram(1, 1, 0, {8, 16, 1000}), datagram(2, 5, 0, {24, 8}),
           datagram(0, 9, 3, {}, DatagramHeader::kProbe)},
          {datagram(3, 1, 0, {8}), datagram(2, 1, 6, {16}), datagram(4, 3, 0, {8, 8}),
           datagram(1, 4, 0, {32}), datagram(0, 17, 0, {})}};
}

bool decode(const Records& input) {
  Victim victim;
  for (const Bytes& record : input) {
    // With memory of its own, and the seal that it would have.
    Bytes bytes(record);
    if (bytes.size() >= sizeof(DatagramHeader)) {
      auto header = value_of<DatagramHeader>(bytes);
      link::window::encode(bytes, header, kSeal);
    }
    if (!victim.take(bytes)) return false;
  }
  return true;
}

}  // namespace am::fuzz
