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
  // global pointer. Adding all bits of the pointer gives the address, without taking it apart. Of
  // processes on other nodes: far_base(). (Of pointer type, though never followed: a loop that
  // writes numbers need not load them again.)
  std::byte* const* bases = nullptr;
  const am::Router* router = nullptr;
  std::uint32_t my_proc = 0;
  std::uint32_t procs = 1;
  std::uint64_t segment_bytes = 0;
  bool far_peers = false;  // some processes are on other nodes
};
inline Place place;

// A global pointer's bits: 24 of process above 40 of offset.
inline constexpr int kOffsetBits = 40;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
constexpr std::uint32_t proc_of(std::uint64_t bits) noexcept {
  return static_cast<std::uint32_t>(bits >> kOffsetBits);
}

// The process of a global pointer has its segment on another node: an odd number, as no base is.
inline std::byte* far_base() noexcept { return reinterpret_cast<std::byte*>(1); }

inline std::byte* base_of(std::uint64_t bits) noexcept { return place.bases[bits >> kOffsetBits]; }
inline bool has_far_peers() noexcept { return place.far_peers; }
inline bool is_far(std::uint32_t proc) noexcept { return place.bases[proc] == far_base(); }

// Says that base_of(bits) is still `base`, which the compiler cannot know of a function elsewhere,
// or behind an access that acquires. So a loop of accesses finds out once where they go, and the
// compiler can make one loop of near accesses, with no test in it, and another of far ones.
inline void base_stays(const std::byte* base, std::uint64_t bits) noexcept {
  if (base_of(bits) != base) __builtin_unreachable();
}

inline std::byte* mapped(const std::byte* base, std::uint64_t bits) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + bits);
}
// Of processes on this node only.
inline std::byte* mapped(std::uint64_t bits) noexcept { return mapped(base_of(bits), bits); }
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

[[noreturn]] void refuse_far(std::uint32_t proc, const char* call);

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
