// Endpoint::flush() waits for what was sent, Job::quiesce() for all messages of the job.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "am/core/poller.h"
#include "tests/support/job_main.h"

namespace am {
namespace quiesce_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::size;
using Bytes = std::span<const std::byte>;

constexpr Tag kTag = 3;
constexpr std::size_t kLong = 30'000;  // more than a packet holds
constexpr std::size_t kMedium = 500;

std::uint64_t handled = 0;
std::uint64_t answers = 0;
std::uint64_t asked;

void on_short(OneWay, std::uint32_t) { ++handled; }
void on_medium(OneWay, Bytes) { ++handled; }
void on_long(OneWay, std::span<std::byte>) { ++handled; }
void on_answer(Reply) { ++answers; }
void on_request(Request request) {
  ++handled;
  std::move(request).reply<&on_answer>();
}
void on_count(Reply, std::uint64_t count) { asked = count; }
void on_ask(Request request) { std::move(request).reply<&on_count>(handled); }

class Quiesce : public testing::Test {
 protected:
  void SetUp() override {
    prepare(endpoint_);
    job().connect(endpoint_, kTag);
    handled = answers = 0;
    barrier();
  }
  void TearDown() override { barrier(); }

  static void prepare(Endpoint& endpoint) {
    endpoint.add_handlers<&on_short, &on_medium, &on_long, &on_answer, &on_request, &on_count,
                          &on_ask>();
  }

  // One message of a random kind, of the first so many. Returns whether it wants an answer.
  bool send(Endpoint& from, Rank to, unsigned kinds = 4) {
    switch (random_() % kinds) {
      case 0: from.request<&on_short>(to, 1u); return false;
      case 1: from.request_medium<&on_medium>(to, {payload_.data(), kMedium}); return false;
      case 2: from.request_long<&on_long>(to, 0, payload_); return false;
      default: from.request<&on_request>(to); return true;
    }
  }

  // What process `of` has handled, by its own word.
  std::uint64_t count_at(Rank of) {
    asked = ~std::uint64_t{0};
    endpoint_.request<&on_ask>(of);
    bundle().wait_until([] { return asked != ~std::uint64_t{0}; });
    return asked;
  }

  // The sums of all processes.
  static std::uint64_t sum(std::uint64_t mine) {
    std::uint64_t all = 0;
    for (const std::uint64_t one : job().exchange(mine)) all += one;
    return all;
  }

  Rank right() const { return (rank() + 1) % size(); }

  Endpoint endpoint_{bundle()};
  std::mt19937_64 random_{::test::seed() + rank()};
  std::vector<std::byte> payload_ = std::vector<std::byte>(kLong);
};

TEST_F(Quiesce, flush_waits_until_all_that_was_sent_was_handled) {
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t n = random_() % 100; n != 0; --n, ++sent) send(endpoint_, right());
    endpoint_.flush();
    EXPECT_EQ(count_at(right()), sent);
    for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
      EXPECT_EQ(endpoint_.in_flight(right(), kind), 0u);
    }
  }
}

TEST_F(Quiesce, flush_waits_for_what_comes_back) {
  std::uint64_t back = 0;
  endpoint_.on_returned([&](const Returned&) { ++back; });
  endpoint_.unmap(right());
  endpoint_.map(right(), job().exchange(endpoint_.name())[right()], kTag + 1);
  for (std::uint64_t n = 1; n <= 50; ++n) {
    send(endpoint_, right());
    if (n % 7 != 0) continue;
    endpoint_.flush();
    EXPECT_EQ(back, n);
  }
  job().quiesce(bundle());
  EXPECT_EQ(back, 50u);
  EXPECT_EQ(handled, 0u);
}

TEST_F(Quiesce, quiesce_waits_for_all_messages_of_all) {
  std::uint64_t sent = 0;
  std::uint64_t requests = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t n = random_() % 200; n != 0; --n, ++sent) {
      requests += send(endpoint_, static_cast<Rank>(random_() % size())) ? 1 : 0;
    }
    job().quiesce(bundle());
    EXPECT_EQ(answers, requests);
    EXPECT_EQ(sum(handled), sum(sent));
  }
}

TEST_F(Quiesce, quiesce_waits_for_messages_of_endpoints_that_have_ended) {
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    {
      Endpoint brief(bundle(), {.translations = 1});
      prepare(brief);
      brief.set_tag(kTag);
      brief.map(0, endpoint_.translation_name(static_cast<Rank>(random_() % size())), kTag);
      // One-way ones: what answers an endpoint that has ended comes back.
      for (std::uint64_t n = random_() % 60; n != 0; --n, ++sent) send(brief, 0, 3);
    }
    job().quiesce(bundle());
    EXPECT_EQ(sum(handled), sum(sent));
  }
}

