#pragma once

#include <signal.h>

#include <array>

namespace am {

// What a thread gets for a fault of its own.
inline constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

// For as long as it lives, the calling thread gets no signals but those of its own faults. Threads
// that it makes inherit that: signals are for the program's own threads, and a fault in any thread
// is reported (am/job/crash/report.h).
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t others;
    sigfillset(&others);
    for (const int fault : kFaults) sigdelset(&others, fault);
    pthread_sigmask(SIG_SETMASK, &others, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace am
