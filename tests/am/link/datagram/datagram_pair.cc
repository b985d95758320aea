#include "tests/am/link/datagram/datagram_pair.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "rdma/open_fabric.h"

namespace am::link::test {
namespace {

// How a card of DatagramLink begins.
struct CardHead {
  std::uint32_t magic;
  std::uint32_t address_bytes;
  std::array<unsigned char, 16> key;
  std::uint32_t incarnation;
  std::uint32_t datagram_bytes;
  std::uint32_t unused;
  std::uint32_t check;
};

std::unique_ptr<rdma::Fabric> open_fabric(bool no_inject) {
  const rdma::FabricOptions options{
      .one_host = true, .datagrams = true, .claim_no_inject = no_inject};
  return std::make_unique<rdma::Fabric>(options, rdma::Fabric::candidates(options).front().way);
}

}  // namespace

Side::Side(Rank rank, const Options& options) {
  link_ = std::make_unique<DatagramLink>(
      open_fabric(options.no_inject),
      DatagramLink::Options{
          .rank = rank,
          .size = 2,
          .fatal = [](const std::string& sentence) { throw Fatal(sentence); },
          .warn = [this](const std::string& sentence) { warnings_.push_back(sentence); },
          .faults = options.faults,
          .window = options.window,
          .endpoint = {.socket = options.socket}});
}

void Side::send(Rank to, std::uint64_t number, std::uint16_t bytes, Type type, bool more) {
  send_numbered(*link_, to, number, bytes, type, more);
}

void Side::deliver(Rank, const PacketHeader& packet) {
  const std::uint64_t number = number_of(packet);
  numbers_.push_back(number);
  if (on_packet) on_packet(number);
}

Pair::Pair(const Side::Options& of_a, const Side::Options& of_b) : a(0, of_a), b(1, of_b) {
  a.link().introduce(1, b.link().card());
  b.link().introduce(0, a.link().card());
}

std::span<const std::byte> address_in(std::span<const std::byte> card) {
  return card.subspan(sizeof(CardHead));
}

std::vector<std::byte> with_address(std::span<const std::byte> card,
                                    std::span<const std::byte> address) {
  CardHead head{};
  std::memcpy(&head, card.data(), sizeof head);
  head.address_bytes = static_cast<std::uint32_t>(address.size());
  head.check = 0;
  std::vector<std::byte> made(sizeof head + address.size());
  std::memcpy(made.data(), &head, sizeof head);
  std::ranges::copy(address, std::span(made).subspan(sizeof head).begin());
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const std::byte b : made) hash = (hash ^ static_cast<std::uint32_t>(b)) * 16777619u;
  std::memcpy(made.data() + offsetof(CardHead, check), &hash, sizeof hash);
  return made;
}

Middle::Middle(std::span<const std::byte> to)
    : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      to_(to.begin(), to.end()) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    throw std::runtime_error("cannot bind a socket");
  }
}

Middle::~Middle() { close(fd_); }

std::vector<std::byte> Middle::address() const {
  std::vector<std::byte> bytes(sizeof(sockaddr_in));
  socklen_t length = sizeof(sockaddr_in);
  getsockname(fd_, reinterpret_cast<sockaddr*>(bytes.data()), &length);
  return bytes;
}

std::vector<std::byte> Middle::take() {
  std::vector<std::byte> bytes(65'536);
  const ssize_t got = recv(fd_, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

void Middle::send(std::span<const std::byte> bytes) {
  (void)sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(to_.data()),
               static_cast<socklen_t>(to_.size()));
}

}  // namespace am::link::test
