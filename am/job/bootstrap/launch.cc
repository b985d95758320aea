#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "am/job/bootstrap/launchers.h"
#include "am/job/config/control.h"
#include "am/job/config/exit_request.h"
#include "am/job/config/lost_output.h"
#include "shmem/region.h"

namespace am {
namespace {

static_assert(Bootstrap::kMaxBlob == ControlRank::kBlobBytes);
static_assert(Bootstrap::kMaxSentence + 1 == Control::kAbortBytes);

std::string rank_text(Rank rank) { return "rank " + std::to_string(rank); }

// The control region behind `job_fd`, checked against what the environment says of the job.
shmem::Region adopt_control(Rank rank, std::uint32_t size, int job_fd) {
  const std::string begin =
      rank_text(rank) + ": SPLITC_JOB_FD=" + std::to_string(job_fd) + " is not the control region ";
  const std::string end =
      "; a program that a rank starts is no rank: unset SPLITC_RANK, SPLITC_SIZE and "
      "SPLITC_JOB_FD for it, or start it with splitcrun";
  // A second descriptor: the first one stays for a later job of this process.
  const int fd = fcntl(job_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (fd < 0) throw Error(begin + "of a job (" + std::strerror(errno) + ")" + end);
  shmem::Region region;
  try {
    region = shmem::Region::adopt(fd);
  } catch (const shmem::Error& error) {
    close(fd);
    throw Error(begin + "of a job (" + error.what() + ")" + end);
  }
  if (region.size() < sizeof(Control) || control_at(region.data()).magic != Control::kMagic) {
    throw Error(begin + "of a job" + end);
  }
  const Control& control = control_at(region.data());
  if (control.version != Control::kVersion) {
    throw Error(begin + "of this version: the launcher's is " + std::to_string(control.version) +
                ", this program's is " + std::to_string(Control::kVersion) +
                "; build both from the same source");
  }
  if (control.size != size || region.size() < control_bytes(size)) {
    throw Error(begin + "of a job of SPLITC_SIZE=" + std::to_string(size) + " but of " +
                std::to_string(control.size) + end);
  }
  fcntl(job_fd, F_SETFD, FD_CLOEXEC);
  region.hide_from_children();
  return region;
}

bool is_alive(pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; }

class BootstrapLaunch final : public Bootstrap {
 public:
  BootstrapLaunch(Rank rank, std::uint32_t size, int job_fd)
      : rank_(rank),
        size_(size),
        region_(adopt_control(rank, size, job_fd)),
        control_(control_at(region_.data())),
        me_(control_rank(control_, rank)),
        notices_(control_) {
    join();
    tell_of_lost_output(&control_.output_lost);
  }
  ~BootstrapLaunch() override { tell_of_lost_output(nullptr); }

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "splitcrun"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    std::ranges::copy(mine, me_.blob);
    me_.blob_bytes = static_cast<std::uint32_t>(mine.size());
    barrier();
    std::vector<std::vector<std::byte>> all;
    all.reserve(size_);
    for (Rank rank = 0; rank < size_; ++rank) {
      const ControlRank& from = control_rank(control_, rank);
      all.emplace_back(from.blob, from.blob + from.blob_bytes);
    }
    barrier();  // nobody writes the next blob before all have read this one
    return all;
  }

  void barrier() override {
    if (control_.survives != 0) return barrier_without_dead();
    // pairs with: the addition to epoch below, by the last to arrive at the barrier before
    const std::uint32_t before = control_.epoch.load(std::memory_order_acquire);
    // pairs with: itself in the other processes; the last to arrive sees what all did before
    if (control_.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
      control_.arrived.store(0, std::memory_order_relaxed);
      // pairs with: the loads of epoch in barrier
      control_.epoch.fetch_add(1, std::memory_order_release);
      futex_wake_all(control_.epoch);
      return;
    }
    // pairs with: the addition above
    while (control_.epoch.load(std::memory_order_acquire) == before) {
      futex_wait(control_.epoch, before);
    }
  }

  void finished() override {
    if (notices_.has_finished(rank_)) return;
    // pairs with: DeathNotices::nobody_needs()
    me_.finished.fetch_add(1, std::memory_order_release);
    // pairs with: note_leaver (tools/splitcrun/verdict.cc)
    me_.state.store(RankState::kFinished, std::memory_order_release);
  }

  Activity* activity() override { return &me_.activity; }
  ExitRequest* exit_request() override { return &control_.exit_request; }
  CrashFrames* crash_frames() override { return &control_.crash; }
  DeathNotices* death_notices() override { return control_.survives != 0 ? &notices_ : nullptr; }

 private:
  // The launcher prints it: it sees this process end, and ends the others.
  void report_abort(int, std::string_view sentence) override {
    // Of several that abort at once, the first speaks. The others wait to be ended: if one of them
    // left before the sentence is there, the launcher would know only of an exit code.
    // It gives up its claim by its death if the job goes on without it (Survival::give_back_abort).
    std::uint32_t first = 0;
    while (!control_.abort_claimed.compare_exchange_strong(first, rank_ + 1,
                                                           std::memory_order_relaxed)) {
      futex_wait(control_.abort_claimed, std::exchange(first, 0));
    }
    *std::ranges::copy(sentence, control_.abort_text).out = '\0';
    control_.abort_rank = rank_;
    // pairs with: aborted (tools/splitcrun/verdict.cc)
    control_.abort_ready.store(1, std::memory_order_release);
  }

  void join() {
    // pairs with: the store of kJoined below, in the process that is this rank already
    if (me_.state.load(std::memory_order_acquire) == RankState::kJoined) {
      const pid_t other = me_.pid.load(std::memory_order_relaxed);
      if (other != getpid() && is_alive(other)) {
        throw Error(rank_text(rank_) + ": process " + std::to_string(other) +
                    " is this rank already, so process " + std::to_string(getpid()) +
                    " cannot be; start one program a rank");
      }
    }
    me_.pid.store(getpid(), std::memory_order_relaxed);
    me_.activity.reset();
    me_.joined.store(me_.finished.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // Either the launcher sees this state when a process leaves, or the loop below sees kLeft.
    // pairs with: is_in_job_after (am/job/config/control.h)
    me_.state.store(RankState::kJoined, std::memory_order_seq_cst);
    for (Rank other = 0; other < size_; ++other) {
      // pairs with: note_leaver (tools/splitcrun/verdict.cc)
      if (control_rank(control_, other).state.load(std::memory_order_seq_cst) == RankState::kLeft) {
        throw Error(rank_text(rank_) + ": " + rank_text(other) + " has left" +
                    (control_.survives != 0 ? "" : " with exit code 0") +
                    " before this job could start; every rank must run the same collective calls");
      }
    }
  }

  // A process may die anywhere in here, so what counts is one word of each, which only it writes.
  // That every entry wakes all who wait is the price.
  void barrier_without_dead() {
    const std::uint32_t mine = me_.entered.load(std::memory_order_relaxed) + 1;
    // pairs with: all_have_entered(), which sees what this process did before
    me_.entered.store(mine, std::memory_order_release);
    // pairs with: the load below; who sees the word changed sees why
    control_.epoch.fetch_add(1, std::memory_order_release);
    futex_wake_all(control_.epoch);
    for (;;) {
      // pairs with: the addition above, and that of DeathNotices::post()
      const std::uint32_t seen = control_.epoch.load(std::memory_order_acquire);
      if (all_have_entered(mine)) return;
      futex_wait(control_.epoch, seen);
    }
  }

  // Throws PeerDied if one of the dead has not: so all who live pass the barrier, or none.
  bool all_have_entered(std::uint32_t barrier) const {
    bool all = true;
    for (Rank rank = 0; rank < size_; ++rank) {
      const bool dead = notices_.is_dead(rank);  // first: then it enters none any more
      // pairs with: barrier_without_dead()
      const std::uint32_t entered =
          control_rank(control_, rank).entered.load(std::memory_order_acquire);
      if (static_cast<std::int32_t>(entered - barrier) >= 0) continue;
      if (dead) throw PeerDied(rank_, "a collective call", rank);
      all = false;
    }
    return all;
  }

  const Rank rank_;
  const std::uint32_t size_;
  const shmem::Region region_;
  Control& control_;
  ControlRank& me_;
  DeathNotices notices_;
};

}  // namespace

std::unique_ptr<Bootstrap> join_splitcrun(Rank rank, std::uint32_t size, int job_fd) {
  return std::make_unique<BootstrapLaunch>(rank, size, job_fd);
}

}  // namespace am
