// Datagrams between two endpoints of one process, over each provider that has them.
#include "rdma/datagram.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <ostream>
#include <string>
#include <vector>

#include "rdma/error.h"

namespace rdma {
namespace datagram_test {

Fabric::Options options_of(const std::string& provider) {
  return {.provider = provider, .one_host = true, .datagrams = true};
}

struct Case {
  const char* name;
  const char* provider;
  UdpSocket::Options socket;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class End {
 public:
  explicit End(const Case& how)
      : fabric(options_of(how.provider), Fabric::candidates(options_of(how.provider)).front().way),
        endpoint(fabric, {.socket = how.socket}, 576),
        buffers(endpoint.make_buffers(endpoint.headroom() + endpoint.datagram_bytes())) {}

  std::span<std::byte> memory() {
    return buffers[0].subspan(endpoint.headroom(), endpoint.datagram_bytes());
  }
  void send(fi_addr_t to, std::size_t bytes) {
    for (;;) {
      const auto sent =
          endpoint.try_send(to, memory().first(bytes), buffers.descriptor(), op, false);
      if (sent == DatagramEndpoint::Sent::kDone) return;
      bool over = false;
      while (sent == DatagramEndpoint::Sent::kInFlight && !over) over = take_one();
      if (over) return;
    }
  }
  // Whether a send is over; what was received is in `received`.
  bool take_one() {
    std::array<DatagramEvent, 8> events;
    bool over = false;
    const int count = endpoint.poll(events);
    for (int i = 0; i < count; ++i) {
      const DatagramEvent& event = events[static_cast<std::size_t>(i)];
      if (event.op->kind == Op::Kind::kSend) {
        over = true;
        continue;
      }
      received.emplace_back(event.bytes.begin(), event.bytes.end());
      endpoint.renew(*event.op);
    }
    return over;
  }

  Fabric fabric;
  DatagramEndpoint endpoint;
  Buffers buffers;
  Op op{Op::Kind::kSend};
  std::vector<std::vector<std::byte>> received;
};

class Datagrams : public testing::TestWithParam<Case> {};

// On the loopback, one after the other, none is lost.
TEST_P(Datagrams, of_every_length_arrive_as_they_were_sent) {
  End a(GetParam());
  End b(GetParam());
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  std::size_t number = 0;
  for (std::size_t bytes = 8; bytes <= a.endpoint.datagram_bytes(); bytes += 88, ++number) {
    std::byte* const sent = a.memory().data();
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(number * 31 + i);
    a.send(to_b, bytes);
    while (b.received.size() <= number) b.take_one();
    ASSERT_EQ(b.received[number].size(), bytes);
    EXPECT_EQ(std::memcmp(b.received[number].data(), sent, bytes), 0) << bytes;
  }
}

TEST_P(Datagrams, more_than_are_posted_are_received) {
  End a(GetParam());
  End b(GetParam());
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    std::memcpy(a.memory().data(), &i, sizeof i);
    a.send(to_b, 64);
    while (b.received.size() <= i) b.take_one();
  }
}

TEST_P(Datagrams, the_descriptor_becomes_readable_when_one_comes) {
  End a(GetParam());
  End b(GetParam());
  if (b.endpoint.wait_fd() < 0) GTEST_SKIP() << "it has none";
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  pollfd watched{.fd = b.endpoint.wait_fd(), .events = POLLIN, .revents = 0};
  b.take_one();
  ASSERT_TRUE(b.endpoint.may_sleep());
  EXPECT_EQ(poll(&watched, 1, 0), 0);
  a.send(to_b, 64);
  EXPECT_EQ(poll(&watched, 1, 10'000), 1);
  while (b.received.empty()) b.take_one();
  while (!b.endpoint.may_sleep()) b.take_one();
  EXPECT_EQ(poll(&watched, 1, 0), 0);
}

// Nobody is told, as no one knows whether there is somebody.
TEST_P(Datagrams, to_an_address_where_nobody_is_are_lost) {
  End a(GetParam());
  std::vector<std::byte> address;
  {
    End gone(GetParam());
    address = gone.endpoint.address();
  }
  const fi_addr_t to_nobody = a.endpoint.insert(address);
  for (int i = 0; i < 3; ++i) a.send(to_nobody, 64);
  a.take_one();
  EXPECT_TRUE(a.received.empty());
}

// `count` datagrams that are held back and then sent together, each with its number and length.
void send_together(End& from, fi_addr_t to, std::size_t count, std::size_t each, std::size_t last) {
  std::vector<std::byte> bytes_of_all(count * each);
  const std::span<std::byte> memory(bytes_of_all);
  std::deque<Op> ops;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t bytes = i + 1 == count ? last : each;
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(i * each), bytes,
                static_cast<std::byte>(i));
    Op& op = ops.emplace_back(Op::Kind::kSend);
    ASSERT_EQ(from.endpoint.try_send(to, memory.subspan(i * each, bytes), nullptr, op, true),
              Sent::kInFlight);
  }
  EXPECT_TRUE(from.endpoint.holds_back());
  const std::span<Op* const> done = from.endpoint.flush();
  ASSERT_EQ(done.size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(done[i], &ops[i]);
  EXPECT_FALSE(from.endpoint.holds_back());
}

TEST_P(Datagrams, that_are_held_back_are_sent_together) {
  End a(GetParam());
  End b(GetParam());
  End c(GetParam());
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  const fi_addr_t to_c = a.endpoint.insert(c.endpoint.address());
  const std::size_t each = 8 * (a.endpoint.datagram_bytes() / 8 / 16);
  for (const std::size_t last : {std::size_t{8}, each}) {
    b.received.clear();
    c.received.clear();
    send_together(a, to_b, 13, each, last);
    send_together(a, to_c, 1, each, last);
    while (b.received.size() < 13) b.take_one();
    while (c.received.empty()) c.take_one();
    for (std::size_t i = 0; i < 13; ++i) {
      const std::vector<std::byte> right(i == 12 ? last : each, static_cast<std::byte>(i));
      EXPECT_EQ(b.received[i], right) << i;
    }
    EXPECT_EQ(c.received[0], std::vector<std::byte>(last));
  }
}

// More than a caller takes at a time, from several who send.
TEST_P(Datagrams, many_at_a_time_are_received_once_each) {
  End a(GetParam());
  End b(GetParam());
  End c(GetParam());
  const fi_addr_t from_a = a.endpoint.insert(c.endpoint.address());
  const fi_addr_t from_b = b.endpoint.insert(c.endpoint.address());
  for (int round = 0; round < 5; ++round) {
    c.received.clear();
    send_together(a, from_a, 40, 64, 64);
    send_together(b, from_b, 30, 64, 24);
    while (c.received.size() < 70) c.take_one();
    c.take_one();
    EXPECT_EQ(c.received.size(), 70U);
  }
}

TEST_P(Datagrams, no_more_are_held_back_than_find_room) {
  End a(GetParam());
  End b(GetParam());
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  std::deque<Op> ops;
  const auto hold_back = [&] {
    return a.endpoint.try_send(to_b, a.memory().first(64), nullptr,
                               ops.emplace_back(Op::Kind::kSend), true);
  };
  std::size_t held = 0;
  while (hold_back() == Sent::kInFlight) ++held;
  EXPECT_EQ(a.endpoint.flush().size(), held);
  EXPECT_EQ(hold_back(), Sent::kInFlight);
  EXPECT_EQ(a.endpoint.flush().size(), 1U);
  while (b.received.size() < held + 1) b.take_one();
}

constexpr std::size_t kRoom = std::size_t{4} << 20;
INSTANTIATE_TEST_SUITE_P(
    Ways, Datagrams,
    testing::Values(
        Case{"long", "udp", {.room_bytes = kRoom}},
        Case{"cut_by_the_kernel", "udp", {.room_bytes = kRoom, .most_bytes = 1'472}},
        Case{"short_ones", "udp", {.room_bytes = kRoom, .most_bytes = 1'472, .segments = false}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(DatagramEndpoint, of_the_loopback_has_the_longest_datagrams_and_room_for_many) {
  End end(Case{"", "udp", {.room_bytes = kRoom}});
  EXPECT_EQ(end.endpoint.datagram_bytes(), 65'504U);
  EXPECT_GE(end.endpoint.room_bytes(0), 200'000U);
  EXPECT_EQ(end.endpoint.route_bytes(end.endpoint.insert(end.endpoint.address())), 65'504U);
}

TEST(UdpSocket, datagrams_are_as_long_as_the_packets_of_the_route) {
  EXPECT_EQ(udp_bytes(1'500, AF_INET), 1'472U);
  EXPECT_EQ(udp_bytes(1'500, AF_INET6), 1'448U);
  EXPECT_EQ(udp_bytes(9'000, AF_INET), 8'968U);
  EXPECT_EQ(udp_bytes(65'536, AF_INET), 65'504U);
  EXPECT_EQ(udp_bytes(65'536, AF_INET6), 65'488U);
  EXPECT_EQ(udp_bytes(20, AF_INET), 0U);
}

TEST(UdpSocket, an_address_of_another_family_is_refused) {
  End end(Case{"", "udp", {}});
  EXPECT_THROW(end.endpoint.insert(std::vector<std::byte>(28)), Error);
  EXPECT_THROW(end.endpoint.insert(std::vector<std::byte>(3)), Error);
}

std::string sentence(const Fabric::Options& options, std::size_t least_bytes) {
  try {
    Fabric fabric(options, Fabric::candidates(options).front().way);
    const DatagramEndpoint endpoint(fabric, {}, least_bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(DatagramEndpoint, that_is_too_small_is_refused_in_a_sentence) {
  const std::string text = sentence(options_of("udp"), 70'000);
  EXPECT_NE(text.find("udp on lo"), std::string::npos) << text;
  EXPECT_NE(text.find("carries datagrams of 65504 bytes, and at least 70000 are needed"),
            std::string::npos)
      << text;
}

TEST(DatagramEndpoint, of_a_reliable_provider_is_refused_in_a_sentence) {
  const std::string text = sentence(options_of("net"), 0);
  EXPECT_NE(text.find("no provider net here that can send unreliable datagrams"), std::string::npos)
      << text;
}

TEST(DatagramEndpoint, udp_is_what_is_chosen_here) {
  const Fabric::Options options{.one_host = true, .datagrams = true};
  EXPECT_EQ(Fabric::candidates(options).front().provider, "udp");
}

}  // namespace datagram_test
}  // namespace rdma
