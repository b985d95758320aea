#include "rdma/provider_guard.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace rdma {
namespace {

using testing::ExitedWithCode;
using testing::HasSubstr;
using testing::Not;

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

struct Guard : ProviderGuard {
  explicit Guard(Patience patience = kPatience)
      : ProviderGuard("rank 3: Job: ", "libfabric 9.9's provider glass", "; choose another",
                      patience) {}
};

// By its signal, or as a sanitizer's handler ends a process.
bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

// Not by raise(): the kernel says where. A sanitizer would end it before.
__attribute__((no_sanitize("undefined"))) int fault() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
  return 0;
}

int end_by(int signal) {
  raise(signal);
  return 0;
}

TEST(ProviderGuard, names_the_provider_and_the_call_that_crashed) {
  EXPECT_EXIT(Guard().run("fi_domain", fault), failed,
              HasSubstr("rank 3: Job: rdma: libfabric 9.9's provider glass crashed (SIGSEGV) in "
                        "fi_domain; choose another\n"));
}

TEST(ProviderGuard, names_every_way_to_crash) {
  struct Way {
    int signal;
    const char* name;
  };
  for (const auto& [signal, name] : {Way{SIGSEGV, "SIGSEGV"}, Way{SIGBUS, "SIGBUS"},
                                     Way{SIGFPE, "SIGFPE"}, Way{SIGILL, "SIGILL"}}) {
    EXPECT_EXIT(Guard().run("fi_fabric", [signal = signal] { return end_by(signal); }), failed,
                HasSubstr("crashed (" + std::string(name) + ") in fi_fabric"));
  }
  EXPECT_EXIT(Guard().run("fi_fabric", []() -> int { std::abort(); }), failed,
              HasSubstr("crashed (SIGABRT) in fi_fabric"));
}

TEST(ProviderGuard, leaves_the_rest_to_the_programs_own_handler) {
  constexpr int kOwn = 42;
  const auto crash = [](auto how) {
    signal(SIGSEGV, [](int) { _exit(kOwn); });
    signal(SIGABRT, [](int) { _exit(kOwn); });
    Guard().run("fi_domain", how);
  };
  EXPECT_EXIT(crash(fault), ExitedWithCode(kOwn), HasSubstr("crashed (SIGSEGV) in fi_domain"));
  EXPECT_EXIT(crash([]() -> int { std::abort(); }), ExitedWithCode(kOwn),
              HasSubstr("crashed (SIGABRT) in fi_domain"));
}

TEST(ProviderGuard, does_not_blame_the_provider_for_what_others_do) {
  const auto after = [] {
    Guard guard;
    guard.run("fi_domain", [] { return 0; });
    fault();
  };
  EXPECT_EXIT(after(), failed, Not(HasSubstr("glass")));
  const auto beside = [] {
    Guard().run("fi_domain", [] {
      std::thread(fault).join();
      return 0;
    });
  };
  EXPECT_EXIT(beside(), failed, Not(HasSubstr("glass")));
}

TEST(ProviderGuard, ends_a_process_whose_provider_does_not_answer) {
  const auto hang = [] {
    Guard(std::chrono::milliseconds(200)).run("fi_enable", [] { return pause(); });
  };
  EXPECT_EXIT(
      hang(), ExitedWithCode(1),
      HasSubstr("rank 3: Job: rdma: libfabric 9.9's provider glass has not answered for 1 s "
                "in fi_enable; choose another\n"));
}

TEST(ProviderGuard, gives_each_call_its_own_time) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kPatience(1);
  Guard guard(kPatience);
  const auto end = Clock::now() + 3 * kPatience;
  while (Clock::now() < end) guard.run("fi_domain", [] { return sched_yield(); });
}

TEST(ProviderGuard, throws_what_a_call_returns) {
  Guard guard;
  EXPECT_EQ(guard.try_run("fi_domain", [] { return -FI_ENODATA; }), -FI_ENODATA);
  try {
    guard.run("fi_domain", [] { return -FI_ENODATA; });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "rdma: libfabric 9.9's provider glass: fi_domain (No data available)");
    EXPECT_EQ(error.code, FI_ENODATA);
  }
}

TEST(ProviderGuard, puts_the_handlers_back_when_the_last_one_goes) {
  const auto all = [] {
    std::array<void (*)(int, siginfo_t*, void*), kSignals.size()> found{};
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction now {};
      sigaction(kSignals[i], nullptr, &now);
      found[i] = now.sa_sigaction;
    }
    return found;
  };
  const auto before = all();
  {
    Guard guard;
    const auto during = all();
    EXPECT_NE(during, before);
    std::thread([] { Guard another; }).join();
    EXPECT_EQ(all(), during);
  }
  EXPECT_EQ(all(), before);
}

TEST(ProviderGuard, leaves_a_handler_that_a_provider_has_installed) {
  constexpr int kOfProvider = 43;
  const auto after = [] {
    Guard().run("fi_enable", [] {
      signal(SIGSEGV, [](int) { _exit(kOfProvider); });
      return 0;
    });
    fault();
  };
  EXPECT_EXIT(after(), ExitedWithCode(kOfProvider), Not(HasSubstr("glass")));
}

}  // namespace
}  // namespace rdma