TEST_F(Quiesce, quiesce_polls_all_bundles_of_the_thread) {
  Bundle second(job());
  Endpoint other(second);
  prepare(other);
  other.set_tag(kTag);
  const std::vector<Name> names = job().exchange(other.name());
  const std::uint32_t to = endpoint_.map_any(names[right()], kTag);
  std::uint64_t sent = 0;
  for (int round = 0; round < 10; ++round) {
    for (std::uint64_t n = random_() % 15; n != 0; --n, ++sent)
      endpoint_.request<&on_short>(to, 1u);
    job().quiesce(bundle());
    EXPECT_EQ(sum(handled), sum(sent));
  }
}

TEST_F(Quiesce, quiesce_waits_for_replies_that_come_back) {
  std::uint64_t back = 0;
  endpoint_.on_returned([&](const Returned&) { ++back; });
  std::uint64_t sent = 0;
  for (int round = 0; round < 100; ++round) {
    const auto to = static_cast<Rank>(random_() % size());
    for (std::uint64_t n = random_() % 20; n != 0; --n, ++sent) endpoint_.request<&on_request>(to);
    endpoint_.set_tag(kTag + round % 2);  // of which others are not told
    job().quiesce(bundle());
    EXPECT_EQ(sum(answers) + sum(back), sum(sent));
  }
}

// A poller sends as long as it has something, so that messages beget messages without any call of
// the program.
class Relay final : public Poller {
 public:
  Relay(Endpoint& endpoint, Rank to) : endpoint_(endpoint), to_(to) {}
  int poll() override {
    if (seen_ == handled || left == 0) return 0;
    if (!endpoint_.try_request<&on_short>(to_, 1u)) return 0;
    ++seen_;
    --left;
    return 1;
  }
  bool has_work() noexcept override { return seen_ != handled && left != 0; }

  std::uint64_t left = 30;

 private:
  Endpoint& endpoint_;
  const Rank to_;
  std::uint64_t seen_ = 0;
};

TEST_F(Quiesce, quiesce_waits_for_messages_that_others_cause) {
  Relay relay(endpoint_, right());
  bundle().add(relay);
  if (rank() == 0) endpoint_.request<&on_short>(right(), 1u);
  job().quiesce(bundle());
  EXPECT_EQ(relay.left, 0u);
  EXPECT_EQ(sum(handled), 1 + 30u * size());
  bundle().remove(relay);
}

TEST_F(Quiesce, quiesce_costs_nothing_to_repeat) {
  for (int i = 0; i < 100; ++i) job().quiesce(bundle());
  EXPECT_EQ(handled, 0u);
}

std::string refusals;
void on_misuse(OneWay) {
  try {
    test::job().quiesce(test::bundle());
  } catch (const Error& error) {
    refusals += error.what();
  }
}
Endpoint* misused = nullptr;
void on_misuse_flush(OneWay) {
  try {
    misused->flush();
  } catch (const Error& error) {
    refusals += error.what();
  }
}

TEST_F(Quiesce, neither_is_for_handlers) {
  misused = &endpoint_;
  refusals.clear();
  endpoint_.add_handlers<&on_misuse, &on_misuse_flush>();
  barrier();
  endpoint_.request<&on_misuse>(right());
  endpoint_.request<&on_misuse_flush>(right());
  job().quiesce(bundle());
  EXPECT_NE(refusals.find("Job::quiesce: a handler may not wait"), std::string::npos) << refusals;
  EXPECT_NE(refusals.find("Endpoint::flush: a handler may not wait"), std::string::npos);
}

// Two processes that each wait for credit of the other's second bundle.
TEST_F(Quiesce, credit_of_a_bundle_that_its_thread_does_not_poll_itself_comes) {
  Bundle second(job());
  Endpoint other(second);
  prepare(other);
  other.set_tag(kTag);
  const std::uint32_t to = endpoint_.map_any(job().exchange(other.name())[right()], kTag);
  for (int i = 0; i < 300; ++i) endpoint_.request<&on_short>(to, 1u);
  job().quiesce(bundle());
  EXPECT_EQ(sum(handled), 300u * size());
  // They sleep now and then meanwhile, with messages on their way to both bundles.
  for (int round = 0; round < 50; ++round) {
    endpoint_.request<&on_short>(round % 2 == 0 ? to : right(), 1u);
    job().quiesce(bundle());
  }
  EXPECT_EQ(handled, 350u);
}

TEST_F(Quiesce, who_waits_in_a_barrier_gives_credit_of_all_its_bundles) {
  Bundle second(job());
  Endpoint other(second);
  prepare(other);
  other.set_tag(kTag);
  const std::uint32_t to = endpoint_.map_any(job().exchange(other.name())[right()], kTag);
  barrier();
  if (rank() % 2 == 0) {
    for (int i = 0; i < 300; ++i) endpoint_.request<&on_short>(to, 1u);
  }
  barrier();
  job().quiesce(bundle());
  EXPECT_EQ(sum(handled), 300u * ((size() + 1) / 2));
}

void on_thrower(OneWay) {
  ++handled;
  throw std::runtime_error("the handler says no");
}

// Calls it again until no handler has thrown out of it.
template <class Call>
void persist(Call&& call) {
  for (bool done = false; !done;) {
    try {
      call();
      done = true;
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "the handler says no");
    }
  }
}

