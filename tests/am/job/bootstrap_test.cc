#include "am/job/bootstrap/bootstrap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/job/config/control.h"
#include "am/job/make_bootstrap.h"
#include "shmem/region.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace {

using shmem::test::in_child;
using shmem::test::in_children;

// What splitcrun makes before it starts a job of `size`.
shmem::Region control_region(std::uint32_t size) {
  shmem::Region region = shmem::Region::create({.what = "control", .bytes = control_bytes(size)});
  Control& control = control_at(region.data());
  control.magic = Control::kMagic;
  control.version = Control::kVersion;
  control.size = size;
  return region;
}

std::unique_ptr<Bootstrap> join(int job_fd, Rank rank, std::uint32_t size) {
  Config config;
  config.rank = rank;
  config.size = size;
  config.job_fd = job_fd;
  return make_bootstrap(config);
}

// What `work` returns in every process of a job.
std::vector<std::string> in_job(const shmem::Region& region, std::uint32_t size,
                                const std::function<std::string(Bootstrap&)>& work) {
  return in_children(size, [&](Rank rank) { return work(*join(region.fd(), rank, size)); });
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte>& blob) {
  return {reinterpret_cast<const char*>(blob.data()), blob.size()};
}

void expect_refused(const std::function<void()>& call, std::initializer_list<std::string> parts) {
  try {
    call();
    FAIL() << "not refused; expected: " << *parts.begin();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(sentence.find(part), std::string::npos) << "no \"" << part << "\" in: " << sentence;
    }
  }
}

