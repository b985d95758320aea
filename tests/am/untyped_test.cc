// Handlers without types and requests by index: every kind, role and count of words, beside typed
// ones; and handlers that are member functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace untyped_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::size;
using Words = std::span<const std::uint32_t>;
using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kCounts = 17;
constexpr std::uint64_t kArea = 8192;
constexpr Kind kAllKinds[] = {Kind::kShort, Kind::kMedium, Kind::kLong};
constexpr HandlerIndex kRequests = 200;
constexpr HandlerIndex kReplies = 201;

// What message number `turn` says, in both directions: an independent account of it.
std::uint32_t word_of(std::uint32_t turn, std::uint32_t i) {
  return turn * 2654435761u + i * 40503u;
}
std::size_t bytes_of(std::uint32_t turn, Kind kind) {
  return kind == Kind::kShort ? 0 : turn % 3 == 0 ? 4096 - turn % 5 : turn % 4000;
}
std::byte byte_of(std::uint32_t turn, std::size_t i) {
  return static_cast<std::byte>(turn * 31 + i * 7 + (i >> 8));
}

// One message as it is sent.
struct Said {
  Said(std::uint32_t turn, Kind kind, std::uint32_t count) : kind(kind) {
    for (std::uint32_t i = 0; i < count; ++i) words.push_back(word_of(turn, i));
    payload.resize(bytes_of(turn, kind));
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = byte_of(turn, i);
  }
  Kind kind;
  std::vector<std::uint32_t> words;
  std::vector<std::byte> payload;
};

void expect_says(const UntypedMessage& message, const Said& said) {
  EXPECT_EQ(message.kind(), said.kind);
  const Words words = message.arguments();
  EXPECT_EQ(std::vector<std::uint32_t>(words.begin(), words.end()), said.words);
  const Bytes payload = message.payload();
  EXPECT_EQ(std::vector<std::byte>(payload.begin(), payload.end()), said.payload);
}

// Each process sends to its right neighbour, one message at a time.
class Untyped : public testing::Test {
 protected:
  struct Seen {
    std::uint32_t turn = 0;  // of the message that is on its way
    Kind kind = Kind::kShort;
    Kind reply_kind = Kind::kShort;
    std::uint32_t count = 0;
    std::uint32_t requests = 0;
    std::uint32_t replies = 0;
    bool one_way = false;
  };

  static void on_request(UntypedMessage message, void* context) {
    Seen& seen = *static_cast<Seen*>(context);
    EXPECT_EQ(message.source(), (rank() + size() - 1) % size());
    EXPECT_EQ(message.handler(), kRequests);
    EXPECT_EQ(message.role(), seen.one_way ? Role::kOneWay : Role::kRequest);
    expect_says(message, Said(seen.turn, seen.kind, seen.count));
    ++seen.requests;
    if (seen.one_way) return;
    const Said answer(seen.turn + 1, seen.reply_kind, kCounts - 1 - seen.count);
    switch (answer.kind) {
      case Kind::kShort: return std::move(message).reply_index(kReplies, answer.words);
      case Kind::kMedium:
        return std::move(message).reply_index_medium(kReplies, answer.payload, answer.words);
      case Kind::kLong:
        return std::move(message).reply_index_long(kReplies, kArea, answer.payload, answer.words);
    }
  }
  static void on_reply(UntypedMessage message, void* context) {
    Seen& seen = *static_cast<Seen*>(context);
    EXPECT_EQ(message.source(), right());
    EXPECT_EQ(message.role(), Role::kReply);
    expect_says(message, Said(seen.turn + 1, seen.reply_kind, kCounts - 1 - seen.count));
    ++seen.replies;
  }
  static Rank right() { return (rank() + 1) % size(); }

