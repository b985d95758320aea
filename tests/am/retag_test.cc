// Replies and tags: a reply to a request that was made when the requester had another tag comes
// back to the replier, unless the new tag admits that.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace retag_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::meet_silently;

constexpr Tag kTag = 5;

std::uint64_t asked = 0;
std::uint64_t answers = 0;
void on_answer(Reply, std::uint32_t) { ++answers; }
void on_medium_answer(Reply, std::span<const std::byte>, std::uint32_t) { ++answers; }
void on_long_answer(Reply, std::span<std::byte>, std::uint32_t) { ++answers; }

enum class Want : std::uint32_t { kNothing, kShort, kMedium, kLong, kVeryLong };
constexpr std::uint32_t kWants = 5;
std::vector<std::byte> bytes_to_reply(10'000, std::byte{3});

void on_ask(Request r, Want want, std::uint32_t n) {
  ++asked;
  const std::span<const std::byte> bytes(bytes_to_reply);
  switch (want) {
    case Want::kNothing: return;
    case Want::kShort: return std::move(r).reply<&on_answer>(n);
    case Want::kMedium: return std::move(r).reply_medium<&on_medium_answer>(bytes.first(9), n);
    case Want::kLong: return std::move(r).reply_long<&on_long_answer>(0, bytes.first(100), n);
    case Want::kVeryLong: return std::move(r).reply_long<&on_long_answer>(0, bytes, n);
  }
}

// In each process one endpoint asks the answerer of the one to the right, whose bundle is polled by
// hand.
class Retag : public testing::Test {
 protected:
  void SetUp() override {
    for (Endpoint* const endpoint : {&asker_, &answerer_}) {
      endpoint->add_handlers<&on_answer, &on_medium_answer, &on_long_answer, &on_ask>();
    }
    answerer_.set_tag(kTag);
    answerer_.on_returned([this](const Returned& r) {
      EXPECT_EQ(r.status, Status::kBadTag);
      EXPECT_EQ(r.role, Role::kReply);
      EXPECT_EQ(r.destination, (job().rank() + job().size() - 1) % job().size());
      ++back_;
    });
    asker_.on_returned([](const Returned&) { ADD_FAILURE() << "the request was delivered"; });
    asker_.map(0, job().exchange(answerer_.name())[(job().rank() + 1) % job().size()], kTag);
    asked = answers = 0;
    meet_silently();  // nobody answers before answer()
  }
  void TearDown() override { barrier(); }

  void ask(Want want) {
    bundle().wait_until([&] { return asker_.try_request<&on_ask>(0, want, 1u); });
    ++asked_by_us_;
  }
  // All that was asked of us so far is answered.
  void answer() {
    meet_silently();
    answering_.wait_until([this] { return asked == asked_by_us_; });
    barrier();
  }
  // The answers to the last `count` questions have come, or have come back.
  void expect(std::uint64_t delivered, std::uint64_t returned) {
    while (answers < delivered || back_ < returned || returned_by_us() < returned) {
      bundle().poll();
      answering_.poll();
    }
    EXPECT_EQ(returned_by_us(), returned);
    barrier();
    job().barrier(answering_);
    EXPECT_EQ(answers, delivered);
    EXPECT_EQ(back_, returned);
    barrier();
  }

  std::uint64_t returned_by_us() const { return asker_.stats().returned_by_us; }
  // Waits for the one to the right, whose answerer must be polled meanwhile.
  void unmap() {
    bundle().adopt(answerer_);
    asker_.unmap(0);
    barrier();
  }

  std::uint64_t back_ = 0;
  std::uint64_t asked_by_us_ = 0;
  Bundle answering_{job()};
  Endpoint asker_{bundle()};
  Endpoint answerer_{answering_};
};

TEST_F(Retag, replies_of_every_kind_come_back_to_the_replier) {
  asker_.set_tag(11);
  for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  asker_.set_tag(12);
  meet_silently();
  asker_.set_tag(13);
  answer();
  // A reply that was written before the other knew of the new tag is delivered; on one node it
  // knows at once.
  const bool far = job().router().far_peers();
  if (!far) return expect(0, kWants - 1);
  unmap();
  EXPECT_LE(answers, 1u);
  const Rank left = (job().rank() + job().size() - 1) % job().size();
  const std::uint64_t answers_there = job().exchange(answers)[left];
  bundle().wait_until([&] { return back_ == kWants - 1 - answers_there; });
  barrier();
}

TEST_F(Retag, the_same_tag_again_admits_them) {
  asker_.set_tag(11);
  for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  asker_.set_tag(12);
  ask(Want::kShort);
  asker_.set_tag(11);
  asker_.set_tag(11);
  answer();
  expect(kWants - 1, 1);
}

TEST_F(Retag, the_wildcard_admits_all) {
  for (const Tag tag : {kTagNone, Tag{11}, Tag{12}, kTagAll}) {
    asker_.set_tag(tag);
    for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  }
  answer();
  expect(4 * (kWants - 1), 0);
}

TEST_F(Retag, what_was_asked_without_a_tag_is_admitted_by_all_that_follow) {
  for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  asker_.set_tag(11);
  asker_.set_tag(12);
  answer();
  expect(kWants - 1, 0);
}

TEST_F(Retag, what_was_asked_under_the_wildcard_is_refused_by_another_tag) {
  asker_.set_tag(kTagAll);
  ask(Want::kShort);
  ask(Want::kMedium);
  asker_.set_tag(11);
  answer();
  expect(0, 2);
}

TEST_F(Retag, an_endpoint_without_tag_takes_its_replies_whatever_its_tag_is_then) {
  for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  answer();
  expect(kWants - 1, 0);
  for (std::uint32_t want = 0; want < kWants; ++want) ask(static_cast<Want>(want));
  asker_.set_tag(11);
  answer();
  expect(2 * (kWants - 1), 0);
}

TEST_F(Retag, no_tag_at_all_refuses_them) {
  asker_.set_tag(11);
  ask(Want::kShort);
  asker_.set_tag(kTagNone);
  answer();
  expect(0, 1);
}

TEST_F(Retag, is_forgotten_with_the_slots_that_it_concerned) {
  std::uint64_t delivered = 0;
  std::uint64_t returned = 0;
  for (std::uint32_t round = 0; round < 20; ++round) {
    asker_.set_tag(100 + round);
    for (int i = 0; i < 5; ++i) ask(Want::kShort);
    asker_.set_tag(200 + round);
    for (int i = 0; i < 5; ++i) ask(Want::kMedium);
    answer();
    delivered += 5;
    returned += 5;
    expect(delivered, returned);
  }
  unmap();
}

}  // namespace retag_test
}  // namespace am
