#pragma once

#include <cstddef>
#include <cstdint>

#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Accesses to memory of processes on other nodes, at global pointer `bits`: what the ones in
// access.h, split_phase.h and bulk.h come to when there is nothing to load from or store to. Kept
// out of line, so that all they cost a near access is the test. Where accesses within the node are
// watched, these come here, too, and are noted; they behave and cost as near ones otherwise.
//
// `call` is what the program called. Each throws Error inside a handler, or a function that
// atomic() runs, since it may have to wait, and for a range outside the segment.

namespace splitc::detail {

// On return the bytes are here; or they are there, and what this process does afterwards happens
// after it for every process.
void far_read(void* local, std::uint64_t bits, std::size_t bytes, Call call);
void far_write(std::uint64_t bits, const void* local, std::size_t bytes, Call call);
// What `local` of a put is: memory that may go on return, and so is copied, or memory that stays
// unchanged until the handle is done.
enum class Source : bool { kGoes, kStays };
// `local` of a get lives until the handle is done.
handle far_get(void* local, std::uint64_t bits, std::size_t bytes, Call call);
handle far_put(std::uint64_t bits, const void* local, std::size_t bytes, Source source, Call call);

// Reads the word at `offset` of the segment of `proc`, of another node, or behind it in a checked
// build. That is memory of the library, so the access is not counted. Waits.
std::uint64_t far_word_of_library(std::uint32_t proc, std::uint64_t offset, Call call);

// If that is memory of this node, an access that is watched: notes it, and returns where it is
// mapped. far_base(): it is on another node, or nowhere.
std::byte* watched(std::uint64_t bits, std::uint64_t bytes, Call call);
// Notes a near access where the program's own path has been taken: for what is out of line anyway.
inline void note_near(std::uint64_t bits, std::uint64_t bytes, Call call) {
  if (watches_near()) [[unlikely]]
    watched(bits, bytes, call);
}

// Records an operation on the memory of `proc`, or a call there, in statistics and traces if there
// are any (am/observe), and within the node only where that is watched.
void note_operation(Call call, std::uint32_t proc, std::uint64_t bytes);

// Throws Error if this process may not reach [bits, bits + bytes) of another node now, or if the
// pointer is null or names no process: those have no base either, in any job. Records the operation
// in statistics and traces, if there are any (am/observe). Where nothing says where `call` stands,
// it is where check_far() returns to.
void check_far(std::uint64_t bits, std::uint64_t bytes, Call call);
// Checks an operation with `moved` bytes that lie in the first `extent` from `bits` on.
void check_far_extent(std::uint64_t bits, std::uint64_t extent, std::uint64_t moved, Call call);
// Throws Error if the memory of this process that a transfer with another node is to read or write
// is not mapped, as the network would only say much later that something is wrong. Looks at 64 KiB
// and more, as that costs 0.15 us, a seventh of what 4 KiB take in a row; and at null. If what is
// smaller is not mapped, the job ends with a sentence that has the address, but no line, or by the
// signal of a copy.
void check_mapped(const void* local, std::uint64_t bytes, Call call);
inline void check_local(const void* local, std::uint64_t bytes, Call call) {
  constexpr std::uint64_t kLookedAt = 65'536;
  if (bytes >= kLookedAt || (local == nullptr && bytes != 0)) [[unlikely]]
    check_mapped(local, bytes, call);
}
// Throws Error unless [bits, bits + bytes), of a process that there is, lies in its segment.
void check_in_segment(std::uint64_t bits, std::uint64_t bytes, Call call);

}  // namespace splitc::detail
