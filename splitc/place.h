#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "am/types.h"

// Where this process is in the global address space: what every access needs, in one small record.

namespace am {
class Router;
}

namespace splitc {

// Thrown by every call that was given something impossible: a sentence with rank, call, value,
// cause and remedy.
struct Error : am::Error {
  using am::Error::Error;
};

namespace detail {

// Set by World at start; constant while the program runs.
struct Place {
  // By process: where its segment is mapped here, less the process number in the place it has in a
  // global pointer. Adding all bits of the pointer gives the address, without taking it apart. (Of
  // pointer type, though never followed: a loop that writes numbers need not load them again.)
  std::byte* const* bases = nullptr;
  const am::Router* router = nullptr;
  std::uint32_t my_proc = 0;
  std::uint32_t procs = 1;
  std::uint64_t segment_bytes = 0;
};
inline Place place;

// A global pointer's bits: 24 of process above 40 of offset.
inline constexpr int kOffsetBits = 40;

inline std::byte* mapped(std::uint64_t bits) noexcept {
  const auto base = reinterpret_cast<std::uintptr_t>(place.bases[bits >> kOffsetBits]);
  return reinterpret_cast<std::byte*>(base + bits);
}
inline std::byte* mapped(std::uint32_t proc, std::uint64_t offset) noexcept {
  return mapped(std::uint64_t{proc} << kOffsetBits | offset);
}

// Throws Error unless [offset, offset + bytes) is memory that a program may touch at `proc`.
void check_range(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, const char* call);
// The same for a pointer that need not be followed: the beginning of an empty block is one, too.
void check_pointer(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, const char* call);
// As check_range, for an object that must be aligned to `alignment`.
void check_object(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                  std::uint64_t alignment, const char* call);
[[noreturn]] void refuse_misaligned(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                                    std::uint64_t alignment, const char* call);
// The offset of `local` in this process's segment. Throws Error if it is elsewhere, or if there is
// no process `proc`.
std::uint64_t offset_of(const void* local, std::uint32_t proc, const char* call);

// "rank R: <call>: <what>", thrown as Error.
[[noreturn]] void refuse(const char* call, const std::string& what);
// `sentence` without the "rank R: " of this process, for where the job puts that in front.
std::string without_rank(const std::string& sentence);

}  // namespace detail

// This process's number, 0 to procs() - 1, and how many there are (Split-C's MYPROC and PROCS).
// Any thread.
inline std::uint32_t my_proc() noexcept { return detail::place.my_proc; }
inline std::uint32_t procs() noexcept { return detail::place.procs; }
// The logarithm of procs() to base 2, if it has a whole one (Split-C's PROCSLOG). Any thread.
inline std::optional<int> procs_log2() noexcept {
  if (!std::has_single_bit(procs())) return std::nullopt;
  return std::countr_zero(procs());
}

}  // namespace splitc
