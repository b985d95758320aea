// What splitcrun was started with and changes for itself. Its processes get it back.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <optional>

namespace am::launcher {

class Inherited {
 public:
  // From here on a write that nobody reads, or that a file may not take, is an error of write()
  // (SIGPIPE, SIGXFSZ), children are there to be waited for (SIGCHLD), and as many files may be
  // open as the hard limit permits.
  Inherited();

  // The signal mask, dispositions and limits from before. Safe between fork and exec.
  void restore() const noexcept;
  // The signal mask alone: signals end this process again.
  void restore_mask() const noexcept;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGPIPE, SIGXFSZ, SIGCHLD};

  sigset_t mask_;
  std::array<struct sigaction, kSignals.size()> actions_;
  std::optional<rlimit> open_files_;
};

}  // namespace am::launcher
