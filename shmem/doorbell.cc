#include "shmem/doorbell.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

#include "shmem/error.h"

namespace shmem {
namespace {

// The kernel names such a socket itself: a zero and five digits. Here, as a number that is not 0.
struct Address {
  sockaddr_un name;
  socklen_t length;
};
constexpr std::size_t kNameBytes = 6;
constexpr socklen_t kNamedLength = offsetof(sockaddr_un, sun_path) + kNameBytes;

Address to_address(std::uint64_t name) noexcept {
  Address address{};
  address.name.sun_family = AF_UNIX;
  address.length = kNamedLength;
  std::memcpy(address.name.sun_path, &name, kNameBytes);
  return address;
}

std::uint64_t to_number(const Address& address) noexcept {
  std::uint64_t name = 0;
  std::memcpy(&name, address.name.sun_path, kNameBytes);
  return name;
}

// Of this process, to send with.
int sender() noexcept {
  static const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  return fd;
}

}  // namespace

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "futex word");

void Doorbell::ring() noexcept {
  // pairs with: about_to_sleep(); of several neighbours one rings.
  if (asleep_.exchange(0, std::memory_order_seq_cst) == 0) return;
  // pairs with: about_to_sleep(), which reads the ticket; sleep() compares it in the kernel.
  rings_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  // pairs with: DoorbellSocket::DoorbellSocket()
  const std::uint64_t name = socket_.load(std::memory_order_acquire);
  if (name == 0) return;
  const Address address = to_address(name);
  const char ring = 0;
  // No room there: rings enough have come already. Nobody there: the owner is leaving.
  sendto(sender(), &ring, sizeof ring, MSG_NOSIGNAL,
         reinterpret_cast<const sockaddr*>(&address.name), address.length);
}

std::uint32_t Doorbell::about_to_sleep() noexcept {
  // The ticket first: a ring that takes back the "asleep" written below then also spoils the
  // ticket. pairs with: ring()
  const std::uint32_t ticket = rings_.load(std::memory_order_seq_cst);
  // pairs with: notify(), through the sleeper's Fence::heavy()
  asleep_.store(1, std::memory_order_seq_cst);
  return ticket;
}

void Doorbell::sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  timespec limit{};
  if (timeout_ns >= 0) {
    limit.tv_sec = timeout_ns / 1'000'000'000;
    limit.tv_nsec = timeout_ns % 1'000'000'000;
  }
  syscall(SYS_futex, &rings_, FUTEX_WAIT, ticket, timeout_ns >= 0 ? &limit : nullptr, nullptr, 0);
}

DoorbellSocket::DoorbellSocket(Doorbell& bell)
    : bell_(bell), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  Address address{};
  address.name.sun_family = AF_UNIX;
  address.length = sizeof address.name;
  const bool made =
      fd_ >= 0 &&
      bind(fd_, reinterpret_cast<sockaddr*>(&address.name), sizeof address.name.sun_family) == 0 &&
      getsockname(fd_, reinterpret_cast<sockaddr*>(&address.name), &address.length) == 0 &&
      address.length == kNamedLength;
  if (!made) {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    throw Error(std::string("cannot make a socket to be woken by neighbours (") +
                std::strerror(error) + "); raise the limit of open files (ulimit -n)");
  }
  // pairs with: Doorbell::ring()
  bell_.socket_.store(to_number(address), std::memory_order_release);
}

DoorbellSocket::~DoorbellSocket() {
  // pairs with: Doorbell::ring()
  bell_.socket_.store(0, std::memory_order_release);
  close(fd_);
}

void DoorbellSocket::quiet() noexcept {
  char rings[64];
  while (recv(fd_, rings, sizeof rings, 0) >= 0) {
  }
}

}  // namespace shmem
