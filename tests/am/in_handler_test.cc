// Endpoints and bundles that are made and ended inside handlers, and bundles that wait for one
// another in one thread.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace in_handler_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

std::function<void()> in_handler;
std::uint64_t handled = 0;
std::uint64_t answered = 0;

void on_answer(Reply) {
  ++answered;
  if (in_handler) in_handler();
}
void on_question(Request r) {
  ++handled;
  if (in_handler) in_handler();
  std::move(r).reply<&on_answer>();
}
void on_news(OneWay) {
  ++handled;
  if (in_handler) in_handler();
}

void set_up(Endpoint& endpoint) {
  endpoint.add_handlers<&on_answer, &on_question, &on_news>();
  endpoint.set_tag(1);
}

class InHandlers : public testing::Test {
 protected:
  void SetUp() override {
    set_up(endpoint_);
    job().connect(endpoint_);
    in_handler = nullptr;
    handled = answered = 0;
  }
  void TearDown() override {
    in_handler = nullptr;
    barrier();
  }
  Rank right() const { return (job().rank() + 1) % job().size(); }

  Endpoint endpoint_{bundle()};
};

TEST_F(InHandlers, endpoints_can_be_made_and_used_afterwards) {
  std::vector<std::unique_ptr<Endpoint>> made;
  in_handler = [&] {
    for (int i = 0; i < 4; ++i) made.push_back(std::make_unique<Endpoint>(bundle()));
  };
  endpoint_.request<&on_question>(right());
  endpoint_.request<&on_news>(right());
  bundle().wait_until([] { return handled == 2 && answered == 1; });
  EXPECT_EQ(made.size(), 12u);
  in_handler = nullptr;
  for (const auto& endpoint : made) {
    set_up(*endpoint);
    endpoint->map(0, made.front()->name(), 1);
    endpoint->request<&on_question>(0);
  }
  bundle().wait_until([] { return answered == 13; });
  barrier();
}

TEST_F(InHandlers, other_endpoints_can_end) {
  constexpr int kOthers = 12;
  std::vector<std::unique_ptr<Endpoint>> others;
  for (int i = 0; i < kOthers; ++i) {
    others.push_back(std::make_unique<Endpoint>(bundle()));
    set_up(*others.back());
    others.back()->map(0, endpoint_.translation_name(right()), 1);
    others.back()->request<&on_news>(0);
  }
  // Each message ends one, before and behind the one that handles it.
  in_handler = [&] {
    if (others.empty()) return;
    const std::size_t which = others.size() % 2 == 0 ? 0 : others.size() - 1;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(which));
  };
  bundle().wait_until([] { return handled == kOthers; });
  EXPECT_TRUE(others.empty());
  EXPECT_EQ(bundle().endpoints(), std::vector<Endpoint*>{&endpoint_});
  barrier();
}

TEST_F(InHandlers, an_endpoint_that_ends_gives_back_what_was_sent_to_it) {
  auto other = std::make_unique<Endpoint>(bundle());
  set_up(*other);
  const auto names = job().exchange(other->name());
  const std::uint32_t to = endpoint_.map_any(names[right()], 1);
  int back = 0;
  endpoint_.on_returned([&](const Returned& r) {
    EXPECT_EQ(r.status, Status::kBadEndpoint);
    ++back;
  });
  in_handler = [&] { other.reset(); };
  endpoint_.request<&on_news>(right());
  bundle().wait_until([] { return handled == 1; });
  barrier();
  for (int i = 0; i < 10; ++i) endpoint_.request<&on_question>(to);
  bundle().wait_until([&] { return back == 10; });
  endpoint_.unmap(to);
}

TEST_F(InHandlers, bundles_can_be_made_and_ended) {
  std::unique_ptr<Bundle> made;
  std::unique_ptr<Endpoint> in_it;
  in_handler = [&] {
    if (made) {
      in_it.reset();
      made.reset();
    } else {
      made = std::make_unique<Bundle>(job());
      in_it = std::make_unique<Endpoint>(*made);
    }
  };
  for (int i = 0; i < 10; ++i) endpoint_.request<&on_news>(right());
  bundle().wait_until([] { return handled == 10; });
  EXPECT_EQ(made, nullptr);
  barrier();
}

// --- Bundles of one thread

// Unlike barrier() it polls none of them.
void meet() { job().exchange(::test::rank()); }

