// Names the provider that crashes or hangs while it is being set up.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "rdma/error.h"

namespace rdma {

// Watches calls of libfabric that are made by the thread that holds it:
//
//   ProviderGuard guard("rank 3: ", "libfabric 2.6's provider tcp", "; choose another");
//   guard.run("fi_domain", [&] { return fi_domain(...); });
//
// When such a call ends in SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, one sentence that names the
// provider and the call is written to standard error. Then the signal takes the course that it
// would have taken: to the handler that the program had installed, or to the system, which ends the
// process. When a call does not return within `patience`, the sentence is written and the process
// ends with exit code 1; time during which the process was stopped does not count.
//
// The calls are made in this process, not tried in a child beforehand: a child could crash where
// this process would not, since not every provider survives a fork.
//
// Thread rule: one thread holds at most one; several threads may hold one each.
// Cost: a thread and ten system calls, 0.1 ms in all.
class ProviderGuard {
 public:
  using Patience = std::chrono::milliseconds;
  static constexpr Patience kPatience = std::chrono::seconds(60);

  // The sentence is `who` + "rdma: " + `subject` + " crashed (SIGSEGV) in fi_domain" + `remedy`.
  ProviderGuard(const std::string& who, std::string subject, std::string remedy,
                Patience patience = kPatience);
  ~ProviderGuard();

  // Returns what `call` returns. `name` is a string literal.
  template <class Call>
  long try_run(const char* name, Call&& call) {
    // Relaxed: the thread that keeps time reads nothing else that is written here.
    calls_.fetch_add(1, std::memory_order_relaxed);
    call_.store(name, std::memory_order_relaxed);
    const long result = call();
    call_.store(nullptr, std::memory_order_relaxed);
    return result;
  }
  // Throws Error when `call` returns something else than 0.
  template <class Call>
  void run(const char* name, Call&& call) {
    if (const long result = try_run(name, call); result != 0) fail(subject_ + ": " + name, result);
  }

  // Used by the signal handler: writes the sentence. Safe in a signal handler.
  void report_crash(const char* signal) const noexcept;

 private:
  void keep_time();
  void report(const char* event, const char* detail, const char* before_call) const noexcept;

  const std::string subject_;
  const std::string begins_;  // the sentence
  const std::string ends_;
  const Patience patience_;
  std::atomic<const char*> call_{nullptr};  // in progress
  std::atomic<unsigned> calls_{0};          // begun
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;  // guarded by mutex_
  std::thread clock_;   // not joinable if the system had none to give
};

}  // namespace rdma
