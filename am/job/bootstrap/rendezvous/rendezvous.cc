#include "am/job/bootstrap/rendezvous/rendezvous.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/packing.h"
#include "am/job/bootstrap/rendezvous/messages.h"
#include "am/sodium/sodium.h"

namespace am {
namespace {

// Listens at `here`, at a port that the system chooses, and notes it there. None: that cannot be.
Connection listen_at(SocketAddress& here) {
  auto& any = reinterpret_cast<sockaddr&>(here.bytes);
  Connection listener(socket(any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool listens = listener && bind(listener.fd(), &any, here.length) == 0 &&
                       listen(listener.fd(), static_cast<int>(Relays::kChildren)) == 0 &&
                       getsockname(listener.fd(), &any, &here.length) == 0;
  return listens ? std::move(listener) : Connection();
}

// An address that means the same on every machine, else none.
Door door_of(const SocketAddress& here) {
  Door door{};
  if (here.bytes.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(here.bytes);
    door = {AF_INET, ntohs(address.sin_port), {}};
    std::memcpy(door.address.data(), &address.sin_addr, sizeof address.sin_addr);
  } else if (here.bytes.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(here.bytes);
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) return door;
    door = {AF_INET6, ntohs(address.sin6_port), {}};
    std::memcpy(door.address.data(), &address.sin6_addr, sizeof address.sin6_addr);
  }
  return door;
}

SocketAddress without_port(SocketAddress address) {
  if (address.bytes.ss_family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(address.bytes).sin_port = 0;
  } else if (address.bytes.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6&>(address.bytes).sin6_port = 0;
  }
  return address;
}

// "": it is none.
std::string host_of(const Door& door) {
  char text[INET6_ADDRSTRLEN] = "";
  if (door.family == AF_INET || door.family == AF_INET6) {
    inet_ntop(door.family, door.address.data(), text, sizeof text);
  }
  return text;
}

std::vector<Met> meet(const MeetingPlace& place) {
  try {
    if (place.size > 1) Sodium::get();
  } catch (const Error& error) {
    throw Error(meeting_prefix(place.where, place.rank) + error.what());
  }
  if (place.rank == 0) return meet_others(place);
  std::vector<Met> met;
  met.push_back({0, meet_first(place)});
  return met;
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Zeros where that is none.
template <class T>
T value_of(std::span<const std::byte> bytes) {
  T value{};
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Relays Relays::star(Rank me, std::uint32_t size) {
  return {0, me == 0 ? Awaited{1, size - 1} : Awaited{0, 0}};
}

Relays Relays::tree(Rank me, std::uint32_t size) {
  const Rank parent = me == 0 ? 0 : (me - 1) / kChildren;
  const std::uint64_t first = std::uint64_t{me} * kChildren + 1;
  if (first >= size) return {parent, {0, 0}};
  const auto begin = static_cast<Rank>(first);
  return {parent, {begin, std::min(kChildren, size - begin)}};
}

bool Door::is_loopback() const {
  if (family == AF_INET) return address[0] == std::byte{127};
  std::array<std::byte, 16> one{};
  one.back() = std::byte{1};
  return address == one;
}

bool can_meet(std::span<const Door> doors) {
  return std::ranges::all_of(doors, [&](const Door& door) {
    return door.family != 0 && door.family == doors.front().family &&
           door.is_loopback() == doors.front().is_loopback();
  });
}

RelayMeeting::RelayMeeting(const MeetingPlace& place, const SocketAddress& here)
    : place_(place), relays_(Relays::tree(place.rank, place.size)) {
  SocketAddress address = without_port(here);
  const bool needs_door = relays_.children.count > 0;
  if (needs_door) listener_ = listen_at(address);
  if (!needs_door || listener_) door_ = door_of(address);
}

std::optional<std::vector<Met>> RelayMeeting::meet(const Door& parent) {
  std::vector<Met> all;
  try {
    if (relays_.parent != 0) {
      place_.where.host = host_of(parent);
      place_.where.port = std::to_string(parent.port);
      all.push_back({relays_.parent, meet_first(place_)});
    }
    if (relays_.children.count > 0) {
      place_.where.host = host_of(door_);
      place_.where.port = std::to_string(door_.port);
      for (Met& met : meet_others(place_, std::move(listener_), relays_.children)) {
        all.push_back(std::move(met));
      }
    }
  } catch (const Error&) {
    return std::nullopt;  // rank 0 does it then
  }
  return all;
}

BootstrapRendezvous::BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                                         std::chrono::milliseconds patience)
    : rank_(rank),
      size_(size),
      relays_(Relays::star(rank, size)),
      watch_(rank, size, meet({where, rank, size, std::chrono::steady_clock::now() + patience})) {
  barrier();  // nobody can fail before all are there to be told
  if (size > Relays::kStar) {
    join_relays({where, rank, size, std::chrono::steady_clock::now() + patience / 3});
  }
  if (size_ == 1) return;
  expect_no_exit([this](int code) {
    const std::string sentence = early_exit_sentence(rank_, code);
    if (code <= 0) print_sentence(sentence);
    watch_.end_others(code <= 0 ? 1 : code, sentence);
  });
}

BootstrapRendezvous::~BootstrapRendezvous() {
  if (finished_ || size_ == 1) return;
  // The others notice that the connections close.
  expect_no_exit([rank = rank_](int code) {
    if (code <= 0) print_sentence(early_exit_sentence(rank, code));
  });
}

// Makes the connections of the tree, which all use then, or nobody.
void BootstrapRendezvous::join_relays(const MeetingPlace& place) {
  std::optional<std::vector<Met>> met;
  if (rank_ == 0) {
    door_of_parent({});
    met.emplace();
  } else {
    RelayMeeting meeting(place, watch_.here(0));
    const Door parent = door_of_parent(meeting.door());
    if (parent.family != 0) met = meeting.meet(parent);
  }
  if (!passes(met.has_value())) return;
  watch_.add(std::move(*met));
  relays_ = Relays::tree(rank_, size_);
}

// Where the process is that this one's parent is in the tree. Its family is 0 if there is to be no
// tree.
Door BootstrapRendezvous::door_of_parent(const Door& mine) {
  const auto blobs = collect(bytes_of(mine));
  if (rank_ != 0) return value_of<Door>(watch_.receive(0).bytes);
  std::vector<Door> doors;
  doors.reserve(blobs.size());
  for (const auto& blob : blobs) doors.push_back(value_of<Door>(blob));
  const bool possible = can_meet(std::span(doors).subspan(1));
  doors[0] = doors[1];  // of those that have a connection to it already
  for (Rank rank = 1; rank < size_; ++rank) {
    const Door parent = possible ? doors[Relays::tree(rank, size_).parent] : Door{};
    watch_.send(rank, FrameKind::kAll, bytes_of(parent));
  }
  return {};
}

// Whether it is true for all.
bool BootstrapRendezvous::passes(bool mine) {
  const auto others = collect(bytes_of(mine));
  const bool all = std::ranges::all_of(others, [](const auto& one) { return value_of<bool>(one); });
  const auto verdict = bytes_of(all);
  return value_of<bool>(spread({verdict.begin(), verdict.end()}));
}

std::vector<std::vector<std::byte>> BootstrapRendezvous::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  Packer packer;
  for (const std::vector<std::byte>& blob : collect(mine)) packer.add(blob);
  auto all = unpack(spread(packer.take()), size_);
  if (!all) {
    throw Error("rank " + std::to_string(rank_) + ": what rank 0 sent of the others is damaged");
  }
  return std::move(*all);
}

// At rank 0 what all say, by rank; elsewhere nothing.
std::vector<std::vector<std::byte>> BootstrapRendezvous::collect(std::span<const std::byte> mine) {
  if (rank_ != 0) {
    watch_.send(0, FrameKind::kMine, mine);
    return {};
  }
  std::vector<std::vector<std::byte>> all;
  all.emplace_back(mine.begin(), mine.end());
  for (Rank rank = 1; rank < size_; ++rank) {
    all.push_back(watch_.receive(rank).bytes);
    if (all.back().size() > kMaxBlob) {
      throw Error("rank 0: what rank " + std::to_string(rank) + " sent is damaged");
    }
  }
  return all;
}

// What rank 0 has said to all.
std::vector<std::byte> BootstrapRendezvous::spread(std::vector<std::byte> said) {
  if (rank_ != 0) said = watch_.receive(relays_.parent).bytes;
  const Awaited& children = relays_.children;
  for (std::uint32_t i = 0; i < children.count; ++i) {
    watch_.send(children.first + i, FrameKind::kAll, said);
  }
  return said;
}

void BootstrapRendezvous::barrier() {
  collect({});
  spread({});
}

void BootstrapRendezvous::finished() {
  watch_.finish();
  finished_ = true;
  permit_exit();
}

void BootstrapRendezvous::report_abort(int exit_code, std::string_view sentence) {
  print_sentence(sentence);
  watch_.end_others(exit_code, sentence);
}

}  // namespace am