TEST_F(Quiesce, collective_calls_that_a_handler_left_go_on_when_called_again) {
  endpoint_.add_handlers<&on_thrower>();
  persist([] { barrier(); });
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t n = random_() % 5; n != 0; --n, ++sent) {
      const auto to = static_cast<Rank>(random_() % size());
      persist([&] { endpoint_.request<&on_thrower>(to); });
    }
    persist([] { barrier(); });
    persist([] { job().quiesce(bundle()); });
    EXPECT_EQ(sum(handled), sum(sent));
  }
}

void on_throwing_answer(Reply) { throw std::runtime_error("the handler says no"); }
void on_ask_for_throw(Request request) { std::move(request).reply<&on_throwing_answer>(); }

TEST_F(Quiesce, requests_whose_answers_throw_are_answered_all_the_same) {
  endpoint_.add_handlers<&on_throwing_answer, &on_ask_for_throw>();
  persist([] { barrier(); });
  for (int i = 0; i < 200; ++i) persist([&] { endpoint_.request<&on_ask_for_throw>(right()); });
  persist([&] { endpoint_.flush(); });
  EXPECT_EQ(endpoint_.in_flight(right(), Kind::kShort), 0u);
  persist([] { job().quiesce(bundle()); });
}

std::unique_ptr<Endpoint>* to_end = nullptr;
void on_end(OneWay) {
  ++handled;
  to_end->reset();
}

TEST_F(Quiesce, flush_of_a_bundle_leaves_no_endpoint_out_when_a_handler_ends_one) {
  auto ending = std::make_unique<Endpoint>(bundle());
  to_end = &ending;
  Endpoint first(bundle());
  Endpoint second(bundle());
  for (Endpoint* one : {&first, &second}) {
    one->add_handlers<&on_end>();
    one->set_tag(kTag);
  }
  const std::vector<Name> names = job().exchange(first.name());
  first.map(0, names[right()], kTag);
  second.map(0, names[right()], kTag);
  first.request<&on_end>(0);
  second.request<&on_end>(0);
  bundle().flush();
  EXPECT_EQ(second.in_flight(0, Kind::kShort), 0u);
  job().quiesce(bundle());
  EXPECT_EQ(handled, 2u);
}

std::array<std::unique_ptr<Endpoint>, 2> before;
void on_end_both(OneWay) {
  ++handled;
  for (auto& one : before) one.reset();
}

TEST_F(Quiesce, flush_of_a_bundle_leaves_no_endpoint_out_when_a_handler_ends_two_before_it) {
  Bundle own(job());
  Bundle away(job());
  Endpoint target(away);
  for (auto& one : before) one = std::make_unique<Endpoint>(own);
  Endpoint first(own), second(own), third(own);
  for (Endpoint* one : {&target, &first, &second, &third}) {
    one->add_handlers<&on_end_both, &on_short>();
    one->set_tag(kTag);
  }
  for (Endpoint* one : {&first, &second, &third}) one->map(0, target.name(), kTag);
  first.request<&on_end_both>(0);
  second.request<&on_short>(0, 1u);
  third.request<&on_short>(0, 1u);
  own.flush();
  EXPECT_EQ(second.in_flight(0, Kind::kShort), 0u);
  EXPECT_EQ(third.in_flight(0, Kind::kShort), 0u);
  EXPECT_EQ(handled, 3u);
}

// Sends one-way requests to one index from inside polls.
class SendingPoller final : public Poller {
 public:
  explicit SendingPoller(Endpoint& endpoint) noexcept : endpoint_(endpoint) {}
  int poll() override {
    if (left_ == 0) return 0;
    --left_;
    if (endpoint_.try_request<&on_short>(to_, 1u)) ++sent_;
    return 1;
  }
  bool has_work() noexcept override { return left_ != 0; }

  void begin(std::uint32_t to, int count) noexcept {
    to_ = to;
    left_ = count;
  }
  void end() noexcept { left_ = 0; }
  std::uint64_t sent() const noexcept { return sent_; }

 private:
  Endpoint& endpoint_;
  std::uint32_t to_ = 0;
  int left_ = 0;
  std::uint64_t sent_ = 0;
};

TEST_F(Quiesce, unmap_waits_for_what_a_poller_sends_meanwhile) {
  std::uint64_t back = 0;
  endpoint_.on_returned([&](const Returned&) { ++back; });
  const Name name = job().exchange(endpoint_.name())[right()];
  SendingPoller poller(endpoint_);
  bundle().add(poller);
  for (std::uint64_t round = 1; round <= 50; ++round) {
    const std::uint32_t to = endpoint_.map_any(name, kTag + 1);  // so everything comes back
    endpoint_.request<&on_short>(to, 1u);
    poller.begin(to, 20);
    endpoint_.unmap(to);
    poller.end();
    EXPECT_EQ(back, round + poller.sent());
  }
  bundle().remove(poller);
  EXPECT_GT(poller.sent(), 0u);
  job().quiesce(bundle());
}

}  // namespace quiesce_test
}  // namespace am
