#include "rdma/library.h"

#include <gtest/gtest.h>
#include <rdma/fi_errno.h>
#include <signal.h>

#include <vector>

#include "rdma/open_fabric.h"

namespace rdma {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

std::vector<Handler> handlers() {
  std::vector<Handler> all;
  for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGINT, SIGTERM}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    all.push_back(now.sa_sigaction);
  }
  return all;
}

TEST(Library, loads_leaving_signal_handlers_alone) {
  const std::vector<Handler> before = handlers();
  EXPECT_NE(Library::get().getinfo, nullptr);
  EXPECT_EQ(handlers(), before);
  const Fabric::Options options{.provider = "tcp;ofi_rxm", .one_host = true};
  const Fabric fabric(options, Fabric::candidates(options).front().way);
  EXPECT_EQ(handlers(), before);
}

TEST(Library, is_one_whose_functions_are_known) {
  EXPECT_GE(Library::get().version(), static_cast<std::uint32_t>(FI_VERSION(1, 9)));
}

TEST(Library, knows_its_errors) { EXPECT_STRNE(Library::get().strerror(FI_ENOKEY), ""); }

}  // namespace
}  // namespace rdma
