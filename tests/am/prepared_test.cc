// Medium payloads that are written where they are sent from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"
#include "tests/support/text.h"

namespace am::prepared_test {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::size_t kSizes[] = {0, 1, 7, 8, 100, 1000, 4095, 4096};

std::byte byte_of(std::uint32_t seed, std::size_t i) {
  return static_cast<std::byte>(seed * 41 + i * 13 + (i >> 7));
}
void fill(std::span<std::byte> to, std::uint32_t seed) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = byte_of(seed, i);
}
bool is_whole(std::span<const std::byte> payload, std::uint32_t seed) {
  for (std::size_t i = 0; i < payload.size(); ++i) {
    if (payload[i] != byte_of(seed, i)) return false;
  }
  return true;
}

struct Many {
  std::uint32_t words[15];
};

std::atomic<std::uint64_t> came{0}, wrong{0};
void note(bool right) {
  ++came;
  if (!right) ++wrong;
}
void on_plain(OneWay, std::span<const std::byte> payload) { note(is_whole(payload, 7)); }
void on_seeded(Request, std::span<const std::byte> payload, std::uint32_t seed, std::uint8_t odd) {
  note(is_whole(payload, seed) && odd == 9);
}
void on_many(OneWay, std::span<const std::byte> payload, std::uint32_t seed, Many many) {
  const bool all =
      std::ranges::all_of(many.words, [&](std::uint32_t word) { return word == seed; });
  note(is_whole(payload, seed) && all);
}
void on_reply(Reply, std::span<const std::byte> payload, std::uint32_t seed) {
  note(is_whole(payload, seed));
}
void on_asked(Request from, std::uint32_t bytes, std::uint32_t seed) {
  PreparedReply reply = std::move(from).prepare_reply_medium(bytes, max_medium());
  fill(reply.span(), seed);
  std::move(reply).commit<&on_reply>(bytes, seed);
}
void on_dropped(Request from) {
  static_cast<void>(std::move(from).prepare_reply_medium(0, max_medium()));
}
std::string said;
void on_prepares(Request from);

template <class Call>
std::string sentence_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class Prepared : public testing::Test {
 protected:
  void SetUp() override {
    add_handlers(endpoint_);
    job().connect(endpoint_);
    came = wrong = 0;
    barrier();
  }
  void TearDown() override {
    EXPECT_EQ(wrong, 0u);
    barrier();
  }

  static void add_handlers(Endpoint& to) {
    to.add_handlers<&on_plain, &on_seeded, &on_many, &on_reply, &on_asked, &on_dropped,
                    &on_prepares>();
  }
  static Rank me() { return job().rank(); }
  static Rank right() { return (me() + 1) % job().size(); }
  // All that everybody has sent has been handled.
  static void settle() { job().quiesce(bundle()); }
  // This process has sent so many to the right, and the one on the left as many as it says.
  static void expect_from_left(std::uint64_t sent) {
    settle();
    const std::vector<std::uint64_t> all = job().exchange(sent);
    EXPECT_EQ(came, all[(me() + job().size() - 1) % job().size()]);
  }
  // Nothing is written in place then, and commit() waits instead of prepare.
  static bool traced() { return std::getenv("SPLITC_TRACE") != nullptr; }
  // Whether the payload is written into a slot: elsewhere calls in between may be harmless.
  static bool in_slot(Rank to) { return job().router().is_near(to) && !traced(); }

  void send_seeded(Endpoint& by, Rank to, std::size_t bytes, std::uint32_t seed) {
    PreparedMedium payload = by.prepare_medium(to, bytes, max_medium());
    ASSERT_GE(payload.span().size(), bytes);
    fill(payload.span(), seed);
    std::move(payload).commit<&on_seeded>(bytes, seed, std::uint8_t{9});
  }

  Endpoint endpoint_{bundle()};
};

