#include "tests/am/link/forwarder/forwarder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

#include "am/types/clock.h"

namespace am::link::test {
namespace {

constexpr std::size_t kLongest = 65'536;  // bytes, of an IP packet
constexpr int kTurn = 64;                 // packets of one side before it is the other's turn

int make_event() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

timespec after(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
}

}  // namespace

Forwarder::Forwarder(int left, int right, const Weather& weather)
    : cables_{left, right}, stop_(make_event()), path_(weather), thread_([this] { run(); }) {}

Forwarder::~Forwarder() {
  if (thread_.joinable()) stop();
  close(stop_);
}

const Path::Stats& Forwarder::stop() {
  eventfd_write(stop_, 1);
  thread_.join();
  return path_.stats();
}

void Forwarder::take_all(unsigned from, std::span<std::byte> memory) {
  for (int i = 0; i < kTurn; ++i) {
    const ssize_t got = read(cables_[from], memory.data(), memory.size());
    if (got <= 0) return;
    path_.accept(from, memory.first(static_cast<std::size_t>(got)), now_ns());
  }
}

void Forwarder::run() {
  std::vector<std::byte> memory(kLongest);
  pollfd watched[] = {{.fd = stop_, .events = POLLIN, .revents = 0},
                      {.fd = cables_[0], .events = POLLIN, .revents = 0},
                      {.fd = cables_[1], .events = POLLIN, .revents = 0}};
  while (watched[0].revents == 0) {
    for (const unsigned side : {0U, 1U}) take_all(side, memory);
    path_.release(now_ns(), [this](unsigned from, std::span<const std::byte> packet) {
      // One that finds no room is lost, as anywhere.
      [[maybe_unused]] const ssize_t n = write(cables_[1 - from], packet.data(), packet.size());
    });
    const std::int64_t next = path_.next_ns();
    const timespec wait = after(std::max<std::int64_t>(next - now_ns(), 0));
    ppoll(watched, std::size(watched), next < 0 ? nullptr : &wait, nullptr);
  }
}

}  // namespace am::link::test
