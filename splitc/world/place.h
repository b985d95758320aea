#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "am/types/types.h"

// Where this process is in the global address space: what every access needs, in one small record,
// and what its checks have in common. Of this file programs use Error, my_proc(), procs() and
// procs_log2().

namespace splitc {

// Thrown by every call that cannot be done: what() is a sentence with rank, call, value, cause and
// remedy, and, where it is known, the file and line of the call. An Error that leaves the program
// ends the job with that sentence. Calls of am/ below throw am::Error, which is its base.
struct Error : am::Error {
  using am::Error::Error;
};

namespace detail {

#define SPLITPHASE_PLAIN_BYTES                                                                    \
  "global memory holds trivially copyable values. A std::string or std::vector has its elements " \
  "elsewhere, in memory that other processes cannot reach: take a std::array, a struct of such "  \
  "values, or a dist_object<T>, which is a T of any type in each process"

// A call that the program has made: its name, and where it stands, for errors, for statistics and
// for the report on a job that stands still. Its line is not known where C++ has no room for it, or
// it would be one of <algorithm>: sync(), which is POSIX's; what takes any number of arguments and
// has no process before them (atomic(), rpc_at(), grid::at()); iterators; put() of a channel, where
// it would cost time. Statistics and that report name the function instead.
using am::Call;
// An operand of an operator, and its place in the source, which is used only if the access is not
// near.
using am::Located;

// An index, of any type that converts.
struct Index {
  template <class I>
  requires std::is_convertible_v<const I&, std::ptrdiff_t>
  constexpr Index(const I& index, am::Here here = {}) noexcept
      : value(static_cast<std::ptrdiff_t>(index)), where(here) {}
  std::ptrdiff_t value;
  am::SourceLocation where;
};

// Set by World at start; constant while the program runs.
struct Place {
  // Indexed by the upper bits of a global pointer: where the segment of that process is mapped
  // here, less these bits in their place. Adding all bits of the pointer gives the address, without
  // taking it apart. far_base() for processes on other nodes, for what is no process, and for the
  // null pointer, whose upper bits no process has. So what has no address here takes the route of
  // far accesses, which check it. (Of pointer type, though never followed: a loop that writes
  // numbers need not load them again.)
  std::byte* const* bases = nullptr;
  // Where segments are mapped, for all but accesses: what `bases` is, unless accesses within the
  // node are watched (SPLITC_WATCH_NEAR): then all of `bases` is far_base(), so that each access
  // takes the route that counts it.
  std::byte* const* mappings = nullptr;
  // For stores of a word, what `bases` is in a program of one thread. With several all of it is
  // far_base(), so that these take the route that counts them in the line of the calling thread.
  std::byte* const* stores = nullptr;
  std::uint32_t my_proc = 0;
  std::uint32_t procs = 1;
  std::uint32_t threads = 1;  // at most so many of this process use the address space
  std::uint64_t segment_bytes = 0;
  bool far_peers = false;     // some processes are on other nodes
  bool kernel_fence = false;  // as in am::Router::Options: waking a neighbour needs no fence
};
inline Place place;

// A global pointer's bits: 24 of process, counted from 1, above 40 of offset.
inline constexpr int kOffsetBits = 40;
inline constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;
constexpr std::uint64_t bits_of(std::uint32_t proc, std::uint64_t offset) noexcept {
  return (std::uint64_t{proc} + 1) << kOffsetBits | offset;
}
inline constexpr std::uint32_t kNoProc = ~std::uint32_t{0};  // of a null pointer
constexpr std::uint32_t proc_of(std::uint64_t bits) noexcept {
  return static_cast<std::uint32_t>(bits >> kOffsetBits) - 1;
}
// One for each value of the upper bits, so that whatever is taken for a global pointer has one: a
// table of 128 MiB of addresses, of which a page of memory is used for 512 processes.
inline constexpr std::size_t kBases = std::size_t{1} << (64 - kOffsetBits);

// The base of processes whose segment is not mapped here: 0, as in a table that has not been
// written, since no base is 0 (all_bases() in world.cc).
inline std::byte* far_base() noexcept { return nullptr; }

// The entry of the process that `bits` name, for an access: far_base() where there is no address,
// or where accesses are watched; the functions for far accesses check mapping_of() then.
inline std::byte* base_of(std::uint64_t bits) noexcept { return place.bases[bits >> kOffsetBits]; }
// The entry for a store of a word.
inline std::byte* store_base_of(std::uint64_t bits) noexcept {
  return place.stores[bits >> kOffsetBits];
}
// Where that process's segment is mapped, for all but accesses: far_base() where there is no
// address.
inline std::byte* mapping_of(std::uint64_t bits) noexcept {
  return place.mappings[bits >> kOffsetBits];
}
// Whether accesses within the node are to be noted.
inline bool watches_near() noexcept { return place.bases != place.mappings; }
// Whether several threads may use the address space, in this program.
inline bool is_threaded() noexcept { return place.threads > 1; }
// Whether some processes of the job are on other nodes, and whether `proc` is.
inline bool has_far_peers() noexcept { return place.far_peers; }
inline bool is_far(std::uint32_t proc) noexcept {
  return mapping_of(bits_of(proc, 0)) == far_base();
}

// Says that base_of(bits) is still `base`, which the compiler cannot know of a function elsewhere,
// or behind an access that acquires. So a loop of accesses finds out once where they go, and the
// compiler can make one loop of near accesses, with no test in it, and another of far ones.
inline void base_stays(const std::byte* base, std::uint64_t bits) noexcept {
  if (base_of(bits) != base) __builtin_unreachable();
}

// The address here of the memory at global pointer `bits`, whose process has the base `base`.
inline std::byte* mapped(const std::byte* base, std::uint64_t bits) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) + bits);
}
// Whether there is memory at [offset, offset + bytes) of a segment; not if `offset` is its end.
inline bool is_in_segment(std::uint64_t offset, std::uint64_t bytes) noexcept {
  return offset < place.segment_bytes && bytes <= place.segment_bytes - offset;
}
// For processes of this node only.
inline std::byte* mapped(std::uint64_t bits) noexcept { return mapped(mapping_of(bits), bits); }
inline std::byte* mapped(std::uint32_t proc, std::uint64_t offset) noexcept {
  return mapped(bits_of(proc, offset));
}