TEST_F(InHandlers, a_request_to_an_endpoint_of_the_same_thread_is_served_while_it_waits) {
  Bundle other(job());
  Endpoint there(other);
  set_up(there);
  const std::uint32_t to = endpoint_.map_any(there.name(), 1);
  for (int i = 0; i < 1'000; ++i) {  // many times the credits
    endpoint_.request<&on_question>(to);
    endpoint_.request<&on_news>(to);
  }
  endpoint_.request_index(to, 2, {});
  endpoint_.unmap(to);
  EXPECT_EQ(handled, 2'001u);
  EXPECT_EQ(answered, 1'001u);
}

TEST_F(InHandlers, requests_in_a_circle_of_bundles_are_served) {
  std::vector<std::unique_ptr<Bundle>> bundles;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int i = 0; i < 4; ++i) {
    bundles.push_back(std::make_unique<Bundle>(job()));
    endpoints.push_back(std::make_unique<Endpoint>(*bundles.back()));
    set_up(*endpoints.back());
  }
  for (std::size_t i = 0; i < 4; ++i) endpoints[i]->map(0, endpoints[(i + 1) % 4]->name(), 1);
  for (int round = 0; round < 300; ++round) {
    for (const auto& endpoint : endpoints) endpoint->request<&on_question>(0);
  }
  for (const auto& endpoint : endpoints) endpoint->unmap(0);
  EXPECT_EQ(answered, 1'200u);
}

// Others read there what this process does.
TEST_F(InHandlers, handlers_of_every_bundle_of_a_thread_are_shown) {
  Bundle other(job());
  Endpoint there(other);
  set_up(there);
  const Activity& shown = job().router().activity();
  const std::uint32_t before = shown.read().handled;
  std::vector<Activity::Snapshot> seen;
  in_handler = [&] { seen.push_back(shown.read()); };
  const std::uint32_t to = endpoint_.map_any(there.name(), 1);
  for (int i = 0; i < 3; ++i) endpoint_.request<&on_news>(to);
  bundle().wait_with_siblings([] { return handled == 3; }, [] { return Reason{.call = "a test"}; });
  in_handler = nullptr;
  ASSERT_EQ(seen.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_NE(seen[i].handler, 0u);
    EXPECT_EQ(seen[i].source, job().rank());
    EXPECT_EQ(seen[i].handled, before + i + 1);
  }
  EXPECT_EQ(shown.read().handler, 0u);
  endpoint_.unmap(to);
}

TEST_F(InHandlers, a_bundle_that_another_thread_polls_is_shown_no_more) {
  Bundle other(job());
  const Activity* const shown = &job().router().activity();
  EXPECT_EQ(&other.activity(), shown);
  std::thread([&] {
    other.poll();
    EXPECT_NE(&other.activity(), shown);
  }).join();
  other.poll();
  EXPECT_EQ(&other.activity(), shown);
}

// Also in another bundle than its own.
TEST_F(InHandlers, handlers_may_not_wait_in_another_bundle) {
  Bundle other(job());
  Endpoint there(other);
  set_up(there);
  there.map(0, there.name(), 1);
  std::vector<std::string> said;
  const auto refused = [&](const std::function<void()>& call) {
    try {
      call();
      said.push_back("");
    } catch (const Error& error) {
      said.push_back(error.what());
    }
  };
  in_handler = [&] {
    refused([&] { other.poll(); });
    refused([&] { other.wait(Events::kNotEmpty, 0); });
    refused([&] { other.wait_until([] { return false; }); });
    refused([&] { other.flush(); });
    refused([&] { there.unmap(0); });
    refused([&] { job().quiesce(other); });
  };
  endpoint_.request<&on_news>(right());
  bundle().wait_until([&] { return handled == 1; });
  in_handler = nullptr;
  ASSERT_EQ(said.size(), 6u);
  for (const std::string& one : said) EXPECT_NE(one.find("a handler may not"), one.npos) << one;
  there.unmap(0);
  meet();
}

TEST_F(InHandlers, a_message_for_one_bundle_does_not_wake_another) {
  Bundle other(job());
  auto there = std::make_unique<Endpoint>(other);
  set_up(*there);
  const auto names = job().exchange(there->name());
  const std::uint32_t to = endpoint_.map_any(names[right()], 1);
  endpoint_.request<&on_news>(to);
  EXPECT_TRUE(other.wait(Events::kNotEmpty)) << "the one it is for";
  EXPECT_EQ(handled, 0u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(bundle().wait(Events::kNotEmpty, 1'000'000)) << "the other one";
  }
  EXPECT_TRUE(other.wait(Events::kNotEmpty, 0));
  bundle().poll();
  EXPECT_EQ(handled, 0u);
  EXPECT_GE(other.poll(), 1);
  EXPECT_EQ(handled, 1u);
  EXPECT_EQ(other.activity().running().handler, 0u);
  EXPECT_FALSE(other.wait(Events::kNotEmpty, 0));
  meet();
  // What was put aside for a bundle follows its endpoint to another.
  endpoint_.request<&on_news>(to);
  EXPECT_TRUE(other.wait(Events::kNotEmpty));
  bundle().adopt(*there);
  bundle().wait_until([] { return handled == 2; });
  barrier();
}

TEST_F(InHandlers, messages_put_aside_for_a_bundle_are_returned_when_their_endpoint_ends) {
  Bundle other(job());
  auto there = std::make_unique<Endpoint>(other);
  set_up(*there);
  const auto names = job().exchange(there->name());
  const std::uint32_t to = endpoint_.map_any(names[right()], 1);
  int back = 0;
  endpoint_.on_returned([&](const Returned&) { ++back; });
  for (int i = 0; i < 10; ++i) endpoint_.request<&on_news>(to);
  for (int i = 0; i < 10; ++i) endpoint_.request<&on_question>(to);
  EXPECT_TRUE(other.wait(Events::kNotEmpty));
  meet();
  there.reset();
  bundle().wait_until([&] { return back == 20; });
  endpoint_.unmap(to);
  EXPECT_EQ(back, 20);
  EXPECT_EQ(handled, 0u);
}

}  // namespace in_handler_test
}  // namespace am
