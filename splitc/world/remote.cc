#include "splitc/world/remote.h"

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "am/core/far/remote_memory.h"
#include "am/observe/call_sites.h"
#include "am/observe/trace.h"
#include "am/route/router.h"
#include "am/types/local_memory.h"
#include "am/types/shared_words.h"
#include "splitc/world/reach.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

am::Reason reason_of(Call call, std::size_t bytes) noexcept {
  return {.call = call, .wanted = bytes, .unit = "bytes"};
}

// Waits as sync(handle) does.
void finish(handle h, const am::Reason& reason) noexcept {
  if (h.generation() != 0) finish_one(h, reason);
  // pairs with: sync(), barrier() and the atomics of other processes
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

void check_in_segment(std::uint64_t bits, std::uint64_t bytes, Call call) {
  const std::uint64_t offset = bits & kOffsetMask;
  if (offset <= place.segment_bytes && bytes <= place.segment_bytes - offset) return;
  refuse(call, std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                   " of process " + std::to_string(proc_of(bits)) +
                   " are outside its segment, which has " + std::to_string(place.segment_bytes) +
                   " bytes");
}

void check_mapped(const void* local, std::uint64_t bytes, Call call) {
  if (local == nullptr) {
    refuse(call, "the pointer to the " + std::to_string(bytes) +
                     " bytes of this process is null; pass that of memory of this process");
  }
  if (world().router().segment_offset(local) < place.segment_bytes) return;
  const std::span range(static_cast<const std::byte*>(local), bytes);
  const std::byte* const unmapped = am::first_unmapped(range);
  if (unmapped == nullptr) return;
  refuse(call, am::name_of(range) + " of this process are not mapped" +
                   (unmapped == range.data()
                        ? std::string()
                        : " from byte " + std::to_string(unmapped - range.data()) + " on") +
                   ": they were freed, or never allocated; keep memory until the transfer is "
                   "synced, and check its size");
}

namespace {

void check_reach(std::uint64_t bits, std::uint64_t bytes, Call call) {
  if (!is_reached(bits, bytes)) [[unlikely]]
    refuse_reach(bits, bytes, call);
}

}  // namespace

void refuse_reach(std::uint64_t bits, std::uint64_t bytes, const Call& call) {
  if (am::is_forked()) refuse(call, am::fork_sentence());
  check_process(proc_of(bits), call);
  check_thread(call);
  if (am::Bundle::handling()) {
    refuse(call, "process " + std::to_string(proc_of(bits)) +
                     " is on another node, and a handler or a function that atomic() runs may not "
                     "wait for the network; let it note what is to be done, or return it");
  }
  check_in_segment(bits, bytes, call);
}

void note_operation(Call call, std::uint32_t proc, std::uint64_t bytes) {
  am::Distance distance = watches_near() ? am::Distance::kNear : am::Distance::kUnwatched;
  if (proc < procs() && is_far(proc)) distance = am::Distance::kFar;
  am::note_operation(call, proc, bytes, distance);
}

std::byte* watched(std::uint64_t bits, std::uint64_t bytes, Call call) {
  if (am::is_forked()) refuse(call, am::fork_sentence());
  std::byte* const base = mapping_of(bits);
  if (base == far_base()) return far_base();
  note_operation(call, proc_of(bits), bytes);
  return mapped(base, bits);
}

void check_far(std::uint64_t bits, std::uint64_t bytes, Call call) {
  check_reach(bits, bytes, call);
  note_operation(call.or_from(__builtin_return_address(0)), proc_of(bits), bytes);
}

void check_far_extent(std::uint64_t bits, std::uint64_t extent, std::uint64_t moved, Call call) {
  check_reach(bits, extent, call);
  note_operation(call, proc_of(bits), moved);
}

namespace {

// Whether the memory of a transfer is to be noted. A release build asks at the end of run() for
// what is on the stack, which lies above this frame, and noting it costs 10 ns of the 130 of a get
// in a row.
[[gnu::always_inline]] inline bool may_be_left(const void* local) noexcept {
  return am::kChecked || local >= __builtin_frame_address(0);
}

using am::link::RemoteKey;
using am::link::RmaAccess;

RemoteKey key_of(std::uint64_t bits) noexcept { return RemoteKey::in_segment(bits & kOffsetMask); }

// What a call goes through on its way to the network is part of few functions (docs/design.md).
[[gnu::always_inline]] inline handle begin(const RmaAccess& access, Call call,
                                           am::Owned<std::byte[]> kept = nullptr) {
  Context& mine = *this_context;
  if (access.local.size() <= am::RemoteMemory::kSmall) {
    if (const auto ticket = mine.remote->try_join(access)) return mine.tickets.handle_of(*ticket);
  }
  Tickets::Start start(mine.tickets, {.proc = access.peer, .kept = std::move(kept)});
  mine.remote->start(access, start.ticket(), call);
  return start.started();
}

[[gnu::always_inline]] inline handle start_get(void* local, std::uint64_t bits, std::size_t bytes,
                                               Call call) {
  if (bytes == 0) return {};
  const std::span to(static_cast<std::byte*>(local), bytes);
  if (const std::byte* const from = reach(bits, local, bytes, call); from != far_base()) {
    am::copy_whole(to.data(), from, bytes);
    return {};
  }
  const handle started = begin(RmaAccess::read(proc_of(bits), key_of(bits), to), call);
  if (may_be_left(local)) context().tickets.borrow(started, {local, bytes, call, proc_of(bits)});
  return started;
}

[[gnu::always_inline]] inline handle start_put(std::uint64_t bits, const void* local,
                                               std::size_t bytes, Source source, Call call) {
  if (bytes == 0) return {};
  std::span from(static_cast<const std::byte*>(local), bytes);
  if (std::byte* const to = reach(bits, local, bytes, call); to != far_base()) {
    am::copy_whole(to, from.data(), bytes);
    return {};
  }
  const bool used = bytes > am::RemoteMemory::kCopied;  // after return
  std::unique_ptr<std::byte[]> kept;
  if (source == Source::kGoes && used) {
    kept = std::make_unique<std::byte[]>(bytes);
    std::memcpy(kept.get(), local, bytes);
    from = {kept.get(), bytes};
  }
  const handle started =
      begin(RmaAccess::write(proc_of(bits), key_of(bits), from), call, std::move(kept));
  if (source == Source::kStays && used && may_be_left(local)) {
    context().tickets.borrow(started, {local, bytes, call, proc_of(bits)});
  }
  return started;
}

}  // namespace

[[gnu::noinline]] handle far_get(void* local, std::uint64_t bits, std::size_t bytes, Call call) {
  if constexpr (am::kChecked) check_frames_below(__builtin_frame_address(0));
  return start_get(local, bits, bytes, call.or_from(__builtin_return_address(0)));
}

[[gnu::noinline]] handle far_put(std::uint64_t bits, const void* local, std::size_t bytes,
                                 Source source, Call call) {
  if constexpr (am::kChecked) check_frames_below(__builtin_frame_address(0));
  return start_put(bits, local, bytes, source, call.or_from(__builtin_return_address(0)));
}

// The fences of sync(handle) order both with the plain accesses to near memory around them.
void far_read(void* local, std::uint64_t bits, std::size_t bytes, Call call) {
  call = call.or_from(__builtin_return_address(0));
  finish(start_get(local, bits, bytes, call), reason_of(call, bytes));
}

std::uint64_t far_word_of_library(std::uint32_t proc, std::uint64_t offset, Call call) {
  check_thread(call);
  std::uint64_t word = 0;
  const handle started = begin(
      RmaAccess::read(proc, key_of(offset), std::as_writable_bytes(std::span(&word, 1))), call);
  finish(started, reason_of(call, sizeof word));
  return word;
}

void far_write(std::uint64_t bits, const void* local, std::size_t bytes, Call call) {
  // pairs with: the reads of others, of what this process wrote to near memory before
  std::atomic_thread_fence(std::memory_order_seq_cst);
  call = call.or_from(__builtin_return_address(0));
  finish(start_put(bits, local, bytes, Source::kStays, call), reason_of(call, bytes));
}

}  // namespace splitc::detail
