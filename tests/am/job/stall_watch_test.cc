// When a job is said to stand still, and in which words.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "am/job/stall/watch.h"
#include "am/observe/activity.h"

namespace am {
namespace {

using namespace std::chrono_literals;
using Life = ProcessView::Life;
using Time = StallWatch::Clock::time_point;

ProcessView running(Rank rank, std::uint64_t polls) {
  ProcessView view{rank, Life::kAlive, {}};
  view.activity.pid = 1;
  view.activity.polls = polls;
  return view;
}

ProcessView waiting(Rank rank, const char* call, std::uint32_t line, std::uint64_t progress = 1) {
  ProcessView view = running(rank, 2);
  view.activity.state = Activity::State::kWaiting;
  WaitRecord& wait = view.activity.wait;
  std::strcpy(wait.call, call);
  std::strcpy(wait.file, "a.cc");
  wait.line = line;
  wait.peer = kNobody;
  wait.progress = progress;
  return view;
}

ProcessView finished(Rank rank, std::uint64_t collectives) {
  ProcessView view = running(rank, 2);
  view.activity.state = Activity::State::kFinished;
  view.activity.collectives = collectives;
  return view;
}

TEST(StallWatch, counts_from_the_last_progress) {
  StallWatch watch;
  watch.observe(Time(10s), {waiting(0, "barrier", 40, 1)});
  watch.observe(Time(15s), {waiting(0, "barrier", 40, 1)});
  EXPECT_EQ(watch.longest_stall(), 5s);
  watch.observe(Time(16s), {waiting(0, "barrier", 40, 2)});
  EXPECT_EQ(watch.longest_stall(), 0s);
}

TEST(StallWatch, looks_in_vain_are_no_progress) {
  StallWatch watch;
  ProcessView process = waiting(0, "barrier", 40);
  for (int second = 0; second <= 5; ++second) {
    process.activity.polls += 2;
    watch.observe(Time(1s * second), {process});
  }
  EXPECT_EQ(watch.longest_stall(), 5s);
}

// Also many slow ones in one poll, of a call that waits.
TEST(StallWatch, handlers_that_are_called_are_progress) {
  StallWatch watch;
  ProcessView process = waiting(0, "barrier", 40);
  for (std::uint32_t second = 0; second <= 5; ++second) {
    process.activity.handled = second;
    watch.observe(Time(1s * second), {process});
    EXPECT_EQ(watch.longest_stall(), 0s);
  }
}

// Of a long access, while others wait for who makes it. Nothing else may hold up the report: a
// process that is busy with something else may not be what they wait for.
TEST(StallWatch, pieces_of_a_long_access_are_progress_of_all) {
  StallWatch watch;
  ProcessView reads = waiting(0, "sync", 30);
  const ProcessView waits = waiting(1, "barrier", 40);
  for (int second = 0; second <= 100; ++second) {
    if (second % 4 == 0) ++reads.activity.pieces;
    watch.observe(Time(1s * second), {reads, waits});
    EXPECT_LE(watch.longest_stall(), 3s) << second;
  }
  for (int second = 101; second <= 105; ++second) {
    ++reads.activity.wait.progress;  // as of another wait, or of another process's message
    ++reads.activity.far_packets;
    reads.activity.far_bytes += 8;
    watch.observe(Time(1s * second), {reads, waits});
  }
  EXPECT_EQ(watch.longest_stall(), 5s);
}

TEST(StallWatch, a_job_that_only_computes_or_polls_does_not_stand_still) {
  StallWatch watch;
  for (int second = 0; second < 100; ++second) {
    watch.observe(Time(1s * second), {running(0, 8), running(1, 2u * second), finished(2, 1)});
    EXPECT_EQ(watch.longest_stall(), 0s);
  }
  EXPECT_EQ(watch.describe(),
            "rank 0 computing without a poll for 99 s; rank 1 running and polling; rank 2 "
            "finished");
}

TEST(StallWatch, a_handler_that_does_not_return_stands_still) {
  StallWatch watch;
  ProcessView process = running(0, 7);
  process.activity.handler = Activity::kReturned + 1;  // no code of any process
  process.activity.source = 3;
  watch.observe(Time(1s), {process});
  watch.observe(Time(32s), {process});
  EXPECT_EQ(watch.longest_stall(), 31s);
  EXPECT_EQ(watch.describe(), "rank 0 in handler of a message of rank 3 for 31 s");
}

TEST(StallWatch, a_handler_that_runs_inside_a_call_that_waits_is_named) {
  StallWatch watch;
  ProcessView process = waiting(0, "barrier", 40);
  process.activity.handler = Activity::kReturned + 1;  // no code of any process
  process.activity.source = 3;
  watch.observe(Time(0s), {process});
  watch.observe(Time(4s), {process});
  EXPECT_EQ(watch.longest_stall(), 4s);
  EXPECT_EQ(watch.describe(), "rank 0 in handler of a message of rank 3 for 4 s");
}

TEST(StallWatch, a_callback_that_does_not_return_stands_still) {
  StallWatch watch;
  ProcessView process = running(0, 7);
  process.activity.handler = Activity::kCallback;
  watch.observe(Time(1s), {process});
  watch.observe(Time(32s), {process});
  EXPECT_EQ(watch.longest_stall(), 31s);
  EXPECT_EQ(watch.describe(), "rank 0 in a callback for 31 s");
}

TEST(StallWatch, groups_equal_calls_and_names_the_odd_one_last) {
  StallWatch watch;
  ProcessView odd = waiting(2, "store_sync", 17);
  std::strcpy(odd.activity.wait.unit, "bytes");
  odd.activity.wait.have = 64;
  odd.activity.wait.wanted = 128;
  const std::vector<ProcessView> all{waiting(0, "barrier", 40), waiting(1, "barrier", 40), odd,
                                     waiting(3, "barrier", 40)};
  watch.observe(Time(0s), all);
  watch.observe(Time(31s), all);
  EXPECT_EQ(watch.describe(),
            "3 processes in barrier at a.cc:40 for 31 s (ranks 0-1, 3); rank 2 in store_sync at "
            "a.cc:17, 64 bytes of 128 missing, for 31 s");
}

TEST(StallWatch, says_what_is_needed_of_whom) {
  StallWatch watch;
  ProcessView process = waiting(0, "request", 5);
  std::strcpy(process.activity.wait.needs, "a credit");
  process.activity.wait.peer = 4;
  ProcessView stopped = waiting(1, "barrier", 6);
  stopped.life = Life::kStopped;
  ProcessView absent{2, Life::kAlive, {}};
  ProcessView gone = running(3, 2);
  gone.life = Life::kEnded;
  watch.observe(Time(0s), {process, stopped, absent, gone});
  EXPECT_EQ(watch.describe(),
            "rank 0 in request at a.cc:5, needs a credit of rank 4; rank 1 stopped by a signal, in "
            "barrier at a.cc:6; rank 2 not yet in the library; rank 3 ended");
}

TEST(StallWatch, names_at_most_sixteen_places) {
  StallWatch watch;
  std::vector<ProcessView> all;
  for (Rank rank = 0; rank < 20; ++rank) all.push_back(waiting(rank, "barrier", rank + 1));
  watch.observe(Time(0s), all);
  EXPECT_TRUE(watch.describe().ends_with("; and 4 more in other places")) << watch.describe();
}

TEST(StallWatch, finds_that_a_barrier_waits_for_who_has_finished) {
  StallWatch watch;
  ProcessView waits = waiting(1, "barrier", 9);
  waits.activity.wait.collective = 5;
  for (const Time time : {Time(0s), Time(1s)}) {
    watch.observe(time, {finished(0, 5), waits});
    EXPECT_FALSE(watch.find_waiting_for_finished());  // it is about to leave that one
  }
  waits.activity.wait.collective = 6;
  ++waits.activity.wait.progress;
  watch.observe(Time(2s), {finished(0, 5), waits});
  EXPECT_FALSE(watch.find_waiting_for_finished());  // perhaps one of the next job
  watch.observe(Time(3s), {finished(0, 5), waits});
  const auto found = watch.find_waiting_for_finished();
  ASSERT_TRUE(found);
  EXPECT_EQ(
      found->find("rank 1 in barrier at a.cc:9 waits for rank 0, which has finished, and so for "
                  "ever: rank 0 has made fewer collective calls"),
      0u)
      << *found;
}

TEST(StallSchedule, repeats_after_doubled_times) {
  StallSchedule schedule(30s);
  std::vector<int> reported;
  for (int second = 0; second <= 250; ++second) {
    if (schedule.due(1s * second)) reported.push_back(second);
  }
  EXPECT_EQ(reported, (std::vector<int>{30, 60, 120, 240}));
  EXPECT_FALSE(schedule.due(1s));  // it went on
  EXPECT_TRUE(schedule.due(30s));
}

TEST(StallSchedule, of_zero_never_reports) { EXPECT_FALSE(StallSchedule(0s).due(1000000s)); }

TEST(StallSchedule, times_are_written_as_people_do) {
  EXPECT_EQ(seconds_text(1500ms), "1.5 s");
  EXPECT_EQ(seconds_text(2000ms), "2 s");
  EXPECT_EQ(seconds_text(31900ms), "31 s");
}

TEST(SourceLocation, holds_a_file_and_a_line) {
  const auto here = am::SourceLocation::current("file", 7);
  EXPECT_STREQ(here.file_name(), "file");
  EXPECT_EQ(here.line(), 7u);
  EXPECT_EQ(am::SourceLocation::current("file", 70'000).line(), am::SourceLocation::kLastLine);
  EXPECT_STREQ(am::SourceLocation().file_name(), "");
  EXPECT_EQ(am::SourceLocation().line(), 0u);
}

class ShownActivity : public testing::Test {
 protected:
  ShownActivity() { activity.reset(); }

 private:
  // (Not on the stack: AddressSanitizer of GCC 12 aligns to 32 bytes there.)
  const std::unique_ptr<Activity> memory_ = std::make_unique<Activity>();

 protected:
  Activity& activity = *memory_;
};

TEST_F(ShownActivity, shows_a_wait_until_it_ends_or_has_come_closer) {
  ShownWait wait(activity);
  EXPECT_TRUE(wait.show({.call = "store_sync", .have = 1, .wanted = 3, .unit = "bytes"}));
  const auto first = activity.read();
  ASSERT_EQ(first.state, Activity::State::kWaiting);
  EXPECT_STREQ(first.wait.call, "store_sync");
  EXPECT_FALSE(wait.show({.call = "store_sync", .have = 1, .wanted = 3, .unit = "bytes"}));
  EXPECT_EQ(activity.read().wait.progress, first.wait.progress);
  wait.show({.call = "store_sync", .have = 2, .wanted = 3, .unit = "bytes"});
  EXPECT_NE(activity.read().wait.progress, first.wait.progress);
  wait.progressed();
  EXPECT_EQ(activity.read().state, Activity::State::kRunning);
}

TEST_F(ShownActivity, shows_one_wait_at_a_time) {
  ShownWait first(activity);
  ShownWait second(activity);
  EXPECT_TRUE(first.show({.call = "first"}));
  EXPECT_TRUE(second.show({.call = "second"}));
  EXPECT_FALSE(second.show({.call = "second"})) << "though it is not shown";
  EXPECT_STREQ(activity.read().wait.call, "first");
  first.progressed();
  second.show({.call = "second"});
  EXPECT_STREQ(activity.read().wait.call, "second");
}

TEST_F(ShownActivity, keeps_the_end_of_a_long_name) {
  ShownWait wait(activity);
  const std::string call(1000, 'x');
  wait.show({.call = {call.c_str(), am::SourceLocation::current()}});
  const WaitRecord record = activity.read().wait;
  EXPECT_EQ(std::string(record.call), call.substr(0, sizeof record.call - 1));
  EXPECT_TRUE(std::string(record.file).ends_with("stall_watch_test.cc"));
}

// A reader sees one record or the other.
TEST_F(ShownActivity, is_never_read_half_written) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; !stop; ++i) {
      activity.show_wait({.call = i % 2 ? "odd" : "even", .have = i, .wanted = i}, i);
    }
  });
  for (int reads = 0; reads < 20000;) {
    const auto now = activity.read();
    if (now.state != Activity::State::kWaiting) {
      std::this_thread::yield();
      continue;
    }
    ++reads;
    ASSERT_EQ(now.wait.have, now.wait.progress);
    ASSERT_EQ(now.wait.wanted, now.wait.progress);
    ASSERT_STREQ(now.wait.call, now.wait.have % 2 ? "odd" : "even");
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace am
