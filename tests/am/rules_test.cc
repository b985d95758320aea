// What handlers and callers may not do, and what they are told.
#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace rules_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

std::function<void(Endpoint&)> in_handler;  // what the next handler does
std::uint64_t handled = 0;
std::uint64_t answered = 0;

void on_answer(Reply r) {
  ++answered;
  if (in_handler) in_handler(r.endpoint());
}
void on_question(Request r) {
  ++handled;
  std::move(r).reply<&on_answer>();
}
void on_work(Request r) {
  ++handled;
  if (in_handler) in_handler(r.endpoint());
}
void on_news(OneWay m) {
  ++handled;
  if (in_handler) in_handler(m.endpoint());
}
void on_medium(Request, std::span<const std::byte>) { ++handled; }
void on_long(Request, std::span<std::byte>) { ++handled; }
void on_nothing(Request) {}
void on_stranger_answer(Reply) {}
std::vector<Name> sources;
void on_greeting(OneWay m) { sources.push_back(m.source_name()); }
std::vector<Name> passed_on;
void on_passed_on(OneWay, const Name& name) { passed_on.push_back(name); }

// --- What types forbid

template <class Role>
concept CanReply = requires(Role role) {
  std::move(role).template reply<&on_answer>();
};
template <class Role>
concept CanReplyWithoutMove = requires(Role role) {
  role.template reply<&on_answer>();
};
static_assert(CanReply<Request> && !CanReply<OneWay> && !CanReply<Reply>);
static_assert(!CanReplyWithoutMove<Request>);
static_assert(!std::copy_constructible<Request> && std::move_constructible<Request>);
static_assert(!std::is_copy_assignable_v<Request>);
static_assert(!std::movable<Endpoint> && !std::movable<Bundle> && !std::movable<Job>);

class Rules : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_answer, &on_question, &on_work, &on_news, &on_medium, &on_long>();
    job().connect(endpoint_);
    in_handler = nullptr;
    handled = answered = 0;
  }
  void TearDown() override {
    in_handler = nullptr;
    barrier();
  }

  Rank me() const { return job().rank(); }

  static void expect_refused(const std::function<void()>& work,
                             std::initializer_list<std::string> parts) {
    try {
      work();
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with("rank " + std::to_string(job().rank()) + ": ")) << text;
      for (const std::string& part : parts) {
        EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
      }
      EXPECT_NE(text.find("rules_test.cc:"), std::string::npos) << "no line in: " << text;
    }
  }

  // Runs `work` in a request handler, a one-way handler and a reply handler of this process.
  void in_all_handlers(const std::function<void(Endpoint&)>& work) {
    int ran = 0;
    in_handler = [&](Endpoint& endpoint) {
      ++ran;
      work(endpoint);
    };
    endpoint_.request<&on_work>(me());
    endpoint_.request<&on_news>(me());
    endpoint_.request<&on_question>(me());
    bundle().wait_until([&] { return ran == 3; });
  }

  Endpoint endpoint_{bundle()};
};

// --- In a handler

TEST_F(Rules, a_handler_may_not_poll_or_wait) {
  in_all_handlers([](Endpoint& endpoint) {
    expect_refused([&] { endpoint.bundle().poll(); }, {"Bundle::poll", "a handler may not poll"});
    expect_refused([&] { endpoint.bundle().wait(Events::kNotEmpty); },
                   {"Bundle::wait", "a handler may not wait"});
    expect_refused([&] { endpoint.bundle().wait_until([] { return false; }); },
                   {"a handler may not poll"});
  });
}

TEST_F(Rules, a_handler_may_not_request) {
  if (!kChecked) GTEST_SKIP() << "checked builds only";
  in_all_handlers([to = me()](Endpoint& endpoint) {
    const std::string may_not = "a handler may not send requests";
    expect_refused([&] { endpoint.request<&on_nothing>(to); }, {"request", may_not});
    expect_refused([&] { endpoint.request_medium<&on_medium>(to, {}); },
                   {"request_medium", may_not});
    expect_refused([&] { endpoint.request_long<&on_long>(to, 0, {}); }, {"request_long", may_not});
    expect_refused([&] { endpoint.request_index(to, 3, {}); }, {"request_index", may_not});
    expect_refused([&] { EXPECT_TRUE(endpoint.try_request<&on_nothing>(to)); }, {may_not});
    expect_refused([&] { EXPECT_TRUE(endpoint.try_request_medium<&on_medium>(to, {})); },
                   {may_not});
    expect_refused([&] { EXPECT_TRUE(endpoint.try_request_long<&on_long>(to, 0, {})); }, {may_not});
  });
  EXPECT_EQ(handled, 3u);
}

