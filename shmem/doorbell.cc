#include "shmem/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace shmem {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t), "futex word");

void Doorbell::ring() noexcept {
  // pairs with: about_to_sleep(); of several neighbours one rings.
  if (asleep_.exchange(0, std::memory_order_seq_cst) == 0) return;
  // pairs with: about_to_sleep(), which reads the ticket; sleep() compares it in the kernel.
  rings_.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &rings_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
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

}  // namespace shmem
