// The mark by which programs that a rank starts know that they are none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "am/job/config/config.h"
#include "shmem/region.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace {

using shmem::test::in_child;

std::string refusal(Config place) { return settle_launcher(place); }

Config met_at(const std::string& host, Rank rank) {
  Config config;
  config.rank = rank;
  config.size = 3;
  config.rendezvous = {.host = host, .port = "7", .secret = "known to all"};
  return config;
}

// What a child of rank 1 is told whose environment describes `place`.
std::string told(const Config& rank_1, const Config& place) {
  return in_child([&] {
    leave_mark(rank_1, 1, 3);
    return in_child([&] { return refusal(place); });
  });
}

TEST(Joined, a_child_with_the_place_of_its_parent_is_refused) {
  const std::string sentence = told(met_at("here", 1), met_at("here", 1));
  EXPECT_NE(sentence.find("is no rank of a job"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("which is rank 1, has started it"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("rendezvous"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("known to all"), std::string::npos) << sentence;
}

TEST(Joined, a_child_with_another_place_is_not) {
  EXPECT_EQ(told(met_at("here", 1), met_at("there", 1)), "");
  EXPECT_EQ(told(met_at("here", 1), met_at("here", 2)), "");
  EXPECT_EQ(told(met_at("here", 1), Config()), "");
}

TEST(Joined, the_process_itself_and_one_without_a_mark_are_not) {
  EXPECT_EQ(in_child([] {
              leave_mark(met_at("here", 1), 1, 3);
              return refusal(met_at("here", 1));
            }),
            "");
  EXPECT_EQ(refusal(met_at("here", 1)), "");
  EXPECT_EQ(in_child([] {
              leave_mark(met_at("here", 1), 1, 3);
              remove_mark();
              return in_child([] { return refusal(met_at("here", 1)); });
            }),
            "");
}

// The descriptor of a launcher that was started within the job may have the same number.
TEST(Joined, a_launcher_is_known_by_what_its_descriptor_is) {
  const auto region = shmem::Region::create({.what = "a", .bytes = 4096});
  const auto other = shmem::Region::create({.what = "b", .bytes = 4096});
  Config config;
  config.pmi = {.rank = 1, .size = 2, .fd = region.fd()};
  const auto child_that = [&](const std::function<void()>& does) {
    return in_child([&] {
      leave_mark(config, 1, 2);
      return in_child([&] {
        does();
        return refusal(config);
      });
    });
  };
  EXPECT_NE(child_that([] {}), "");
  EXPECT_NE(child_that([&] { close(region.fd()); }), "");
  EXPECT_EQ(child_that([&] { dup2(other.fd(), region.fd()); }), "");
}

// What is left of launchers, as letters, in a process that `starter` has started with `place`.
std::string left_of(const std::function<void()>& starter, const Config& place) {
  return in_child([&] {
    starter();
    return in_child([&]() -> std::string {
      Config config = place;
      const std::string sentence = settle_launcher(config);
      choose_launcher(config);
      if (!sentence.empty()) return "refused";
      return std::string(config.job_fd >= 0 ? "s" : "") + (config.rendezvous ? "r" : "") +
             (config.pmix ? "x" : "") + (config.pmi ? "1" : "");
    });
  });
}

TEST(Joined, a_launcher_that_a_rank_has_started_is_the_one_that_counts) {
  const auto region = shmem::Region::create({.what = "a", .bytes = 4096});
  Config outer;
  outer.job_fd = region.fd();
  outer.size = 2;
  const auto leaves = [](const Config& config) { return [&] { leave_mark(config, 0, 2); }; };
  Config inner = outer;
  inner.pmix = true;
  EXPECT_EQ(left_of(leaves(outer), inner), "x") << "mpirun in a rank of splitcrun";
  inner.pmi = {.rank = 0, .size = 3, .fd = region.fd()};
  EXPECT_EQ(left_of(leaves(outer), inner), "x")
      << "... in a rank of Hydra's, whose socket is closed";
  EXPECT_EQ(left_of(leaves(inner), inner), "refused") << "no launcher between";
  inner.pmix = false;
  EXPECT_EQ(left_of(leaves(outer), inner), "1") << "Hydra in a rank of splitcrun";
  inner.job_fd = STDIN_FILENO;
  EXPECT_EQ(left_of(leaves(outer), inner), "1") << "... which opens other files there";
  EXPECT_EQ(left_of([] {}, inner), "s1") << "without a mark it is splitcrun, which goes first";
}

// Where nothing of what is set belongs to it, a rank of such a job has inherited it all.
TEST(Joined, a_mark_tells_of_what_its_process_has_inherited) {
  const Config outer = met_at("here", 1);
  const auto region = shmem::Region::create({.what = "a", .bytes = 4096});
  Config inner = outer;
  inner.pmi = {.rank = 0, .size = 3, .fd = region.fd()};
  EXPECT_EQ(in_child([&] {
              leave_mark(outer, 1, 3);
              return left_of(
                  [&] {
                    Config settled = inner;
                    settle_launcher(settled);
                    leave_mark(settled, 0, 3);
                  },
                  inner);
            }),
            "refused");
}

TEST(Joined, a_job_of_one_may_start_a_program_as_one_more) {
  EXPECT_EQ(left_of([] { leave_mark(met_at("here", 1), 0, 1); }, met_at("here", 1)), "r");
}

TEST(Joined, a_mark_that_is_nonsense_is_none) {
  for (const char* const mark : {"", "x", "1", "1 2 3", "-1 -1 -1 -1"}) {
    EXPECT_EQ(in_child([&] {
                setenv("SPLITC_JOINED", mark, 1);
                return refusal(met_at("here", 1));
              }),
              "")
        << mark;
  }
}

}  // namespace
}  // namespace am
