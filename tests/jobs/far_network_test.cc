// A network that cannot be used: every process says why, with the remedy, and the job ends.
#include <gtest/gtest.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

#include "tests/jobs/far_jobs.h"
#include "tests/support/text.h"

namespace am::test {
namespace far_network {

using ::test::expect_contains;

constexpr unsigned kPatience = 30;  // seconds after which a job that does not end fails the test

// With `setting` for all, under splitcrun and without a launcher.
void expect_refused(const std::string& setting, std::initializer_list<std::string> parts) {
  alarm(kPatience);
  const auto result =
      run({"env", setting, kSplitcrun, "-n", "3", "--nodes", "2", kFarVictim, "short"});
  EXPECT_EQ(result.exit_code, 1);
  expect_contains(result.err, parts);
  EXPECT_EQ(result.out, "");
  Meeting job("", {"env", setting, kFarVictim, "short"});
  for (int rank = 0; rank < Meeting::kSize; ++rank) {
    const auto one = job[rank].finish();
    EXPECT_NE(one.exit_code, 0) << "rank " << rank;
    expect_contains(one.err, {"rank "});
    EXPECT_EQ(one.out, "");
  }
  alarm(0);
}

TEST(FarNetwork, that_no_provider_offers_is_refused) {
  expect_refused("SPLITC_PROVIDER=pigeons", {"no provider pigeons", "those it has are"});
}

TEST(FarNetwork, on_an_interface_that_does_not_exist_is_refused) {
  expect_refused("SPLITC_INTERFACE=eth77", {"eth77"});
}

TEST(FarNetwork, at_an_address_that_is_not_of_this_machine_is_refused) {
  expect_refused("SPLITC_INTERFACE=192.0.2.77", {"192.0.2.77"});
}

// As on a machine where libfabric finds nothing.
TEST(FarNetwork, without_any_provider_is_refused) {
  expect_refused("FI_PROVIDER=pigeons", {"rank "});
}

// With a libfabric whose provider crashes.
TEST(FarNetwork, whose_provider_crashes_is_named) {
  alarm(kPatience);
  const auto result = run({"env", "LD_LIBRARY_PATH=tests/rdma/brittle", "BRITTLE_CALL=fi_domain",
                           kSplitcrun, "-n", "2", "--nodes", "2", kFarVictim, "short"});
  EXPECT_NE(result.exit_code, 0);
  expect_contains(result.err, {": Job: rdma: libfabric 9.9's provider brittle on brittle0 crashed "
                               "(SIGSEGV) in fi_domain; choose another with SPLITC_PROVIDER"});
  EXPECT_EQ(result.out, "");
  alarm(0);
}

// Nobody is left waiting when only one process cannot go that way.
TEST(FarNetwork, that_one_process_does_not_have_ends_the_job) {
  alarm(kPatience);
  const auto result = run({kSplitcrun, "-n", "3", "--nodes", "2", "sh", "-c",
                           "test $SPLITC_RANK != 1 || export SPLITC_PROVIDER='tcp;ofi_rxm' "
                           "SPLITC_INTERFACE=lo; "
                           "test $SPLITC_RANK = 1 || export SPLITC_PROVIDER='udp;ofi_rxd' "
                           "SPLITC_INTERFACE=lo; exec " +
                               std::string(kFarVictim) + " short"});
  EXPECT_EQ(result.exit_code, 1);
  expect_contains(result.err, {"rank 1"});
  alarm(0);
}

// Jobs of one node do not ask for a network at all.
TEST(FarNetwork, is_not_asked_for_on_one_node) {
  alarm(kPatience);
  const auto result = run({"env", "FI_PROVIDER=pigeons", kSplitcrun, "-n", "2", "tests/jobs/many"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  alarm(0);
}

}  // namespace far_network
}  // namespace am::test
