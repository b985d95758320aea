#include "tools/splitcrun/inherited.h"

#include "am/job/descriptors.h"

namespace am::launcher {

Inherited::Inherited() {
  sigprocmask(SIG_BLOCK, nullptr, &mask_);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction own {};
    own.sa_handler = kSignals[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(kSignals[i], &own, &actions_[i]);
  }
  open_files_ = raise_open_files_limit();
}

void Inherited::restore() const noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
  if (open_files_) setrlimit(RLIMIT_NOFILE, &*open_files_);
  restore_mask();
}

void Inherited::restore_mask() const noexcept { sigprocmask(SIG_SETMASK, &mask_, nullptr); }

}  // namespace am::launcher
