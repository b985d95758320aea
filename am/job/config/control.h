// The control region: one memfd that splitcrun makes before it starts the processes of a job and
// that all of them inherit. All zeros is valid, so nobody has to construct anything in it; the
// launcher writes magic, version and size before the first process starts.
//
//   | Control: barrier, abort | ControlRank of rank 0 | ControlRank of rank 1 | ...
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/route/activity.h"
#include "am/types/types.h"

namespace am {

// A process as the launcher sees it.
enum class RankState : std::uint32_t {
  kNotJoined = 0,  // has not started the library (perhaps never will)
  kJoined = 1,     // takes part in collective calls
  kFinished = 2,   // has passed its last one
  kLeft = 3,       // ended with exit code 0 before it had finished; written by the launcher
};

struct alignas(64) ControlRank {
  static constexpr std::size_t kBlobBytes = 512;

  std::atomic<RankState> state;
  std::atomic<std::int32_t> pid;  // of the process that joined
  std::uint32_t blob_bytes;       // exchange(): written before a barrier, read after it
  std::uint32_t unused;
  std::byte blob[kBlobBytes];

  Activity activity;
};

struct alignas(64) Control {
  static constexpr std::uint64_t kMagic = 0x6e75724374696c70;  // "plitCrun"
  static constexpr std::uint32_t kVersion = 2;
  static constexpr std::size_t kAbortBytes = 1024;

  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size;

  alignas(64) std::atomic<std::uint32_t> arrived;  // at the current barrier
  std::atomic<std::uint32_t> epoch;                // barriers completed; the futex word

  alignas(64) std::atomic<std::uint32_t> abort_claimed;  // the first to abort writes the rest
  std::atomic<std::uint32_t> abort_ready;
  Rank abort_rank;
  char abort_text[kAbortBytes];  // ends with 0
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::is_trivially_destructible_v<Control>);
static_assert(sizeof(ControlRank) == 576 + sizeof(Activity) && offsetof(ControlRank, blob) == 16);
static_assert(offsetof(Control, arrived) == 64 && offsetof(Control, abort_claimed) == 128);
static_assert(offsetof(Control, abort_text) == 140 && sizeof(Control) == 1216);

constexpr std::size_t control_bytes(std::uint32_t size) {
  return sizeof(Control) + std::size_t{size} * sizeof(ControlRank);
}

// The control region that begins at `data`.
inline Control& control_at(std::byte* data) { return *reinterpret_cast<Control*>(data); }
inline ControlRank& control_rank(Control& control, Rank rank) {
  return reinterpret_cast<ControlRank*>(&control + 1)[rank];
}

}  // namespace am
