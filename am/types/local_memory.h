#pragma once

#include <cstddef>
#include <span>
#include <string>

// Whether a range of this process's own memory can be used, for readers and writers that report
// nothing useful when it cannot, such as the kernel on behalf of a provider of libfabric. Any
// thread.

namespace am {

// The first byte whose page is not mapped; nullptr: all pages are. A system call, 0.15 us for any
// length. Pages that may not be accessed are mapped, too.
const std::byte* first_unmapped(std::span<const std::byte> range) noexcept;

// Whether all of it can be read, or, if `written`, written; true where the system cannot say (Linux
// before 5.14). Brings in every page: 40 us a MiB.
bool is_usable(std::span<const std::byte> range, bool written) noexcept;

// "0x7f3a5c001000"
std::string address_text(const void* address);
// "the 4096 bytes at 0x7f3a5c001000"
std::string name_of(std::span<const std::byte> range);

}  // namespace am
