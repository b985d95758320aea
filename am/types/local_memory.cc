#include "am/types/local_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>

namespace am {
namespace {

// Linux's numbers; older headers do not have them.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

std::uintptr_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// A range in whole pages: [begin, begin + bytes).
struct Pages {
  explicit Pages(std::span<const std::byte> range) noexcept
      : begin(reinterpret_cast<std::uintptr_t>(range.data()) & ~(page_bytes() - 1)),
        bytes(reinterpret_cast<std::uintptr_t>(range.data()) + range.size() - begin) {}

  void* at(std::uintptr_t offset) const noexcept { return reinterpret_cast<void*>(begin + offset); }

  std::uintptr_t begin;
  std::size_t bytes;
};

// (MS_ASYNC writes nothing: the kernel looks whether there is a mapping, and returns.)
bool is_mapped(void* page, std::size_t bytes) noexcept {
  return msync(page, bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

}  // namespace

const std::byte* first_unmapped(std::span<const std::byte> range) noexcept {
  if (range.empty()) return nullptr;
  const Pages pages(range);
  if (is_mapped(pages.at(0), pages.bytes)) return nullptr;
  std::uintptr_t offset = 0;
  while (is_mapped(pages.at(offset), 1)) offset += page_bytes();
  const auto* const found = static_cast<const std::byte*>(pages.at(offset));
  return offset == 0 ? range.data() : found;
}

bool is_usable(std::span<const std::byte> range, bool written) noexcept {
  // It says the same of an advice that it does not know and of pages that may not be accessed.
  static const bool knows = [] {
    std::byte here{};
    const Pages page(std::span(&here, 1));
    return madvise(page.at(0), page.bytes, kPopulateWrite) == 0;
  }();
  if (range.empty() || !knows) return true;
  const Pages pages(range);
  const int advice = written ? kPopulateWrite : kPopulateRead;
  return madvise(pages.at(0), pages.bytes, advice) == 0 || errno == EAGAIN;
}

std::string address_text(const void* address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(address));
  return text;
}

std::string name_of(std::span<const std::byte> range) {
  return "the " + std::to_string(range.size()) + (range.size() == 1 ? " byte at " : " bytes at ") +
         address_text(range.data());
}

}  // namespace am