TEST_F(Rules, a_handler_may_not_unmap_or_move_endpoints) {
  Bundle other(job());
  in_all_handlers([&](Endpoint& endpoint) {
    expect_refused([&] { endpoint.unmap(me()); }, {"Endpoint::unmap", "a handler may not unmap"});
    expect_refused([&] { other.adopt(endpoint); },
                   {"Bundle::adopt", "a handler may not move endpoints"});
  });
  EXPECT_TRUE(endpoint_.mapped(me()));
}

void on_greedy_question(Request r) {
  ++handled;
  std::move(r).reply<&on_answer>();
  EXPECT_THROW(std::move(r).reply<&on_answer>(), Error);
}
void on_stubborn_question(Request r) {
  ++handled;
  EXPECT_THROW(std::move(r).reply<&on_stranger_answer>(), Error);  // in nobody's table
  std::move(r).reply<&on_answer>();
}

TEST_F(Rules, a_request_takes_one_reply) {
  endpoint_.add_handlers<&on_greedy_question>();
  endpoint_.request<&on_greedy_question>(me());
  bundle().wait_until([&] { return endpoint_.in_flight(me(), Kind::kShort) == 0; });
  EXPECT_EQ(answered, 1u);
  EXPECT_EQ(endpoint_.stats()[Kind::kShort].replies_sent, 1u);
}

TEST_F(Rules, a_reply_that_was_refused_leaves_room_for_another) {
  endpoint_.add_handlers<&on_stubborn_question>();
  endpoint_.request<&on_stubborn_question>(me());
  bundle().wait_until([&] { return endpoint_.in_flight(me(), Kind::kShort) == 0; });
  EXPECT_EQ(answered, 1u);
}

TEST_F(Rules, what_handlers_throw_comes_out_of_poll_and_costs_no_credit) {
  in_handler = [](Endpoint&) { throw std::runtime_error("thrown by a handler"); };
  int thrown = 0;
  const auto catch_until = [&](const std::function<bool()>& condition) {
    while (!condition()) {
      try {
        bundle().poll();
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "thrown by a handler");
        EXPECT_FALSE(bundle().handling());
        ++thrown;
      }
    }
  };
  for (int round = 0; round < 20; ++round) {
    const int before = thrown;
    for (int i = 0; i < 10; ++i) {
      endpoint_.request<&on_work>(me());
      endpoint_.request<&on_news>(me());
      endpoint_.request<&on_question>(me());
    }
    catch_until([&] { return thrown == before + 30; });
  }
  EXPECT_EQ(handled, 600u);
  EXPECT_EQ(answered, 200u);
  in_handler = nullptr;
  endpoint_.unmap(me());  // needs every credit
  EXPECT_EQ(thrown, 600);
}

// --- Tables

TEST_F(Rules, a_handler_must_be_in_the_table) {
  expect_refused([&] { endpoint_.request<&on_nothing>(me()); },
                 {"this handler is not in the endpoint's table", "add_handlers"});
  EXPECT_EQ(endpoint_.in_flight(me(), Kind::kShort), 0u);
}

TEST_F(Rules, handlers_go_to_free_indices_from_1_to_255) {
  expect_refused([&] { endpoint_.set_handler<&on_nothing>(0); },
                 {"index 0 is reserved for returned messages", "on_returned"});
  expect_refused([&] { endpoint_.set_handler<&on_nothing>(3); }, {"index 3 is in use", "replace"});
  endpoint_.set_handler<&on_nothing>(3, true);
  endpoint_.set_handler<&on_work>(255);
  endpoint_.request<&on_work>(me());
  bundle().wait_until([&] { return handled == 1; });
  for (int index = 7; index < 255; ++index) endpoint_.add_handlers<&on_nothing>();
  expect_refused([&] { endpoint_.add_handlers<&on_nothing>(); }, {"all 255 places are in use"});
}

TEST_F(Rules, translations_are_mapped_once) {
  const Name name = endpoint_.name();
  expect_refused([&] { endpoint_.map(0, name, 1); }, {"translation 0 is in use", "unmap"});
  expect_refused([&] { endpoint_.map(256, name, 1); }, {"no translation 256", "256 places"});
  Name stranger = name;
  stranger.rank = job().size();
  expect_refused([&] { endpoint_.map(200, stranger, 1); },
                 {"the name says rank " + std::to_string(job().size()), "not made by this job"});
  EXPECT_FALSE(endpoint_.mapped(200));
  EXPECT_FALSE(endpoint_.mapped(1'000'000));
}

