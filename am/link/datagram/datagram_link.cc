#include "am/link/datagram/datagram_link.h"

#include <algorithm>
#include <utility>

#include "am/link/card.h"
#include "am/link/in_flight.h"
#include "am/sodium/sodium.h"
#include "am/types/clock.h"
#include "rdma/error.h"

namespace am::link {
namespace {

// Of datagrams that have come before others that were sent earlier, in all.
constexpr std::size_t kEarlyBytes = std::size_t{6} << 20;
// A process that does not read the network for so long computes, or sleeps: a few times as long as
// a poll may take, less than a time slice.
constexpr std::int64_t kPauseNs = 1'000'000;

template <class T>
T random_bytes() {
  T value{};
  Sodium::get().random_bytes(&value, sizeof value);
  return value;
}

window::Options window_options(const DatagramLink::Options& options) {
  window::Options result = options.window;
  result.rank = options.rank;
  result.incarnation = random_bytes<std::uint32_t>();
  return result;
}

}  // namespace

// Followed by the address.
struct DatagramLink::Card {
  static constexpr std::uint32_t kMagic = 0x6d726764;  // "dgrm"

  std::uint32_t magic = 0;
  std::uint32_t address_bytes = 0;
  window::Seal::Key key = {};
  std::uint32_t incarnation = 0;
  std::uint32_t datagram_bytes = 0;
  std::uint32_t unused = 0;
  std::uint32_t check = 0;
};

DatagramLink::DatagramLink(std::unique_ptr<rdma::Fabric> fabric, const Options& options)
    : options_(options),
      fabric_(std::move(fabric)),
      window_options_(window_options(options)),
      gather_ticks_(ticks_of_ns(kGatherNs)),
      pause_ticks_(ticks_of_ns(kPauseNs)),
      endpoint_(*fabric_, options.endpoint, window::kMinDatagram),
      address_bytes_(endpoint_.address().size()),
      seal_(Sodium::get().shorthash, random_bytes<window::Seal::Key>(), endpoint_.datagram_bytes()),
      outgoing_(
          [this](std::size_t bytes) {
            const auto made = std::make_shared<rdma::Buffers>(endpoint_.make_buffers(bytes));
            return window::SlotPool::Slab{made->all(), made->descriptor(), made};
          },
          endpoint_.datagram_bytes(), window::SlotPool::kNoLimit, endpoint_.headroom()),
      early_(
          [](std::size_t bytes) {
            const std::shared_ptr<std::byte[]> made =
                std::make_shared_for_overwrite<std::byte[]>(bytes);
            return window::SlotPool::Slab{{made.get(), bytes}, nullptr, made};
          },
          endpoint_.datagram_bytes(), kEarlyBytes),
      shared_{window_options_, outgoing_, early_, staging_, counters_},
      routes_(options.size) {
  if (options.faults.any()) faults_.emplace(options.faults, options.rank);
  bare_ = outgoing_.take(endpoint_.datagram_bytes());
  share_room();
  can_.emulated = true;
  // There is nothing else: what is this short need not wait for an answer to what is ahead of it.
  can_.packet_write = 65'536;
  can_.wait_fd = endpoint_.wait_fd();
  can_.description = describe();
}

DatagramLink::~DatagramLink() = default;

std::vector<std::byte> DatagramLink::card() const {
  return pack_card(Card{.key = seal_.key(),
                        .incarnation = window_options_.incarnation,
                        .datagram_bytes = static_cast<std::uint32_t>(endpoint_.datagram_bytes())},
                   endpoint_.address());
}

void DatagramLink::introduce(Rank rank, std::span<const std::byte> bytes) {
  const auto refuse = [this, rank](const std::string& what, const char* remedy) {
    throw Error("rank " + std::to_string(options_.rank) + ": the network address of rank " +
                std::to_string(rank) + " " + what + "; " + remedy);
  };
  constexpr const char* kAgain = "the exchange of addresses was disturbed: start the job again";
  constexpr const char* kSame = "give every process the same SPLITC_LINK and SPLITC_PROVIDER";
  Card card{};
  std::span<const std::byte> address;
  const CardFault fault = unpack_card(bytes, address_bytes_, card, address);
  if (!fault.what.empty()) refuse(fault.what, fault.other_kind ? kSame : kAgain);
  if (card.datagram_bytes < window::kMinDatagram) {
    refuse("is for datagrams of " + std::to_string(card.datagram_bytes) + " bytes", kAgain);
  }
  auto made = std::make_unique<Route>();
  made->rank = rank;
  try {
    made->address = endpoint_.insert(address);
  } catch (const rdma::Error& error) {
    refuse(std::string("cannot be used: ") + error.what(), kAgain);
  }
  const std::size_t most =
      std::min<std::size_t>(endpoint_.route_bytes(made->address), card.datagram_bytes / 8 * 8);
  made->peer.emplace(shared_, card.incarnation,
                     window::Seal(Sodium::get().shorthash, card.key, endpoint_.datagram_bytes()),
                     std::max(most, window::kMinDatagram));
  routes_[rank] = std::move(made);
}

bool DatagramLink::try_access(const RmaAccess&, Completion&) {
  throw Error("rank " + std::to_string(options_.rank) + ": try_access: the network has no RMA (" +
              can_.description + ")");
}

std::string DatagramLink::describe() const {
  return "datagrams of " + std::to_string(endpoint_.datagram_bytes()) + " B by " +
         endpoint_.describe() + ", sealed, window of " + std::to_string(window::kWindow) +
         ", room for " + std::to_string(room_bytes() / 1024) + " KiB at the receiver" +
         (faults_ ? ", with faults as SPLITC_FAULT says" : "");
}

}  // namespace am::link
