// A provider that crashes while it is opened.
#include <dlfcn.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "rdma/endpoint.h"
#include "rdma/error.h"
#include "rdma/open_fabric.h"

namespace rdma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// By its signal, or as a sanitizer's handler ends a process.
bool failed(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; }

// In a child: the first library of that name that a process loads stays.
void open_brittle(const char* call) {
  dlopen("tests/rdma/brittle/libfabric.so.1", RTLD_NOW);
  setenv("BRITTLE_CALL", call, 1);
  const Fabric::Options options{.provider = "brittle", .one_host = true, .who = "rank 5: Job: "};
  Fabric fabric(options, Fabric::candidates(options).front().way);
  const Endpoint endpoint(fabric, {});
}

TEST(BrittleLibfabric, provider_is_named_with_the_call_that_it_crashed_in) {
  for (const std::string call : {"fi_fabric", "fi_domain", "fi_cq_open"}) {
    EXPECT_EXIT(open_brittle(call.c_str()), failed,
                AllOf(HasSubstr("rank 5: Job: rdma: libfabric 9.9's provider brittle on brittle0 "
                                "crashed (SIGSEGV) in " +
                                call),
                      HasSubstr("; choose another with SPLITC_PROVIDER\n")));
  }
}

TEST(BrittleLibfabric, provider_that_crashes_when_it_is_listed_can_be_left_out) {
  EXPECT_EXIT(open_brittle("fi_getinfo"), failed,
              AllOf(HasSubstr("rank 5: Job: rdma: libfabric 9.9 or one of its providers crashed "
                              "(SIGSEGV) in fi_getinfo"),
                    HasSubstr("FI_PROVIDER")));
}

TEST(BrittleLibfabric, provider_that_only_fails_is_an_error) {
  const auto fails = [] {
    try {
      open_brittle("");
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(2);
    }
  };
  EXPECT_EXIT(fails(), testing::ExitedWithCode(2),
              HasSubstr("rdma: libfabric 9.9's provider brittle on brittle0: fi_cq_open"));
}

}  // namespace
}  // namespace rdma
