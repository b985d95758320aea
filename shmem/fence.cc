#include "shmem/fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace shmem {
namespace {

long membarrier(int command) noexcept { return syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

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
