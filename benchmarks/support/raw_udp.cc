#include "benchmarks/support/raw_udp.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "am/am.h"
#include "benchmarks/support/clock.h"

namespace bench {
namespace {

constexpr std::size_t kMessageBytes = 8;
constexpr int kSocketBytes = 4 << 20;

}  // namespace

RawUdp::RawUdp(am::Job& job, Pair& pair)
    : pair_(pair),
      fd_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)),
      buffer_(kDatagram) {
  sockaddr_in mine{};
  mine.sin_family = AF_INET;
  mine.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
  socklen_t length = sizeof mine;
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&mine), sizeof mine) != 0 ||
      getsockname(fd_, reinterpret_cast<sockaddr*>(&mine), &length) != 0) {
    throw std::runtime_error(std::string("raw UDP: no socket: ") + std::strerror(errno));
  }
  const auto all = job.exchange(mine);
  if (job.rank() < 2) other_ = all[pair.other()];
}

RawUdp::~RawUdp() { close(fd_); }

void RawUdp::send(std::size_t bytes) {
  while (sendto(fd_, buffer_.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&other_),
                sizeof other_) < 0) {
    if (errno != EAGAIN) throw std::runtime_error("raw UDP: sendto failed");
  }
}

bool RawUdp::try_receive() {
  sockaddr_in from{};
  socklen_t length = sizeof from;
  return recvfrom(fd_, buffer_.data(), buffer_.size(), 0, reinterpret_cast<sockaddr*>(&from),
                  &length) >= 0;
}

void RawUdp::meet(const std::function<void()>& meanwhile) {
  send(kMessageBytes);
  while (!try_receive()) meanwhile();
}

double RawUdp::round_trip(std::size_t bytes, int times) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    if (pair_.first()) send(bytes);
    receive();
    if (!pair_.first()) send(bytes);
  }
  return watch.ns() / times;
}

double RawUdp::stream(std::size_t bytes, int times) {
  const std::uint64_t datagrams =
      (bytes + kDatagram - 1) / kDatagram * static_cast<std::uint64_t>(times);
  constexpr std::uint64_t kQuarter = kWindow / 4;
  const Stopwatch watch;
  if (!pair_.first()) {
    for (std::uint64_t i = 1; i <= datagrams; ++i) {
      receive();
      if (i % kQuarter == 0 || i == datagrams) send(kMessageBytes);
    }
    return 0;
  }
  std::uint64_t answered = 0;
  for (std::uint64_t i = 0; i < datagrams; ++i) {
    while (i - answered >= kWindow) {
      receive();
      answered += kQuarter;
    }
    send(kDatagram);
  }
  for (; answered < datagrams; answered += kQuarter) receive();
  return watch.ns() / times;
}

}  // namespace bench