  void connect() {
    EXPECT_EQ(endpoint_.set_untyped_handler(kRequests, &on_request, &seen_), kRequests);
    EXPECT_EQ(endpoint_.set_untyped_handler(kReplies, &on_reply, &seen_), kReplies);
    job().connect(endpoint_);
  }
  void exchange(std::uint32_t turn, Kind kind, Kind reply_kind, std::uint32_t count, bool one_way) {
    seen_ = {turn, kind, reply_kind, count, 0, 0, one_way};
    barrier();
    const Said said(turn, kind, count);
    endpoint_.request_index(right(), {.handler = kRequests,
                                      .kind = kind,
                                      .arguments = said.words,
                                      .payload = said.payload,
                                      .offset = 64,
                                      .role = one_way ? Role::kOneWay : Role::kRequest});
    bundle().wait_until(
        [&] { return seen_.requests == 1 && seen_.replies == (one_way ? 0u : 1u); });
    barrier();
  }

  Seen seen_;
  Endpoint endpoint_{bundle()};
};

TEST_F(Untyped, every_count_kind_and_reply_kind_arrives) {
  connect();
  std::uint32_t turn = 0;
  for (std::uint32_t count = 0; count < kCounts; ++count) {
    for (const Kind kind : kAllKinds) {
      for (const Kind reply_kind : kAllKinds) exchange(++turn, kind, reply_kind, count, false);
      exchange(++turn, kind, Kind::kShort, count, true);
    }
  }
  EXPECT_EQ(endpoint_.stats().returned_here + endpoint_.stats().returned_by_us, 0u);
}

TEST_F(Untyped, long_payloads_of_every_size_arrive) {
  connect();
  std::vector<std::byte> payload(300000);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = byte_of(rank(), i);
  static std::size_t bytes_seen;
  static bool equal;
  const auto check = [](UntypedMessage message, void*) {
    bytes_seen = message.payload().size();
    equal = true;
    const Rank left = (rank() + size() - 1) % size();
    for (std::size_t i = 0; i < bytes_seen; ++i) equal &= message.payload()[i] == byte_of(left, i);
  };
  endpoint_.set_untyped_handler(7, check);
  barrier();
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4097}, payload.size()}) {
    bytes_seen = payload.size() + 1;
    barrier();
    endpoint_.request_index(
        right(),
        {.handler = 7, .kind = Kind::kLong, .payload = Bytes(payload).first(bytes), .offset = 128});
    bundle().wait_until([] { return bytes_seen <= 300000; });
    EXPECT_EQ(bytes_seen, bytes);
    EXPECT_TRUE(equal);
    barrier();
  }
}

// --- Beside typed ones

void on_ask(Request, std::uint64_t) { ADD_FAILURE() << "the other process has another handler"; }
std::uint64_t replied = 0;
void on_typed_reply(Reply, std::uint64_t value) { replied += value; }

void echo_typed(UntypedMessage message, void* context) {
  std::uint64_t value;
  std::memcpy(&value, message.arguments().data(), sizeof value);
  *static_cast<std::uint64_t*>(context) += value;
  std::move(message).reply<&on_typed_reply>(value + 1);
}

TEST(UntypedAndTyped, a_typed_request_and_a_typed_reply_meet_an_untyped_handler) {
  Endpoint endpoint(bundle());
  std::uint64_t sum = 0;
  replied = 0;
  endpoint.set_handler<&on_typed_reply>(3);
  // At the receiver the place has an untyped handler; at the sender the typed one names it.
  const bool receives = rank() == 0;
  if (receives) {
    endpoint.set_untyped_handler(4, &echo_typed, &sum);
  } else {
    endpoint.set_handler<&on_ask>(4);
  }
  job().connect(endpoint);
  if (!receives) {
    endpoint.request<&on_ask>(0, 5u);
    bundle().wait_until([] { return replied != 0; });
    EXPECT_EQ(replied, 6u);
  } else {
    bundle().wait_until([&] { return sum == 5u * (size() - 1); });
  }
  endpoint.flush();
  barrier();
}

std::uint64_t taken = 0;
void take_two(OneWay, std::uint64_t value, std::uint32_t more) { taken += value + more; }

