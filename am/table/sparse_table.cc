#include "am/table/sparse_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace am {
namespace {

constexpr std::size_t kBlock = 4096;  // is copied, or left out

bool is_sparse(std::size_t bytes) noexcept { return bytes >= SparseMemory::kSparseFrom; }

bool is_zero(const std::byte* block, std::size_t bytes) noexcept {
  return std::all_of(block, block + bytes, [](std::byte one) { return one == std::byte{}; });
}

}  // namespace

SparseMemory::SparseMemory(std::size_t bytes, std::size_t written) : bytes_(bytes) {
  if (bytes == 0) return;
  if (!is_sparse(bytes)) {
    data_ = std::calloc(bytes, 1);
    if (data_ == nullptr) throw std::bad_alloc();
    return;
  }
  void* const made =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  if (written != 0 && mprotect(made, written, PROT_READ | PROT_WRITE) != 0) {
    munmap(made, bytes);
    throw std::bad_alloc();
  }
  madvise(made, bytes, MADV_NOHUGEPAGE);  // a huge page would be zeroed whole at the first write
  data_ = made;
}

SparseMemory::~SparseMemory() {
  if (is_sparse(bytes_)) {
    munmap(data_, bytes_);
  } else {
    std::free(data_);
  }
}

void SparseMemory::copy(const SparseMemory& from) noexcept {
  const std::size_t bytes = std::min(bytes_, from.bytes_);
  const auto* const source = static_cast<const std::byte*>(from.data_);
  for (std::size_t at = 0; at < bytes; at += kBlock) {
    const std::size_t count = std::min(kBlock, bytes - at);
    if (!is_zero(source + at, count)) {
      std::memcpy(static_cast<std::byte*>(data_) + at, source + at, count);
    }
  }
}

}  // namespace am
