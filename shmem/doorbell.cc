#include "shmem/doorbell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <string>

#include "shmem/descriptor.h"
#include "shmem/region.h"

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

int make_socket() noexcept {
  return above_standard_streams(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Of this process, to send with; -1: not prepared. Never closed.
std::atomic<int> sender{-1};

[[noreturn]] void throw_no_socket(const std::string& what_for) {
  throw Error("cannot make a socket " + what_for + " (" + std::strerror(errno) +
              "); raise the limit of open files (ulimit -n)");
}

// `sender`, which is made unless it is there; negative: it cannot be made now.
int prepared_sender() noexcept {
  // pairs with: the exchange below, in another thread
  if (const int fd = sender.load(std::memory_order_acquire); fd >= 0) return fd;
  const int made = make_socket();
  if (made < 0) return made;
  int none = -1;
  // pairs with: the load above
  if (sender.compare_exchange_strong(none, made, std::memory_order_acq_rel)) return made;
  close(made);
  return none;
}

// Sends one byte; returns an errno or 0.
int send_ring(int fd, const Address& address) noexcept {
  const char ring = 0;
  const auto* const name = reinterpret_cast<const sockaddr*>(&address.name);
  return sendto(fd, &ring, sizeof ring, MSG_NOSIGNAL, name, address.length) >= 0 ? 0 : errno;
}

// Whether `error` of send_ring() means that its owner need not, or cannot, be woken any more.
bool settled(int error) noexcept {
  // Nobody is bound to that name, or not for reading: the owner is leaving.
  return error == 0 || error == ECONNREFUSED || error == EPIPE;
}

// Again, where the first attempt said EAGAIN, which means one of two things: the owner has as many
// rings before it as its queue holds (then that is enough), or this socket has as many before all
// owners together as its buffer holds (then this one may have none). A socket that has sent nothing
// tells them apart.
bool ring_by_another_socket(const Address& address) noexcept {
  const int fd = make_socket();
  if (fd < 0) return false;
  const int error = send_ring(fd, address);
  close(fd);  // what it has sent stays in the owner's queue
  return settled(error) || error == EAGAIN;
}

// Returns when the owner has a ring in its queue, or has gone. Everything else passes: EINTR, a
// kernel short of memory or buffers, a process short of descriptors. (What does not pass has been
// refused at set-up.)
void ring_socket(const Address& address) noexcept {
  for (;; sched_yield()) {
    const int fd = prepared_sender();  // in a job of one node nobody has needed it so far
    const int error = fd < 0 ? EAGAIN : send_ring(fd, address);
    if (settled(error)) return;
    if (error == EAGAIN && ring_by_another_socket(address)) return;
  }
}

long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

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
  ring_socket(to_address(name));
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
  const timespec limit{.tv_sec = timeout_ns / 1'000'000'000, .tv_nsec = timeout_ns % 1'000'000'000};
  syscall(SYS_futex, &rings_, FUTEX_WAIT, ticket, &limit, nullptr, 0);
}

DoorbellSocket::DoorbellSocket(Doorbell& bell) : bell_(bell) {
  OwnFd fd(make_socket());
  Address address{};
  address.name.sun_family = AF_UNIX;
  address.length = sizeof address.name;
  auto* const name = reinterpret_cast<sockaddr*>(&address.name);
  const bool made = fd && bind(fd.fd(), name, sizeof address.name.sun_family) == 0 &&
                    getsockname(fd.fd(), name, &address.length) == 0 &&
                    address.length == kNamedLength;
  if (!made) throw_no_socket("to be woken by neighbours");
  const int ringer = prepared_sender();
  if (ringer < 0) throw_no_socket("to wake neighbours");
  const int error = send_ring(ringer, address);
  if (error != 0 && error != EAGAIN) {
    throw Error(std::string("cannot send from one Unix datagram socket to another (") +
                std::strerror(error) + "), which is how neighbours wake this process; allow it");
  }
  fd_ = fd.keep();
  quiet();
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

bool Fence::enroll() noexcept {
  const long offered = membarrier(MEMBARRIER_CMD_QUERY);
  return offered > 0 && (offered & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 &&
         membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void Fence::heavy() const noexcept {
  // pairs with: light(); also orders this thread itself when the system call is not made.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (kernel_assists_) membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

}  // namespace shmem