TEST(UntypedAndTyped, a_request_by_index_meets_a_typed_handler) {
  Endpoint endpoint(bundle());
  taken = 0;
  endpoint.set_handler<&take_two>(9);
  job().connect(endpoint);
  const Rank right = (rank() + 1) % size();
  const std::array<std::uint32_t, 3> words{7, 1, 5};
  endpoint.request_index(right, 9, words, Role::kOneWay);
  bundle().wait_until([] { return taken != 0; });
  EXPECT_EQ(taken, (std::uint64_t{1} << 32) + 7 + 5);
  barrier();
}

TEST(UntypedAndTyped, a_typed_handler_still_refuses_what_does_not_fit_it) {
  Endpoint endpoint(bundle());
  std::vector<Status> back;
  endpoint.on_returned([&](const Returned& message) { back.push_back(message.status); });
  endpoint.set_handler<&take_two>(9);
  job().connect(endpoint);
  const Rank right = (rank() + 1) % size();
  endpoint.request_index(right, 9, std::array<std::uint32_t, 2>{}, Role::kOneWay);
  endpoint.request_index(right, 10, {}, Role::kOneWay);
  endpoint.flush();
  EXPECT_EQ(back.size(), 2u);
  EXPECT_EQ(std::count(back.begin(), back.end(), Status::kBadArguments), 1);
  EXPECT_EQ(std::count(back.begin(), back.end(), Status::kBadHandler), 1);
  barrier();
}

// --- What is refused

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(Untyped, impossible_requests_are_refused_with_a_sentence) {
  connect();
  const std::array<std::uint32_t, 17> words{};
  EXPECT_NE(refusal([&] {
              endpoint_.request_index(right(), kRequests, words);
            }).find("17 words of arguments; a request takes at most 16"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              endpoint_.request_index(right(), {.handler = kRequests, .role = Role::kReply});
            }).find("a reply is sent by the handler of its request"),
            std::string::npos);
  const std::vector<std::byte> much(4097);
  EXPECT_NE(refusal([&] {
              endpoint_.request_index(
                  right(), {.handler = kRequests, .kind = Kind::kMedium, .payload = much});
            }).find("4097 bytes are too many"),
            std::string::npos);
  EXPECT_NE(refusal([&] { endpoint_.request_index(right(), 0, {}); }).find("index 0"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              endpoint_.request_index(right(), {.handler = kRequests, .payload = much});
            }).find("4097 bytes, but the request is short"),
            std::string::npos);
  EXPECT_NE(refusal([&] { endpoint_.set_untyped_handler(0, nullptr); }).find("null"),
            std::string::npos);
  EXPECT_NE(refusal([&] { endpoint_.set_untyped_handler(kRequests, &on_request); }).find("in use"),
            std::string::npos);
  EXPECT_EQ(endpoint_.set_untyped_handler(0, &on_request), 1);  // the lowest free one
  barrier();
}

std::vector<std::string> refusals;
void answer_badly(UntypedMessage message, void*) {
  const std::array<std::uint32_t, 17> words{};
  refusals.push_back(refusal([&] { std::move(message).reply_index(9, words); }));
  refusals.push_back(refusal([&] { std::move(message).reply_index(0, {}); }));
  const bool may = message.role() == Role::kRequest;
  refusals.push_back(refusal([&] { std::move(message).reply_index(9, {}); }));
  if (may) refusals.push_back(refusal([&] { std::move(message).reply_index(9, {}); }));
}

TEST_F(Untyped, impossible_replies_are_refused_with_a_sentence) {
  connect();
  endpoint_.set_untyped_handler(8, &answer_badly);
  endpoint_.set_untyped_handler(9, [](UntypedMessage, void*) {});
  refusals.clear();
  barrier();
  const auto has = [](std::size_t i, const char* text) {
    return refusals.at(i).find(text) != std::string::npos;
  };
  endpoint_.request_index(right(), 8, {}, Role::kOneWay);
  bundle().wait_until([] { return refusals.size() == 3; });
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(has(i, "only a request can be answered"));
  refusals.clear();
  barrier();
  endpoint_.request_index(right(), 8, {});
  bundle().wait_until([] { return refusals.size() == 4; });
  EXPECT_TRUE(has(0, "17 words of arguments; a reply takes at most 16"));
  EXPECT_TRUE(has(1, "no handler has index 0"));
  EXPECT_EQ(refusals[2], "");
  EXPECT_TRUE(has(3, "answered already"));
  endpoint_.flush();
  barrier();
}

