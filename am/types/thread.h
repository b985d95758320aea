#pragma once

#include <signal.h>

#include <array>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "am/types/types.h"

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

// Starts a thread of the library, which receives no signal of the program. Throws Error if there is
// none to be had, since std::thread's own message names neither the process nor the purpose. `who`
// begins the sentence, such as "rank 3: Job: ", and `purpose` says what the thread is for.
template <class Thread = std::thread, class Body>
Thread start_thread(const std::string& who, const char* purpose, Body&& body) {
  const SignalsBlocked blocked;  // the thread inherits it
  try {
    return Thread(std::forward<Body>(body));
  } catch (const std::system_error& error) {
    throw Error(who + "cannot start a thread " + purpose + " (" + error.code().message() +
                "); raise the limit of processes and threads (ulimit -u, or pids.max of the "
                "control group)");
  }
}

}  // namespace am
