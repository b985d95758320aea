// Copies between this process and another one of the node without a shared mapping
// (process_vm_readv, process_vm_writev). Whether the system allows it is found out by trying:
// sandboxes and security modules refuse it, so nothing may require it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace shmem {

class CrossMemory {
 public:
  // What the probed process keeps at the address that it gives to the others.
  static constexpr std::uint64_t kKnownWord = 0x53706c6974706861;

  // True when kKnownWord can be read at `remote_address` of process `pid`.
  [[nodiscard]] static bool works_with(pid_t pid, std::uint64_t remote_address);

  explicit CrossMemory(pid_t pid) : pid_(pid) {}

  // Copies `bytes` from `remote_address` of the process to `to`, or to there from `from`. Returns
  // when all is copied. Any thread. Throws Error: refused, process gone, or not mapped there; part
  // may have been copied then.
  void read(void* to, std::uint64_t remote_address, std::size_t bytes) const;
  void write(std::uint64_t remote_address, const void* from, std::size_t bytes) const;

 private:
  pid_t pid_;
};

}  // namespace shmem