TEST(BootstrapSingle, is_a_job_of_one) {
  const auto job = make_bootstrap(Config{});
  EXPECT_EQ(job->rank(), 0u);
  EXPECT_EQ(job->size(), 1u);
  EXPECT_EQ(job->launcher(), "none");
  job->barrier();
  const auto all = job->exchange(bytes_of("alone"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(text_of(all[0]), "alone");
  job->finished();
}

TEST(BootstrapSingle, abort_says_the_sentence_and_exits_with_the_code) {
  EXPECT_EXIT(make_bootstrap(Config{})->abort(9, "the reason"), testing::ExitedWithCode(9),
              "^the reason\n$");
  EXPECT_EXIT(make_bootstrap(Config{})->abort(0, "no code"), testing::ExitedWithCode(1), "no code");
}

TEST(BootstrapSingle, abort_of_a_forked_child_speaks_for_the_child) {
  const auto job = make_bootstrap(Config{});
  EXPECT_EXIT(job->abort(9, "rank 0: a reason"), testing::ExitedWithCode(9),
              "^a child of rank 0: a reason\n$");
}

TEST(MakeBootstrap, launcher_that_cannot_be_talked_to_is_named) {
  Config config;
  config.stranger = "started by a stranger";
  expect_refused([&] { make_bootstrap(config); }, {"started by a stranger"});
}

TEST(MakeBootstrap, pmix_server_that_is_not_there_is_told) {
  Config config;
  config.pmix = true;
  const auto told = in_child([&] { return make_bootstrap(config)->launcher(); });
  // Whether the library is here or not.
  EXPECT_NE(told.find("PMIx"), std::string::npos) << told;
  EXPECT_NE(told.find("launcher"), std::string::npos) << told;
}

TEST(MakeBootstrap, splitcrun_goes_before_all_and_a_rendezvous_before_other_launchers) {
  const shmem::Region region = control_region(1);
  Config config;
  config.stranger = "started by a stranger";
  config.pmix = true;
  config.pmi = PmiConnection{.rank = 0, .size = 1, .fd = 999};
  config.rendezvous = Rendezvous{"localhost", "4711", "a long random word"};
  EXPECT_EQ(make_bootstrap(config)->launcher(), "rendezvous");
  config.job_fd = region.fd();
  EXPECT_EQ(make_bootstrap(config)->launcher(), "splitcrun");
}

TEST(BootstrapLaunch, exchange_gives_all_blobs_to_all_again_and_again) {
  constexpr std::uint32_t kSize = 5;
  constexpr int kRounds = 200;
  const shmem::Region region = control_region(kSize);
  const auto results = in_job(region, kSize, [](Bootstrap& job) -> std::string {
    for (int round = 0; round < kRounds; ++round) {
      // Lengths from 0 to kMaxBlob, other ones in every round and rank.
      const auto blob_of = [round](Rank rank) {
        const std::size_t length = (round * 37 + rank * 101) % (Bootstrap::kMaxBlob + 1);
        return std::string(length, static_cast<char>('a' + (round + rank) % 26));
      };
      const auto all = job.exchange(bytes_of(blob_of(job.rank())));
      for (Rank rank = 0; rank < kSize; ++rank) {
        if (text_of(all.at(rank)) == blob_of(rank)) continue;
        return "wrong in round " + std::to_string(round);
      }
    }
    return job.launcher();
  });
  for (const std::string& result : results) EXPECT_EQ(result, "splitcrun");
}

TEST(BootstrapLaunch, sixty_four_processes_pass_a_thousand_barriers_together) {
  constexpr std::uint32_t kSize = 64;
  const shmem::Region region = control_region(kSize);
  const shmem::Region shared =
      shmem::Region::create({.what = "counter", .bytes = sizeof(std::atomic<std::uint32_t>)});
  auto& entered = *reinterpret_cast<std::atomic<std::uint32_t>*>(shared.data());
  const auto results = in_job(region, kSize, [&](Bootstrap& job) -> std::string {
    for (std::uint32_t round = 1; round <= 1000; ++round) {
      entered.fetch_add(1, std::memory_order_relaxed);
      job.barrier();
      const std::uint32_t seen = entered.load(std::memory_order_relaxed);
      // All have entered this round, and nobody can be two rounds ahead.
      if (seen < round * kSize || seen > (round + 1) * kSize) return "overtaken";
    }
    return "together";
  });
  for (const std::string& result : results) EXPECT_EQ(result, "together");
}

TEST(BootstrapLaunch, tells_the_launcher_who_joined_and_who_finished) {
  const shmem::Region region = control_region(1);
  const ControlRank& me = control_rank(control_at(region.data()), 0);
  EXPECT_EQ(me.state.load(std::memory_order_relaxed), RankState::kNotJoined);
  const auto job = join(region.fd(), 0, 1);
  EXPECT_EQ(me.state.load(std::memory_order_relaxed), RankState::kJoined);
  EXPECT_EQ(me.pid.load(std::memory_order_relaxed), getpid());
  job->finished();
  EXPECT_EQ(me.state.load(std::memory_order_relaxed), RankState::kFinished);
}

TEST(BootstrapLaunch, tells_the_launcher_who_is_in_a_later_job) {
  const shmem::Region region = control_region(1);
  ControlRank& me = control_rank(control_at(region.data()), 0);
  EXPECT_FALSE(is_in_job_after(0, me));
  const auto job = join(region.fd(), 0, 1);
  EXPECT_TRUE(is_in_job_after(0, me));
  EXPECT_FALSE(is_in_job_after(1, me));
  job->finished();
  EXPECT_FALSE(is_in_job_after(0, me));
  // What the launcher may see in the middle of finished().
  me.state.store(RankState::kJoined, std::memory_order_relaxed);
  EXPECT_FALSE(is_in_job_after(1, me));
  me.state.store(RankState::kFinished, std::memory_order_relaxed);
  const auto next = join(region.fd(), 0, 1);
  EXPECT_TRUE(is_in_job_after(1, me));
  EXPECT_FALSE(is_in_job_after(2, me));
}

TEST(BootstrapLaunch, one_process_may_run_one_job_after_another) {
  const shmem::Region region = control_region(2);
  const auto results = in_children(2, [&](Rank rank) {
    std::string seen;
    for (const char* word : {"first", "second"}) {
      const auto job = join(region.fd(), rank, 2);
      seen += text_of(job->exchange(bytes_of(word))[1 - rank]) + " ";
      job->barrier();
      job->finished();
    }
    return seen;
  });
  for (const std::string& result : results) EXPECT_EQ(result, "first second ");
}

TEST(BootstrapLaunch, abort_leaves_its_sentence_to_the_launcher) {
  const shmem::Region region = control_region(2);
  const std::string sentence(2000, 'x');
  const auto result = in_child([&]() -> std::string {
    const auto job = join(region.fd(), 1, 2);
    job->abort(7, sentence);
  });
  EXPECT_EQ(result, "died: exit code 7");
  const Control& control = control_at(region.data());
  EXPECT_EQ(control.abort_ready.load(std::memory_order_relaxed), 1u);
  EXPECT_EQ(control.abort_rank, 1u);
  EXPECT_EQ(control.abort_text, sentence.substr(0, Bootstrap::kMaxSentence));
}

TEST(BootstrapLaunch, too_large_a_blob_is_refused) {
  const shmem::Region region = control_region(1);
  const auto job = join(region.fd(), 0, 1);
  const std::string blob(Bootstrap::kMaxBlob + 1, 'x');
  expect_refused([&] { job->exchange(bytes_of(blob)); }, {"rank 0", "513 bytes", "512"});
}

TEST(BootstrapLaunch, second_process_of_one_rank_is_refused) {
  const shmem::Region region = control_region(2);
  const auto job = join(region.fd(), 1, 2);
  const auto seen = in_child([&] {
    join(region.fd(), 1, 2);
    return std::string("joined");
  });
  EXPECT_NE(seen.find("process " + std::to_string(getpid()) + " is this rank already"),
            std::string::npos)
      << seen;
}

TEST(BootstrapLaunch, joining_after_another_has_left_is_refused) {
  const shmem::Region region = control_region(3);
  ControlRank& leaver = control_rank(control_at(region.data()), 2);
  leaver.state.store(RankState::kLeft, std::memory_order_relaxed);
  expect_refused([&] { join(region.fd(), 0, 3); }, {"rank 0", "rank 2 has left", "exit code 0"});
}

TEST(BootstrapLaunch, what_is_no_control_region_is_refused) {
  expect_refused([] { join(999, 0, 1); }, {"rank 0", "SPLITC_JOB_FD=999", "unset SPLITC_RANK"});
  const shmem::Region zeros = shmem::Region::create({.what = "zeros", .bytes = 1 << 16});
  const std::string name = "SPLITC_JOB_FD=" + std::to_string(zeros.fd());
  expect_refused([&] { join(zeros.fd(), 0, 1); }, {name, "not the control region"});
  const shmem::Region tiny = shmem::Region::create({.what = "tiny", .bytes = 8});
  expect_refused([&] { join(tiny.fd(), 0, 1); }, {"not the control region"});
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_refused([&] { join(ends[0], 0, 1); }, {"not a file"});
  close(ends[0]);
  close(ends[1]);
}

TEST(BootstrapLaunch, control_region_of_another_size_or_version_is_refused) {
  const shmem::Region region = control_region(2);
  expect_refused([&] { join(region.fd(), 0, 3); }, {"SPLITC_SIZE=3", "of 2"});
  control_at(region.data()).version = 77;
  expect_refused([&] { join(region.fd(), 0, 2); }, {"version", "77", "same source"});
}

}  // namespace
}  // namespace am
