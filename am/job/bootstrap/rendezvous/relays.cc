#include "am/job/bootstrap/rendezvous/relays.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

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

}  // namespace am