TEST_F(Prepared, arrives_whole_in_every_size_with_any_arguments) {
  for (const std::size_t bytes : kSizes) {
    for (Rank to = 0; to < job().size(); ++to) {
      send_seeded(endpoint_, to, bytes, 100 * to + 1);
      PreparedMedium plain = endpoint_.prepare_medium(to, 0, bytes);
      fill(plain.span(), 7);
      std::move(plain).commit<&on_plain>(bytes);
      PreparedMedium with_many = endpoint_.prepare_medium(to, bytes, bytes);
      fill(with_many.span(), 5);
      Many many{};
      std::ranges::fill(many.words, 5);
      std::move(with_many).commit<&on_many>(bytes, 5u, many);
    }
  }
  settle();
  EXPECT_EQ(came, 3 * std::size(kSizes) * job().size());
}

TEST_F(Prepared, waits_for_credit_and_mixes_with_others) {
  constexpr std::uint32_t kTimes = 300;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    send_seeded(endpoint_, right(), i % 3 == 0 ? 4096 : i, i);
    std::vector<std::byte> payload(i);
    fill(payload, i);
    endpoint_.request_medium<&on_seeded>(right(), payload, i, std::uint8_t{9});
  }
  settle();
  EXPECT_EQ(came, 2 * kTimes);
}

TEST_F(Prepared, is_tried_until_there_is_a_credit) {
  std::uint32_t sent = 0, refusals = 0;
  while (sent < 200) {
    std::optional<PreparedMedium> payload = endpoint_.try_prepare_medium(right(), 0, 10);
    if (!payload) {
      ++refusals;
      bundle().poll();
      continue;
    }
    fill(payload->span(), sent);
    std::move(*payload).commit<&on_seeded>(10, sent, std::uint8_t{9});
    ++sent;
  }
  settle();
  EXPECT_EQ(came, 200u);
  if (!traced()) {
    EXPECT_GT(refusals, 0u) << "windows are smaller";
  }
}

TEST_F(Prepared, gives_credit_and_room_back_when_dropped) {
  for (std::uint32_t i = 0; i < 500; ++i) {
    PreparedMedium dropped = endpoint_.prepare_medium(right(), 0, max_medium());
    fill(dropped.span(), 3);
    const PreparedMedium moved = std::move(dropped);
    EXPECT_EQ(dropped.span().size(), 0u);  // NOLINT(bugprone-use-after-move): it says so
  }
  EXPECT_EQ(endpoint_.in_flight(right(), Kind::kMedium), 0u);
  send_seeded(endpoint_, right(), 77, 4);
  settle();
  EXPECT_EQ(came, 1u);
}

TEST_F(Prepared, replies_arrive_whole_or_empty) {
  for (const std::size_t bytes : kSizes) {
    endpoint_.request<&on_asked>(right(), static_cast<std::uint32_t>(bytes), 11u);
    endpoint_.request<&on_dropped>(right());
  }
  settle();
  EXPECT_EQ(came, std::size(kSizes));
}

TEST_F(Prepared, comes_back_whole_with_the_reason) {
  Endpoint other(bundle());
  add_handlers(other);
  job().connect(other);
  std::uint64_t returned = 0;
  other.on_returned([&](const Returned& message) {
    ++returned;
    EXPECT_EQ(message.status, Status::kBadTag);
    EXPECT_TRUE(is_whole(message.payload, 21));
    EXPECT_EQ(message.payload.size(), 1000u);
  });
  barrier();
  other.unmap(right());
  other.map(right(), endpoint_.name(), kTagNone + 12345);
  send_seeded(other, right(), 1000, 21);
  other.flush();
  EXPECT_EQ(returned, 1u);
  barrier();
}

void on_prepares(Request from) {
  Endpoint& endpoint = from.endpoint();
  said = sentence_of([&] { static_cast<void>(endpoint.prepare_medium(0, 0, 1)); });
}

TEST_F(Prepared, is_refused_where_nothing_may_be_sent) {
  endpoint_.request<&on_prepares>(me());
  settle();
  ::test::expect_contains(said, {"prepare_medium: a handler may not send requests"});
}

TEST_F(Prepared, names_wrong_sizes) {
  ::test::expect_contains(
      sentence_of([&] { static_cast<void>(endpoint_.prepare_medium(right(), 9, 8)); }),
      {"prepare_medium: a payload of 9 to 8 bytes cannot be prepared"});
  ::test::expect_contains(
      sentence_of([&] { static_cast<void>(endpoint_.try_prepare_medium(right(), 0, 4097)); }),
      {"try_prepare_medium: a payload of 0 to 4097 bytes", "up to 4096"});
  PreparedMedium payload = endpoint_.prepare_medium(right(), 8, 8);
  ::test::expect_contains(sentence_of([&] { std::move(payload).commit<&on_plain>(9); }),
                          {"commit: 9 bytes are more than the 8 that were prepared"});
}

