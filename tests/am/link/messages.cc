// Conformance: messages of every kind, role and size between all processes at once.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tests/am/link/oracle.h"
#include "tests/support/job_main.h"

namespace am {
namespace {

using conformance::Oracle;
using conformance::Purpose;
using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::uint64_t kStride = std::uint64_t{12} << 20;  // of the segment, for each sender
constexpr std::uint64_t kReplies = 8 * kStride;             // where their long replies begin
constexpr Kind kAllKinds[] = {Kind::kShort, Kind::kMedium, Kind::kLong};

// One message that every process sends to every other, and how it is answered.
struct Order {
  Role role;
  Kind kind;
  Kind reply_kind;
  std::size_t bytes;
  std::uint64_t offset = 0;  // of a long payload, from the sender's area
};

bool fits(Kind kind, std::size_t bytes) {
  return kind == Kind::kShort ? bytes == 0 : kind == Kind::kLong || bytes <= max_medium();
}

std::vector<Order> make_orders(const std::vector<std::size_t>& sizes) {
  std::vector<Order> orders;
  std::vector<std::size_t> all;
  for (const std::size_t bytes : sizes) {
    for (const Kind kind : kAllKinds) {
      if (!fits(kind, bytes)) continue;
      orders.push_back({Role::kOneWay, kind, Kind::kShort, bytes});
      for (const Kind reply : kAllKinds) {  // as long as the request, or nothing
        const bool possible = reply == Kind::kShort || fits(reply, bytes);
        if (possible) orders.push_back({Role::kRequest, kind, reply, bytes});
      }
    }
  }
  for (const Order& order : orders) all.push_back(order.bytes);
  const auto offsets = conformance::places(all, 0);
  for (std::size_t i = 0; i < orders.size(); ++i) orders[i].offset = offsets[i];
  EXPECT_LE(offsets.back() + all.back(), kStride);
  return orders;
}

struct Trial {
  std::uint32_t first_number;  // no two trials have contents in common
  std::vector<Order> orders;
  std::vector<std::vector<char>> seen_requests;  // by sender, number
  std::vector<std::vector<char>> seen_replies;
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t awaited_replies = 0;
};
Trial* trial = nullptr;

std::uint64_t offset_of(const Message& message, std::span<const std::byte> bytes) {
  return static_cast<std::uint64_t>(bytes.data() - message.endpoint().segment().data());
}

void check(const Message& message, Purpose purpose, Kind kind, std::span<const std::byte> bytes,
           std::uint32_t number, std::uint64_t word) {
  const bool reply = purpose == Purpose::kReply;
  const Rank from = message.source();
  ASSERT_LT(number, trial->orders.size());
  const Order& order = trial->orders[number];
  auto& seen = (reply ? trial->seen_replies : trial->seen_requests)[from];
  EXPECT_EQ(seen[number]++, 0) << "message " << number << " of rank " << from << " came twice";
  ++(reply ? trial->replies : trial->requests);
  EXPECT_EQ(kind, reply ? order.reply_kind : order.kind);
  const Oracle oracle(purpose, from, job().rank(), trial->first_number + number);
  EXPECT_EQ(word, oracle.word(1'000'000)) << "message " << number << " of rank " << from;
  if (kind == Kind::kShort) return;
  ASSERT_EQ(bytes.size(), order.bytes) << "message " << number << " of rank " << from;
  if (kind == Kind::kLong) {
    EXPECT_EQ(offset_of(message, bytes), (reply ? kReplies : 0) + from * kStride + order.offset);
  }
  const auto difference = oracle.difference(bytes);
  EXPECT_FALSE(difference) << "message " << number << " of rank " << from << ", " << bytes.size()
                           << " bytes, differs from byte " << *difference;
}

void on_short_reply(Reply r, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kReply, Kind::kShort, {}, n, word);
}
void on_medium_reply(Reply r, std::span<const std::byte> b, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kReply, Kind::kMedium, b, n, word);
}
void on_long_reply(Reply r, std::span<std::byte> b, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kReply, Kind::kLong, b, n, word);
}

void answer(Request&& request, std::uint32_t number) {
  const Order& order = trial->orders[number];
  const Oracle oracle(Purpose::kReply, job().rank(), request.source(),
                      trial->first_number + number);
  const std::uint64_t word = oracle.word(1'000'000);
  const std::uint64_t offset = kReplies + job().rank() * kStride + order.offset;
  const std::vector<std::byte> bytes = oracle.make(order.bytes);
  switch (order.reply_kind) {
    case Kind::kShort: return std::move(request).reply<&on_short_reply>(number, word);
    case Kind::kMedium:
      return std::move(request).reply_medium<&on_medium_reply>(bytes, number, word);
    case Kind::kLong:
      return std::move(request).reply_long<&on_long_reply>(offset, bytes, number, word);
  }
}

