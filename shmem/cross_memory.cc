#include "shmem/cross_memory.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "shmem/region.h"

namespace shmem {
namespace {

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

// Copies all, in as many calls as it takes. Returns the bytes copied; errno tells why not all.
std::size_t copy(Call call, pid_t pid, void* local, std::uint64_t remote, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec here{static_cast<std::byte*>(local) + done, bytes - done};
    const iovec there{reinterpret_cast<void*>(remote + done), bytes - done};
    const ssize_t moved = call(pid, &here, 1, &there, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) break;
    done += static_cast<std::size_t>(moved);
  }
  return done;
}

[[noreturn]] void fail(const char* call, pid_t pid, std::uint64_t remote, std::size_t done,
                       std::size_t bytes) {
  const int error = errno;
  const char* remedy = error == ESRCH    ? "; the process has ended"
                       : error == EFAULT ? "; the process has nothing mapped there"
                                         : "; copy through a shared region instead";
  throw Error(std::string("shmem: ") + call + " with process " + std::to_string(pid) +
              " at address " + std::to_string(remote) + " copied " + std::to_string(done) + " of " +
              std::to_string(bytes) + " bytes (" + std::strerror(error) + ")" + remedy);
}

}  // namespace

bool CrossMemory::works_with(pid_t pid, std::uint64_t remote_address) {
  std::uint64_t word = 0;
  return copy(&process_vm_readv, pid, &word, remote_address, sizeof(word)) == sizeof(word) &&
         word == kKnownWord;
}

void CrossMemory::read(void* to, std::uint64_t remote_address, std::size_t bytes) const {
  const std::size_t done = copy(&process_vm_readv, pid_, to, remote_address, bytes);
  if (done != bytes) fail("process_vm_readv", pid_, remote_address, done, bytes);
}

void CrossMemory::write(std::uint64_t remote_address, const void* from, std::size_t bytes) const {
  // writev only reads from local memory; iovec has no const form.
  const std::size_t done =
      copy(&process_vm_writev, pid_, const_cast<void*>(from), remote_address, bytes);
  if (done != bytes) fail("process_vm_writev", pid_, remote_address, done, bytes);
}

}  // namespace shmem
