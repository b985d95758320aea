#include "am/collective/neighbour_memory.h"

#include <unistd.h>

#include "am/types/types.h"
#include "shmem/cross_memory.h"
#include "shmem/region.h"

namespace am {
namespace {

const std::uint64_t known = shmem::CrossMemory::kKnownWord;

}  // namespace

Neighbour Neighbour::self() noexcept {
  return {static_cast<std::uint64_t>(getpid()), reinterpret_cast<std::uintptr_t>(&known)};
}

bool Neighbour::is_readable() const noexcept {
  return shmem::CrossMemory::works_with(static_cast<pid_t>(pid), known_word);
}

void Neighbour::read(void* to, std::uint64_t address, std::size_t bytes) const {
  try {
    shmem::CrossMemory(static_cast<pid_t>(pid)).read(to, address, bytes);
  } catch (const shmem::Error& error) {
    throw Error(error.what());
  }
}

}  // namespace am