TEST_F(Prepared, is_sent_to_a_handler_by_its_index) {
  const HandlerIndex index = endpoint_.index_of<&on_seeded>();
  PreparedMedium payload = endpoint_.prepare_medium(right(), 0, 50);
  fill(payload.span(), 6);
  const std::array<std::uint32_t, 17> words{6, 9};
  ::test::expect_contains(sentence_of([&] { std::move(payload).commit_index(50, index, words); }),
                          {"commit_index: 17 words of arguments"});
  std::move(payload).commit_index(50, index, std::span(words).first(2));
  settle();
  EXPECT_EQ(came, 1u);
}

TEST_F(Prepared, is_committed_once) {
  PreparedMedium payload = endpoint_.prepare_medium(right(), 8, 8);
  fill(payload.span(), 7);
  std::move(payload).commit<&on_plain>(8);
  // NOLINTNEXTLINE(bugprone-use-after-move): it refuses
  const std::string again = sentence_of([&] { std::move(payload).commit<&on_plain>(8); });
  ::test::expect_contains(again, {"commit: this payload was committed already"});
  settle();
  EXPECT_EQ(came, 1u);
}

TEST_F(Prepared, names_a_request_in_between_in_checked_builds) {
  if (!kChecked) GTEST_SKIP() << "release builds look at commit only";
  PreparedMedium payload = endpoint_.prepare_medium(right(), 0, 8);
  const std::string request =
      sentence_of([&] { endpoint_.request_medium<&on_plain>(right(), {}); });
  const std::string another =
      sentence_of([&] { static_cast<void>(endpoint_.prepare_medium(me(), 0, 8)); });
  if (in_slot(right())) {
    ::test::expect_contains(request, {"request_medium: a payload of this endpoint is prepared"});
    ::test::expect_contains(another, {"prepare_medium: a payload of this endpoint is prepared"});
  }
  std::move(payload).commit<&on_plain>(0);
  expect_from_left(request == "nothing was thrown" ? 2 : 1);
}

// The poll frees the slot of an earlier request, which moves the place of the next one; and a
// packet to the same process takes the place of the one that is written.
TEST_F(Prepared, is_not_sent_if_the_library_was_called_in_between) {
  Endpoint other(bundle());
  add_handlers(other);
  job().connect(other);
  send_seeded(endpoint_, right(), 8, 1);
  PreparedMedium payload = endpoint_.prepare_medium(right(), 0, 8);
  fill(payload.span(), 7);
  bundle().wait_until([&] { return endpoint_.in_flight(right(), Kind::kMedium) == 0; });
  other.request_medium<&on_plain>(right(), {});
  const std::string commit = sentence_of([&] { std::move(payload).commit<&on_plain>(8); });
  if (in_slot(right()) || commit != "nothing was thrown") {
    ::test::expect_contains(commit, {"commit: the library was called between prepare and commit"});
  }
  expect_from_left(commit == "nothing was thrown" ? 3 : 2);
}

TEST_F(Prepared, in_a_parallel_bundle_by_many_threads) {
  constexpr std::uint32_t kTimes = 200;
  {
    Bundle parallel(job(), Access::kParallel);
    Endpoint shared(parallel);
    add_handlers(shared);
    job().connect(shared);
    barrier();
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::uint32_t i = 0; i < kTimes; ++i) {
          PreparedMedium one = shared.prepare_medium(right(), i, max_medium());
          PreparedMedium other = shared.prepare_medium(right(), 0, i);
          fill(one.span(), 10 * i + thread);
          fill(other.span(), 7);
          parallel.poll();
          std::move(one).commit<&on_seeded>(i, 10 * i + thread, std::uint8_t{9});
          std::move(other).commit<&on_plain>(i);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    parallel.flush();
    settle();
  }
  EXPECT_EQ(came, 2 * 3 * kTimes);
}

}  // namespace
}  // namespace am::prepared_test