// Typed replies are no way around that.
std::vector<std::string> typed_refusals;
void answer_by_type(UntypedMessage message, void*) {
  if (message.role() == Role::kRequest) std::move(message).reply_index(8, {});
  typed_refusals.push_back(
      refusal([&] { std::move(message).reply<&on_typed_reply>(std::uint64_t{1}); }));
  typed_refusals.push_back(refusal(
      [&] { std::move(message).reply_index_long(9, 0, std::vector<std::byte>(5000), {}); }));
}

TEST_F(Untyped, what_is_no_request_is_not_answered_by_a_typed_reply) {
  connect();
  endpoint_.set_untyped_handler(8, &answer_by_type);
  endpoint_.set_handler<&on_typed_reply>(9);
  typed_refusals.clear();
  barrier();
  endpoint_.request_index(right(), 8, {}, Role::kOneWay);
  endpoint_.request_index(right(), 8, {});  // ... and its reply
  bundle().wait_until([] { return typed_refusals.size() == 6; });
  for (const std::string& one : typed_refusals) EXPECT_NE(one, "");
  endpoint_.flush();
  barrier();
}

// --- Member functions

class Counter {
 public:
  void on_add(Request r, std::uint32_t n) {
    sum += n;
    std::move(r).reply<&Counter::on_sum>(sum);
  }
  void on_sum(Reply, std::uint64_t value) { last = value; }
  void on_text(OneWay, std::span<const std::byte> bytes) { text += bytes.size(); }
  void on_block(OneWay, std::span<std::byte> bytes, std::uint8_t) noexcept {
    block += bytes.size();
  }
  void on_look(OneWay) const { ++looks; }

  std::uint64_t sum = 0;
  std::uint64_t last = 0;
  std::size_t text = 0;
  std::size_t block = 0;
  mutable int looks = 0;
};

TEST(MemberHandlers, each_endpoint_calls_its_own_object) {
  Counter counters[2];
  Endpoint first(bundle());
  Endpoint second(bundle());
  std::uint32_t n = 0;
  for (Endpoint* const endpoint : {&first, &second}) {
    // At different places: nothing may go by what was registered last.
    if (endpoint == &second) endpoint->set_untyped_handler(1, [](UntypedMessage, void*) {});
    endpoint->add_handlers<&Counter::on_add, &Counter::on_sum, &Counter::on_text,
                           &Counter::on_block, &Counter::on_look>(counters[n++]);
    job().connect(*endpoint);
  }
  const Rank right = (rank() + 1) % size();
  const std::vector<std::byte> bytes(5000);
  for (std::uint32_t round = 1; round <= 100; ++round) {
    first.request<&Counter::on_add>(right, 1u);
    second.request<&Counter::on_add>(right, 10u);
    first.request_medium<&Counter::on_text>(right, Bytes(bytes).first(3));
    second.request_long<&Counter::on_block>(right, 0, bytes, 1);
    second.request<&Counter::on_look>(right);
  }
  bundle().flush();
  barrier();
  EXPECT_EQ(counters[0].sum, 100u);
  EXPECT_EQ(counters[1].sum, 1000u);
  EXPECT_EQ(counters[0].last, 100u);
  EXPECT_EQ(counters[1].last, 1000u);
  EXPECT_EQ(counters[0].text, 300u);
  EXPECT_EQ(counters[1].block, 500000u);
  EXPECT_NE(refusal([&] {
              first.add_handlers<&Counter::on_look>(counters[1]);
            }).find("registered already"),
            std::string::npos);
  EXPECT_EQ(counters[0].looks, 0);
  EXPECT_EQ(counters[1].looks, 100);
  barrier();
}

}  // namespace untyped_test
}  // namespace am
