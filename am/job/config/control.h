// The control region: one memfd that splitcrun makes before it starts the processes of a job and
// that all of them inherit. All zeros is valid, so nothing has to be constructed in it; the
// launcher writes magic, version and size before the first process starts.
//
//   | Control: barrier, abort, exit, deaths | ControlRank of rank 0 | ControlRank of rank 1 | ...
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "am/job/config/exit_request.h"
#include "am/observe/activity.h"
#include "am/types/types.h"

namespace am {

// Where a process has crashed, for its launcher, which has the time, and may start the programs,
// that it takes to name lines of the source.
//
// In memory that processes share; all zeros is valid. Safe in a signal handler.
class CrashFrames {
 public:
  // False: another process was first, and there is room for one.
  bool try_claim(Rank rank) noexcept {
    std::uint32_t nobody = 0;
    return claimed_.compare_exchange_strong(nobody, rank + 1, std::memory_order_relaxed);
  }
  // Once, by the process that has claimed it: a line for each function, the inner ones first, of
  // the address in the file and the file, "0x2b3f /home/me/heat"; or "- " and what is known. And
  // last "= " and what a person may do by hand.
  void publish(std::string_view lines) noexcept {
    const std::size_t bytes = lines.size() < sizeof text_ ? lines.size() : sizeof text_ - 1;
    std::memcpy(text_, lines.data(), bytes);
    text_[bytes] = '\0';
    // pairs with: lines_of
    ready_.store(1, std::memory_order_release);
  }
  // By the launcher: "" unless that process was the first to crash.
  std::string_view lines_of(Rank rank) const noexcept {
    // pairs with: publish
    if (ready_.load(std::memory_order_acquire) == 0) return {};
    return claimed_.load(std::memory_order_relaxed) == rank + 1 ? text_ : std::string_view();
  }

 private:
  std::atomic<std::uint32_t> claimed_;  // 1 + rank
  std::atomic<std::uint32_t> ready_;
  char text_[8184];
};
static_assert(sizeof(CrashFrames) == 8192);

// A process as the launcher sees it.
enum class RankState : std::uint32_t {
  kNotJoined = 0,  // has not started the library (perhaps never will)
  kJoined = 1,     // takes part in collective calls
  kFinished = 2,   // has passed its last one
  kLeft = 3,       // ended, before it had finished or after; written by the launcher
  kDead = 4,       // ended before it had finished, and the job goes on; likewise
};

struct alignas(64) ControlRank {
  static constexpr std::size_t kBlobBytes = 512;

  std::atomic<RankState> state;
  std::atomic<std::int32_t> pid;  // of the process that joined
  std::uint32_t blob_bytes;       // exchange(): written before a barrier, read after it
  // In all: barriers that it has entered in jobs that go on without their dead, jobs that it has
  // joined, and jobs whose last collective call it has passed.
  std::atomic<std::uint32_t> entered;
  std::atomic<std::uint32_t> joined;
  std::atomic<std::uint32_t> finished;
  std::byte blob[kBlobBytes];

  Activity activity;
};

struct alignas(64) Control {
  static constexpr std::uint64_t kMagic = 0x6e75724374696c70;  // "plitCrun"
  static constexpr std::uint32_t kVersion = 7;  // another one if this, or Activity, changes
  static constexpr std::size_t kAbortBytes = 1024;

  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t size;

  alignas(64) std::atomic<std::uint32_t> arrived;  // at the current barrier
  // Barriers completed; in a job that goes on without its dead, barriers entered, and deaths. The
  // futex word.
  std::atomic<std::uint32_t> epoch;

  // 1 + rank of the first to abort, which writes the rest; 0: no abort yet.
  alignas(64) std::atomic<std::uint32_t> abort_claimed;
  std::atomic<std::uint32_t> abort_ready;
  Rank abort_rank;
  char abort_text[kAbortBytes];  // ends with 0

  alignas(64) ExitRequest exit_request;
  // Not 0: output that was asked for is lost (am/job/config/lost_output.h), so the exit code of the
  // job is not 0 either.
  std::atomic<std::uint32_t> output_lost;

  // The following are used in a job that goes on without its dead (DeathNotices).
  alignas(64) std::uint32_t survives;  // not 0: this is one; by the launcher, before the start
  std::atomic<std::uint32_t> started;  // jobs, one after the other, whose start all have passed
  std::atomic<std::uint32_t> deaths;   // ranks whose state is kDead; the futex word

  alignas(64) CrashFrames crash;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::is_trivially_destructible_v<Control>);
static_assert(sizeof(ControlRank) == 576 + sizeof(Activity) && offsetof(ControlRank, blob) == 24);
static_assert(offsetof(Control, arrived) == 64 && offsetof(Control, abort_claimed) == 128);
static_assert(offsetof(Control, abort_text) == 140 &&
              sizeof(Control) == 1344 + sizeof(CrashFrames));

constexpr std::size_t control_bytes(std::uint32_t size) {
  return sizeof(Control) + std::size_t{size} * sizeof(ControlRank);
}

// The control region that begins at `data`.
inline Control& control_at(std::byte* data) { return *reinterpret_cast<Control*>(data); }
inline ControlRank& control_rank(Control& control, Rank rank) {
  return reinterpret_cast<ControlRank*>(&control + 1)[rank];
}

// Whether `one` takes part in a job after the first `jobs`. That it has finished those says
// nothing: while it finishes a job, it has finished it and is still joined.
inline bool is_in_job_after(std::uint32_t jobs, const ControlRank& one) noexcept {
  // pairs with: BootstrapLaunch::join
  return one.state.load(std::memory_order_seq_cst) == RankState::kJoined &&
         one.joined.load(std::memory_order_relaxed) > jobs;
}

// By which the launcher notifies the processes of a job that goes on without its dead (splitcrun
// --survive): which they are. The launcher is their parent and has reaped them, so no zombie and no
// process that has got the pid of another is taken for one of the job.
//
// Any thread of any process of the job; wait() sleeps.
class DeathNotices {
 public:
  explicit DeathNotices(Control& control) noexcept : control_(control) {}

  // By the launcher: `rank` has died. Whoever waits in wait(), or in the launcher's barrier, wakes.
  // Once for each.
  void post(Rank rank) noexcept;
  // Whether the job can go on without a process: none is at the start, which needs all.
  bool can_go_on() const noexcept;
  // By a process of rank `rank`: all have passed the start.
  void start(Rank rank) noexcept;

  // How many have died. What was posted before is seen by is_dead().
  // pairs with: post()
  std::uint32_t count() const noexcept { return control_.deaths.load(std::memory_order_acquire); }
  bool is_dead(Rank rank) const noexcept;
  // Whether it has passed its last collective call (Job::finish()).
  bool has_finished(Rank rank) const noexcept;
  // Whether all living processes have passed the last collective call (Job::finish()) that `rank`
  // has passed.
  bool nobody_needs(Rank rank) const noexcept;
  pid_t pid(Rank rank) const noexcept;
  std::uint32_t size() const noexcept { return control_.size; }

  // Sleeps while count() is `seen`; may return early, and does after wake().
  void wait(std::uint32_t seen) const noexcept;
  void wake() noexcept;

 private:
  Control& control_;
};

}  // namespace am
