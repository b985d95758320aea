#include "rdma/provider_guard.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "rdma/process.h"

namespace rdma {
namespace {

struct Crash {
  int signal;
  const char* name;
};
constexpr std::array kCrashes{Crash{SIGSEGV, "SIGSEGV"}, Crash{SIGBUS, "SIGBUS"},
                              Crash{SIGFPE, "SIGFPE"},   Crash{SIGILL, "SIGILL"},
                              Crash{SIGTRAP, "SIGTRAP"}, Crash{SIGABRT, "SIGABRT"}};

// Of the process, while there is a guard.
struct Handlers {
  std::mutex mutex;
  int guards = 0;  // guarded by mutex
  // What was there before. Stays when the last guard has gone: a library that was loaded meanwhile
  // may have installed a handler that calls ours.
  std::array<struct sigaction, kCrashes.size()> before{};
};

Handlers& handlers() {
  static Handlers instance;
  return instance;
}

thread_local const ProviderGuard* holder = nullptr;  // this thread's guard

void on_crash(int signal, siginfo_t* info, void*) {
  const auto at = std::ranges::find(kCrashes, signal, &Crash::signal);
  if (holder != nullptr) holder->report_crash(at->name);
  sigaction(signal, &handlers().before[static_cast<std::size_t>(at - kCrashes.begin())], nullptr);
  // A fault happens again on return from here. What was sent by raise() or kill() does not.
  if (info->si_code <= 0) raise(signal);
}

void install() {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  if (all.guards++ != 0) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_crash;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    sigaction(kCrashes[i].signal, &ours, &all.before[i]);
  }
}

void remove() {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  if (--all.guards != 0) return;
  for (std::size_t i = 0; i < kCrashes.size(); ++i) {
    struct sigaction now {};
    sigaction(kCrashes[i].signal, nullptr, &now);
    // What a provider has installed since is left: it calls ours, which calls what was before.
    if (now.sa_sigaction == on_crash) sigaction(kCrashes[i].signal, &all.before[i], nullptr);
  }
}

iovec piece(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

// A thread that no signal of the program goes to. Not joinable if there is none to be had.
template <class Body>
std::thread start_thread(Body body) {
  const SignalsBlocked blocked;  // the thread inherits it
  try {
    return std::thread(body);
  } catch (const std::system_error&) {  // then nobody keeps the time
    return {};
  }
}

}  // namespace

ProviderGuard::ProviderGuard(const std::string& who, std::string subject, std::string remedy,
                             Patience patience)
    : subject_(std::move(subject)),
      begins_(who + "rdma: " + subject_),
      ends_(std::move(remedy) + "\n"),
      patience_(patience) {
  install();
  holder = this;
  clock_ = start_thread([this] { keep_time(); });
}

ProviderGuard::~ProviderGuard() {
  holder = nullptr;
  remove();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_one();
  if (clock_.joinable()) clock_.join();
}

void ProviderGuard::report(const char* event, const char* detail,
                           const char* before_call) const noexcept {
  const char* const call = call_.load(std::memory_order_relaxed);
  if (call == nullptr) return;  // the crash is not of the provider's making
  const std::array pieces{piece(begins_.c_str()), piece(event), piece(detail),
                          piece(before_call),     piece(call),  piece(ends_.c_str())};
  [[maybe_unused]] const ssize_t written =
      writev(STDERR_FILENO, pieces.data(), static_cast<int>(pieces.size()));
}

void ProviderGuard::report_crash(const char* signal) const noexcept {
  report(" crashed (", signal, ") in ");
}

// Counts slices, so that a process that is stopped for a while loses one of them at most.
void ProviderGuard::keep_time() {
  const Patience slice = std::min(patience_, Patience(1000));
  unsigned seen = 0;  // which call `passed` counts for
  Patience passed{0};
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, slice, [this] { return ended_; })) {
    const unsigned begun = calls_.load(std::memory_order_relaxed);
    const bool same_call = begun == seen && call_.load(std::memory_order_relaxed) != nullptr;
    passed = same_call ? passed + slice : Patience(0);
    seen = begun;
    if (passed < patience_) continue;
    const std::string seconds = std::to_string((patience_.count() + 999) / 1000);
    report(" has not answered for ", (seconds + " s").c_str(), " in ");
    _exit(EXIT_FAILURE);
  }
}

}  // namespace rdma
