// Jobs of two processes on each of two hosts, over datagrams on a path that loses, doubles,
// exchanges, delays and damages them. The programs compare everything that they do with what it
// must come to: the conformance suite with bytes computed by sender and receiver each for itself,
// soak with a model of the whole job.
#include "tests/am/link/forwarder/two_hosts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/am/link/forwarder/host.h"
#include "tests/support/seed.h"

namespace am::link::test {
namespace {

using Words = std::vector<std::string>;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint64_t kEarly = 300;  // a datagram that is sent when the work has begun

Words soak() {
  return {"tests/soak/soak",
          "--seed",
          std::to_string(::test::seed()),
          "--rounds",
          "2",
          "--max-bytes",
          "65536",
          "--operations",
          "10"};
}
Words messages_of_all_sizes() {
  return {"tests/am/link/conformance", "--seed=" + std::to_string(::test::seed()),
          "--gtest_filter=Conformance.*:Stores.go_*"};
}

class TwoHosts : public testing::Test {
 protected:
  void SetUp() override {
    try {
      const Host host("192.0.2.1");
    } catch (const NoHosts& none) {
      GTEST_SKIP() << none.what();
    }
  }

  // Runs a job that has to end well. Returns what happened on its path.
  Path::Stats run(Weather weather, const Words& program, const Words& settings = {}) {
    weather.seed = ::test::seed();
    outcome_ = run_on_two_hosts(weather, program, settings);
    EXPECT_TRUE(outcome_.good()) << outcome_.text();
    EXPECT_TRUE(says("2 nodes, joined by ")) << outcome_.text();
    EXPECT_GT(outcome_.path.datagrams, 2 * kEarly) << "too little work to meet the weather";
    return outcome_.path;
  }
  // Whether a process of the last job has said that.
  bool says(const std::string& text) const {
    return outcome_.text().find(text) != std::string::npos;
  }

 private:
  Outcome outcome_;
};

constexpr const char* kDamaged = "or were damaged on their way";

TEST_F(TwoHosts, on_a_good_path_work_as_one_job) {
  const Path::Stats path = run({}, soak());
  EXPECT_TRUE(says("joined by datagrams of 1472 B by udp on cable0 (192.0.2.0/24)"));
  EXPECT_FALSE(says(kDamaged));
  EXPECT_EQ(path.dropped + path.doubled + path.overtaken + path.damaged + path.cut_off, 0u);
}

TEST_F(TwoHosts, do_with_5_percent_lost_and_others_doubled_and_overtaken) {
  const Path::Stats path = run({.drop = 5, .dup = 5, .reorder = 5}, messages_of_all_sizes());
  EXPECT_GT(path.dropped, 0u);
  EXPECT_GT(path.doubled, 0u);
  EXPECT_GT(path.overtaken, 0u);
}

TEST_F(TwoHosts, do_with_20_percent_lost_and_others_late_and_damaged) {
  const Path::Stats path =
      run({.drop = 20, .dup = 10, .reorder = 20, .corrupt = 2, .delay_ns = kMs / 10}, soak());
  EXPECT_GT(path.dropped, 0u);
  EXPECT_GT(path.damaged, 0u);
  EXPECT_TRUE(says(kDamaged));
}

// What the kernel lets through is dropped by the seal, and comes again.
TEST_F(TwoHosts, do_not_believe_datagrams_whose_checksums_alone_are_right) {
  const Path::Stats path = run({.corrupt = 10}, messages_of_all_sizes());
  EXPECT_GT(path.damaged, 0u);
  EXPECT_TRUE(says(kDamaged));
}

// Processes that sleep wake up to repeat what was cut off, although nothing comes.
TEST_F(TwoHosts, go_on_when_a_partition_has_healed) {
  const Path::Stats path = run({.drop = 1, .partition_at = kEarly, .partition_ns = 700 * kMs},
                               soak(), {"SPLITC_WAIT=block"});
  EXPECT_GT(path.cut_off, 0u);
}

TEST_F(TwoHosts, lose_nothing_when_the_whole_path_pauses) {
  const Path::Stats path = run({.pause_at = kEarly, .pause_ns = 700 * kMs}, soak());
  EXPECT_GT(path.paused, 0u);
  EXPECT_EQ(path.dropped + path.cut_off, 0u);
}

}  // namespace
}  // namespace am::link::test
