// The mark by which programs that a rank starts know that they are none.
#include "am/job/config/joined.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "shmem/region.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace {

using shmem::test::in_child;

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
    leave_mark(rank_1, 1);
    return in_child([&] { return refusal_by_mark(place); });
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
              leave_mark(met_at("here", 1), 1);
              return refusal_by_mark(met_at("here", 1));
            }),
            "");
  EXPECT_EQ(refusal_by_mark(met_at("here", 1)), "");
  EXPECT_EQ(in_child([] {
              leave_mark(met_at("here", 1), 1);
              remove_mark();
              return in_child([] { return refusal_by_mark(met_at("here", 1)); });
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
      leave_mark(config, 1);
      return in_child([&] {
        does();
        return refusal_by_mark(config);
      });
    });
  };
  EXPECT_NE(child_that([] {}), "");
  EXPECT_NE(child_that([&] { close(region.fd()); }), "");
  EXPECT_EQ(child_that([&] { dup2(other.fd(), region.fd()); }), "");
}

TEST(Joined, a_mark_that_is_nonsense_is_none) {
  for (const char* const mark : {"", "x", "1", "1 2 3", "-1 -1 -1 -1"}) {
    EXPECT_EQ(in_child([&] {
                setenv("SPLITC_JOINED", mark, 1);
                return refusal_by_mark(met_at("here", 1));
              }),
              "")
        << mark;
  }
}

}  // namespace
}  // namespace am