TEST_F(Rules, map_any_takes_the_lowest_free_index_until_none_is_left) {
  Endpoint small(bundle(), {.translations = 3});
  EXPECT_EQ(small.translations(), 3u);
  for (const std::uint32_t index : {0u, 1u, 2u}) {
    EXPECT_EQ(small.map_any(endpoint_.name(), index), index);
    EXPECT_EQ(small.translation_tag(index), index);
    EXPECT_EQ(small.translation_name(index).serial, endpoint_.name().serial);
  }
  expect_refused([&] { small.map_any(endpoint_.name(), 1); }, {"no translation 3", "3 places"});
  small.unmap(1);
  EXPECT_FALSE(small.mapped(1));
  EXPECT_EQ(small.map_any(endpoint_.name(), 1), 1u);
}

TEST_F(Rules, messages_go_to_mapped_translations_only) {
  const std::uint32_t unmapped = 255;
  const std::string not_mapped = "translation 255 is not mapped";
  expect_refused([&] { endpoint_.request<&on_work>(unmapped); }, {"request", not_mapped});
  expect_refused([&] { endpoint_.request_medium<&on_medium>(unmapped, {}); }, {not_mapped});
  expect_refused([&] { endpoint_.request_long<&on_long>(unmapped, 0, {}); }, {not_mapped});
  expect_refused([&] { endpoint_.request_index(unmapped, 1, {}); }, {not_mapped});
  expect_refused([&] { (void)endpoint_.try_request<&on_work>(unmapped); }, {not_mapped});
  expect_refused([&] { endpoint_.unmap(unmapped); }, {not_mapped});
  expect_refused([&] { endpoint_.translation_name(unmapped); }, {not_mapped});
  expect_refused([&] { endpoint_.translation_tag(unmapped); }, {not_mapped});
  expect_refused([&] { endpoint_.request<&on_work>(4711); }, {"no translation 4711"});
  expect_refused([&] { endpoint_.in_flight(4711, Kind::kShort); }, {"no translation 4711"});
  expect_refused([&] { endpoint_.unmap(4711); }, {"no translation 4711"});
  endpoint_.unmap(me());
  expect_refused([&] { endpoint_.request<&on_work>(me()); }, {"is not mapped"});
}

TEST_F(Rules, an_endpoint_is_not_made_for_more_senders_than_there_can_be) {
  expect_refused([&] { Endpoint wide(bundle(), {.inboxes = 1025}); },
                 {"1025 inboxes", "at most 1024", "unmap"});
  const Endpoint widest(bundle(), {.inboxes = 1024});
}

TEST_F(Rules, an_endpoint_has_room_for_the_senders_it_was_made_for) {
  Endpoint narrow(bundle(), {.inboxes = 2});
  narrow.set_tag(1);
  Endpoint senders[3] = {Endpoint(bundle()), Endpoint(bundle()), Endpoint(bundle())};
  narrow.add_handlers<&on_work>();
  for (Endpoint& sender : senders) {
    sender.add_handlers<&on_work>();
    sender.map(0, narrow.name(), 1);
  }
  senders[0].request<&on_work>(0);
  senders[1].request<&on_work>(0);
  expect_refused([&] { senders[2].request<&on_work>(0); },
                 {"no way to the endpoint of rank " + std::to_string(me()), "translation 0",
                  "all 2 inboxes", "unmap"});
  senders[0].unmap(0);
  bundle().wait_until([&] {  // until the goodbye has been seen
    try {
      return senders[2].try_request<&on_work>(0);
    } catch (const Error&) {
      return false;
    }
  });
  bundle().wait_until([&] { return handled == 3; });
}

TEST_F(Rules, an_endpoint_has_at_least_one_translation) {
  expect_refused([&] { Endpoint(bundle(), {.translations = 0}); }, {"0 translations", "1 to"});
  expect_refused([&] { Endpoint(bundle(), {.translations = 1u << 25}); },
                 {"33554432 translations", "1 to"});
}

// --- Values

TEST_F(Rules, a_medium_payload_has_at_most_4096_bytes) {
  const std::vector<std::byte> bytes(4097);
  expect_refused([&] { endpoint_.request_medium<&on_medium>(me(), bytes); },
                 {"4097 bytes are too many", "at most 4096", "long"});
  endpoint_.request_medium<&on_medium>(me(), std::span(bytes).first(4096));
  bundle().wait_until([&] { return handled == 1; });
  EXPECT_EQ(endpoint_.stats()[Kind::kMedium].requests_sent, 1u);
}