// Throws Error if `proc`, of a global pointer, is none: the pointer is null, or not one.
[[noreturn]] void refuse_process(std::uint32_t proc, Call call);
inline void check_process(std::uint32_t proc, Call call) {
  if (proc >= place.procs) [[unlikely]]
    refuse_process(proc, call);
}
// "there is no process P: the job has N, 0 to N - 1"
[[noreturn]] void refuse_proc(std::uint32_t proc, Call call);
// Throws this Error if `proc`, a number that the program has given, is none.
inline void check_proc(std::uint32_t proc, Call call) {
  if (proc >= place.procs) [[unlikely]]
    refuse_proc(proc, call);
}
// Throws Error unless [offset, offset + bytes) is memory that a program may touch at `proc`.
void check_range(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, Call call);
// Checks a pointer that need not be followed: the beginning of an empty block is one, too.
void check_pointer(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes, Call call);
// Checks the range of an object that must be aligned to `alignment`.
void check_object(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                  std::uint64_t alignment, Call call);
// Throws Error: the object is not aligned to `alignment`.
[[noreturn]] void refuse_misaligned(std::uint32_t proc, std::uint64_t offset, std::uint64_t bytes,
                                    std::uint64_t alignment, Call call);
// The offset of `local` in this process's segment. Throws Error if it is elsewhere, or if there is
// no process `proc`.
std::uint64_t offset_of(const void* local, std::uint32_t proc, Call call);

// For what has no address here, as its process is on another node, or none.
[[noreturn]] void refuse_far(std::uint32_t proc, Call call);

// What pointers and references to T may change.
template <class T>
concept writable = !std::is_const_v<T>;

// a * b. Throws Error, "A <units> of B <parts> are more than any memory holds", if no 64-bit number
// holds it.
[[noreturn]] void refuse_product(std::uint64_t a, const char* units, std::uint64_t b,
                                 const char* parts, Call call);
inline std::uint64_t product(std::uint64_t a, const char* units, std::uint64_t b, const char* parts,
                             Call call) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
    refuse_product(a, units, b, parts, call);
  return result;
}

// In checked builds: throws Error unless a global pointer can hold process and offset.
[[noreturn]] void refuse_address(std::uint64_t proc, std::uint64_t offset);
constexpr void check_address(std::uint64_t proc, std::uint64_t offset) {
  if constexpr (am::kChecked) {
    constexpr std::uint64_t kMostProcs = (std::uint64_t{1} << (64 - kOffsetBits)) - 1;
    if (proc >= kMostProcs || offset > kOffsetMask) refuse_address(proc, offset);
  }
}
// Throws Error likewise unless it can hold `offset` plus n elements of `bytes` bytes.
[[noreturn]] void refuse_step(std::uint64_t bits, std::int64_t n, std::uint64_t bytes);
constexpr void check_step(std::uint64_t bits, std::int64_t n, std::uint64_t bytes) {
  if constexpr (am::kChecked) {
    std::int64_t step = 0;
    const auto offset = static_cast<std::int64_t>(bits & kOffsetMask);
    const bool wraps =
        __builtin_mul_overflow(n, bytes, &step) || __builtin_add_overflow(step, offset, &step);
    if (wraps || step < 0 || static_cast<std::uint64_t>(step) > kOffsetMask) {
      refuse_step(bits, n, bytes);
    }
  }
}

// "rank R: <call>: <what> (at <file>:<line>)", thrown as Error.
[[noreturn]] void refuse(Call call, const std::string& what);
// `sentence` without the "rank R: " of this process, for where the job puts that in front.
std::string without_rank(const std::string& sentence);

}  // namespace detail

// The number (rank) of this process, 0 to procs() - 1: Split-C's MYPROC. Constant while run() runs;
// 0 outside it. A load. Any thread, also in handlers.
inline std::uint32_t my_proc() noexcept { return detail::place.my_proc; }
// How many processes the job has, at least 1: Split-C's PROCS. Constant while run() runs; 1 outside
// it. A load. Any thread, also in handlers.
inline std::uint32_t procs() noexcept { return detail::place.procs; }
// Whether `proc` is on the node of this process, so that its memory is mapped here, and an access
// is a load or a store. False if there is no such process. Any thread.
inline bool is_near(std::uint32_t proc) noexcept { return proc < procs() && !detail::is_far(proc); }
// The logarithm of procs() to base 2 if procs() is a power of 2, else nothing (Split-C's PROCSLOG,
// which is negative then). Any thread.
inline std::optional<int> procs_log2() noexcept {
  if (!std::has_single_bit(procs())) return std::nullopt;
  return std::countr_zero(procs());
}

}  // namespace splitc
