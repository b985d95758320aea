// Datagrams between two endpoints of one process, over each provider that has them.
#include "rdma/datagram.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "rdma/error.h"

namespace rdma {
namespace datagram_test {

Fabric::Options options_of(const std::string& provider) {
  return {.provider = provider, .one_host = true, .datagrams = true};
}

class End {
 public:
  explicit End(const std::string& provider)
      : fabric(options_of(provider), Fabric::candidates(options_of(provider)).front().way),
        endpoint(fabric, {}, 576),
        buffers(endpoint.make_buffers(1)) {}

  std::span<std::byte> memory() {
    return buffers[0].subspan(endpoint.headroom(), endpoint.datagram_bytes());
  }
  void send(fi_addr_t to, std::size_t bytes) {
    for (;;) {
      const auto sent = endpoint.try_send(to, memory().first(bytes), buffers.descriptor(), op);
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

class Datagrams : public testing::TestWithParam<std::string> {};

// On the loopback, one after the other, none is lost.
TEST_P(Datagrams, of_every_length_arrive_as_they_were_sent) {
  End a(GetParam());
  End b(GetParam());
  const fi_addr_t to_b = a.endpoint.insert(b.endpoint.address());
  std::size_t number = 0;
  for (std::size_t bytes = 8; bytes <= a.endpoint.datagram_bytes(); bytes += 88, ++number) {
    for (std::size_t i = 0; i < bytes; ++i) {
      a.memory()[i] = static_cast<std::byte>(number * 31 + i);
    }
    a.send(to_b, bytes);
    while (b.received.size() <= number) b.take_one();
    EXPECT_TRUE(std::ranges::equal(b.received[number], a.memory().first(bytes))) << bytes;
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

INSTANTIATE_TEST_SUITE_P(Providers, Datagrams, testing::Values("udp"),
                         [](const auto& info) { return std::string(info.param); });

TEST(DatagramEndpoint, has_room_for_many) {
  const End end("udp");
  EXPECT_GE(end.endpoint.capacity(), 64U);
  EXPECT_EQ(end.endpoint.datagram_bytes(), 1472U);
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
  const std::string text = sentence(options_of("udp"), 9'000);
  EXPECT_NE(text.find("udp on lo"), std::string::npos) << text;
  EXPECT_NE(text.find("carries datagrams of 1472 bytes, and at least 9000 are needed"),
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
