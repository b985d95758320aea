#pragma once

#include <cstddef>
#include <cstdint>

namespace am {

// The memory of another process of this node as the kernel copies it, outside what both map
// (shmem/cross_memory.h). A process shows the others a Neighbour, plain bytes.
struct Neighbour {
  std::uint64_t pid;
  std::uint64_t known_word;  // the address of one whose value all know

  static Neighbour self() noexcept;

  // Whether the system lets this process read there. Costs a system call.
  bool is_readable() const noexcept;
  // Copies `bytes` from `address` there. Throws Error: refused, not mapped, or gone.
  void read(void* to, std::uint64_t address, std::size_t bytes) const;
};

}  // namespace am