TEST_F(Rules, a_request_by_index_has_at_most_16_words) {
  const std::array<std::uint32_t, 17> words{};
  expect_refused([&] { endpoint_.request_index(me(), 3, words); }, {"17 words", "at most 16"});
  expect_refused([&] { endpoint_.request_index(me(), 3, {}, Role::kReply); }, {"request_index"});
}

TEST_F(Rules, waiting_for_no_event_is_refused) {
  expect_refused([&] { bundle().wait(Events::kNone); },
                 {"Bundle::wait", "the event mask is empty"});
  expect_refused([&] { bundle().wait(Events::kNone, 5); }, {"the event mask is empty"});
}

// --- Endpoints on the move

// An endpoint that nobody was told of, but by what it has sent.
TEST_F(Rules, a_sender_can_be_mapped_by_the_name_that_its_message_has) {
  constexpr Tag kTag = 9;
  endpoint_.add_handlers<&on_greeting>();
  sources.clear();
  Endpoint greeter(bundle());
  greeter.add_handlers<&on_answer, &on_question, &on_work, &on_news, &on_medium, &on_long>();
  greeter.add_handlers<&on_greeting>();
  greeter.set_tag(kTag);
  barrier();  // all have their handlers
  const Rank right = (me() + 1) % job().size();
  const Rank left = (me() + job().size() - 1) % job().size();
  const std::uint32_t to = greeter.map_any(endpoint_.translation_name(right), 1);
  greeter.request<&on_greeting>(to);
  bundle().wait_until([] { return sources.size() == 1; });
  EXPECT_EQ(sources[0].rank, left);
  const std::uint32_t back = endpoint_.map_any(sources[0], kTag);
  endpoint_.request<&on_news>(back);
  bundle().wait_until([] { return handled == 1; });  // the greeter here has heard from the right
  EXPECT_EQ(greeter.stats()[Kind::kShort].one_way_received, 1u);
  endpoint_.unmap(back);
  barrier();
}

// Also to processes of the node of which it says that the endpoint is there.
TEST_F(Rules, a_source_name_leads_to_its_endpoint_wherever_it_is_passed_on_to) {
  sources.clear();
  passed_on.clear();
  endpoint_.add_handlers<&on_greeting, &on_passed_on>();
  barrier();  // all have their handlers
  const std::size_t all = job().size();
  for (Rank to = 0; to < all; ++to) endpoint_.request<&on_greeting>(to);
  bundle().wait_until([all] { return sources.size() == all; });
  for (const Name& source : sources) endpoint_.request<&on_passed_on>((me() + 1) % all, source);
  bundle().wait_until([all] { return passed_on.size() == all; });
  for (const Name& name : passed_on)
    endpoint_.request<&on_news>(endpoint_.map_any(name, endpoint_.tag()));
  bundle().wait_until([all] { return handled == all; });
}

TEST_F(Rules, an_endpoint_is_served_by_the_bundle_that_has_it) {
  Bundle other(job());
  other.adopt(endpoint_);
  EXPECT_EQ(&endpoint_.bundle(), &other);
  EXPECT_TRUE(endpoint_.try_request<&on_work>(me()));
  for (int i = 0; i < 1'000; ++i) bundle().poll();
  EXPECT_EQ(handled, 0u);
  other.wait_until([&] { return handled == 1; });
  bundle().adopt(endpoint_);
  EXPECT_TRUE(other.endpoints().empty());
}

TEST_F(Rules, an_endpoint_can_move_between_bundles_amid_traffic) {
  constexpr std::uint64_t kEach = 2'000;
  Bundle other(job());
  Bundle* const bundles[] = {&bundle(), &other};
  const Rank right = (me() + 1) % job().size();
  for (std::uint64_t i = 0; i < kEach; ++i) {
    endpoint_.request<&on_question>(right);  // waits on the bundle it is in
    endpoint_.request<&on_news>(right);
    if (i % 50 == 0) bundles[i / 50 % 2]->adopt(endpoint_);
  }
  endpoint_.bundle().wait_until([&] { return handled == 2 * kEach && answered == kEach; });
  bundle().adopt(endpoint_);
  bundle().adopt(endpoint_);  // is there already
  EXPECT_EQ(bundle().endpoints(), std::vector<Endpoint*>{&endpoint_});
}

}  // namespace rules_test
}  // namespace am
