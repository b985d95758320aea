// What splitcrun was started with and changes for itself. Its processes get it back.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <optional>

#include "am/job/descriptors.h"

namespace am::launcher {

class Inherited {
 public:
  // From here on a write that nobody reads, or that a file may not take, is an error of write()
  // (SIGPIPE, SIGXFSZ), children are there to be waited for (SIGCHLD), and as many files may be
  // open as the hard limit permits.
  Inherited() {
    sigprocmask(SIG_BLOCK, nullptr, &mask_);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction own {};
      own.sa_handler = kSignals[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
      sigaction(kSignals[i], &own, &actions_[i]);
    }
    open_files_ = raise_open_files_limit();
  }

  // The signal mask, dispositions and limits from before. Safe between fork and exec.
  void restore() const noexcept {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
    if (open_files_) setrlimit(RLIMIT_NOFILE, &*open_files_);
    restore_mask();
  }

  // The signal mask alone: signals end this process again.
  void restore_mask() const noexcept { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

 private:
  static constexpr std::array<int, 3> kSignals = {SIGPIPE, SIGXFSZ, SIGCHLD};

  sigset_t mask_;
  std::array<struct sigaction, kSignals.size()> actions_;
  std::optional<rlimit> open_files_;
};

}  // namespace am::launcher
