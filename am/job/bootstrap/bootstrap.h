// This room is what a process knows of its launcher: Bootstrap, one class for each launcher, and
// what a process says when it leaves its job. It uses am/job/config/config.h,
// am/job/config/control.h, shmem and PMIx, and knows neither messages nor the network. None of
// its files reads the environment or chooses the class (am/job/make_bootstrap.h does), and no
// answer is believed unchecked.
//
// How a process finds the others of its job before any message can flow: its rank, the size of the
// job, an exchange of addresses, a barrier, and two ways to leave.
//
// One thread at a time. Collective calls are made by all processes of the job in the same order;
// they block in the kernel and make no progress on messages.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/job/config/exit_request.h"
#include "am/types/types.h"

namespace am {

class Activity;
class CrashFrames;
class DeathNotices;

class Bootstrap {
 public:
  static constexpr std::size_t kMaxBlob = 512;       // bytes that one process gives to exchange()
  static constexpr std::size_t kMaxSentence = 1023;  // bytes of abort() that are shown

  virtual ~Bootstrap() = default;

  virtual Rank rank() const = 0;
  virtual std::uint32_t size() const = 0;
  virtual std::string launcher() const = 0;  // "splitcrun", "rendezvous", "PMIx", "PMI-1", "none"

  // Gives `mine` to all and returns everybody's, by rank. Collective. Throws Error when `mine` is
  // larger than kMaxBlob.
  virtual std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) = 0;

  // Returns when all processes have called it. Collective. The launcher ends the job when one of
  // them dies, so this does not wait for the dead. In a job that goes on (death_notices()), this
  // and exchange() throw PeerDied from then on.
  virtual void barrier() = 0;

  // This process has passed its last collective call: from here, its leaving with exit code 0 is
  // no loss to the others.
  virtual void finished() = 0;

  // Where the launcher reads what this process is doing; nullptr: it does not.
  virtual Activity* activity() { return nullptr; }

  // Where a process of the job asks all others to end without a word of the launcher, which takes
  // the end of each for an ordinary one from then on; nullptr: the launcher knows of no such end.
  virtual ExitRequest* exit_request() { return nullptr; }

  // Where the launcher reports deaths, in a job that goes on without the dead; nullptr: a death
  // ends the job.
  virtual DeathNotices* death_notices() { return nullptr; }

  // Where the launcher finds out at which lines of the source a process has crashed; nullptr: it
  // does not.
  virtual CrashFrames* crash_frames() { return nullptr; }

  // Ends the whole job: `sentence` is printed first, standard streams are flushed, every process
  // ends, and the job's exit code is `exit_code` (1 instead of 0). In a forked child only the child
  // ends, after "a child of " and the sentence.
  [[noreturn]] void abort(int exit_code, std::string_view sentence);

 protected:
  void check_blob(std::span<const std::byte> mine) const;  // throws Error when it is too large

 private:
  // Sees to it that `sentence`, at most kMaxSentence bytes, is printed and that the others end. The
  // caller then leaves with `exit_code`, which is not 0.
  virtual void report_abort(int exit_code, std::string_view sentence) = 0;

  const pid_t process_ = getpid();
};

// A program started bare: a job of one.
class BootstrapSingle final : public Bootstrap {
 public:
  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  std::string launcher() const override { return "none"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override {}
  void finished() override {}
  ExitRequest* exit_request() override { return &exit_request_; }

 private:
  void report_abort(int exit_code, std::string_view sentence) override;

  ExitRequest exit_request_;
};

}  // namespace am