void on_short(Request r, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kRequest, Kind::kShort, {}, n, word);
  answer(std::move(r), n);
}
void on_medium(Request r, std::span<const std::byte> b, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kRequest, Kind::kMedium, b, n, word);
  answer(std::move(r), n);
}
void on_long(Request r, std::span<std::byte> b, std::uint32_t n, std::uint64_t word) {
  check(r, Purpose::kRequest, Kind::kLong, b, n, word);
  answer(std::move(r), n);
}
void on_short_one_way(OneWay m, std::uint32_t n, std::uint64_t word) {
  check(m, Purpose::kRequest, Kind::kShort, {}, n, word);
}
void on_medium_one_way(OneWay m, std::span<const std::byte> b, std::uint32_t n,
                       std::uint64_t word) {
  check(m, Purpose::kRequest, Kind::kMedium, b, n, word);
}
void on_long_one_way(OneWay m, std::span<std::byte> b, std::uint32_t n, std::uint64_t word) {
  check(m, Purpose::kRequest, Kind::kLong, b, n, word);
}

// In turn by a request that waits and by one that does not.
void send(Endpoint& endpoint, Rank to, std::uint32_t number) {
  const Order& order = trial->orders[number];
  const Oracle oracle(Purpose::kRequest, job().rank(), to, trial->first_number + number);
  const std::uint64_t word = oracle.word(1'000'000);
  const std::uint64_t offset = job().rank() * kStride + order.offset;
  const std::vector<std::byte> bytes = oracle.make(order.bytes);
  const bool waits = number % 2 == 0;
  const auto retry = [](auto&& attempt) { bundle().wait_until(attempt); };
  if (order.role == Role::kRequest) ++trial->awaited_replies;
  if (order.role == Role::kOneWay) {
    switch (order.kind) {
      case Kind::kShort: return endpoint.request<&on_short_one_way>(to, number, word);
      case Kind::kMedium:
        return endpoint.request_medium<&on_medium_one_way>(to, bytes, number, word);
      case Kind::kLong:
        return endpoint.request_long<&on_long_one_way>(to, offset, bytes, number, word);
    }
  }
  switch (order.kind) {
    case Kind::kShort:
      if (waits) return endpoint.request<&on_short>(to, number, word);
      return retry([&] { return endpoint.try_request<&on_short>(to, number, word); });
    case Kind::kMedium:
      if (waits) return endpoint.request_medium<&on_medium>(to, bytes, number, word);
      return retry(
          [&] { return endpoint.try_request_medium<&on_medium>(to, bytes, number, word); });
    case Kind::kLong:
      if (waits) return endpoint.request_long<&on_long>(to, offset, bytes, number, word);
      return retry(
          [&] { return endpoint.try_request_long<&on_long>(to, offset, bytes, number, word); });
  }
}

void install(Endpoint& endpoint) {
  endpoint.add_handlers<&on_short, &on_medium, &on_long, &on_short_one_way, &on_medium_one_way,
                        &on_long_one_way, &on_short_reply, &on_medium_reply, &on_long_reply>();
}

// All orders from everybody to everybody, as many in flight as there are credits; or with `around`
// only from each process to the next.
void run(const std::vector<Order>& orders, bool around = false) {
  Endpoint endpoint(bundle());
  install(endpoint);
  job().connect(endpoint);
  const std::uint32_t size = job().size();
  static std::uint32_t numbers = 0;
  Trial now{std::exchange(numbers, numbers + static_cast<std::uint32_t>(orders.size())),
            orders,
            std::vector(size, std::vector<char>(orders.size())),
            std::vector(size, std::vector<char>(orders.size())),
            0,
            0,
            0};
  trial = &now;
  for (const std::uint32_t number : conformance::shuffled(orders.size(), job().rank())) {
    for (Rank i = 0; i < (around ? 1 : size); ++i) {
      send(endpoint, (job().rank() + i + (around ? 1 : 0)) % size, number);
    }
  }
  const std::uint64_t coming = orders.size() * (around ? 1 : size);
  bundle().wait_until([&] { return now.requests == coming && now.replies == now.awaited_replies; });
  barrier();
  EXPECT_EQ(now.requests, coming);
  EXPECT_EQ(now.replies, now.awaited_replies);
  EXPECT_EQ(endpoint.stats().returned_here + endpoint.stats().returned_by_us, 0u);
  barrier();  // all have looked: the endpoint may go
  trial = nullptr;
}

TEST(Conformance, messages_of_all_small_sizes_arrive_once_and_whole) {
  run(make_orders(conformance::small_sizes()));
}

TEST(Conformance, messages_of_sizes_at_the_limits_arrive_once_and_whole) {
  run(make_orders(conformance::edge_sizes()));
}

TEST(Conformance, big_messages_arrive_once_and_whole) {
  run({{Role::kRequest, Kind::kLong, Kind::kLong, conformance::kBig, 0},
       {Role::kOneWay, Kind::kLong, Kind::kShort, conformance::kBig, conformance::kBig + 62}},
      true);
}

TEST(Conformance, medium_messages_beyond_the_limit_are_refused) {
  Endpoint endpoint(bundle());
  install(endpoint);
  job().connect(endpoint);
  const std::vector<std::byte> bytes(max_medium() + 1);
  for (Rank to = 0; to < job().size(); ++to) {
    EXPECT_THROW(endpoint.request_medium<&on_medium>(to, bytes, 0u, 0ull), Error);
    EXPECT_THROW(endpoint.request_medium<&on_medium_one_way>(to, bytes, 0u, 0ull), Error);
  }
  barrier();
}

}  // namespace
}  // namespace am
