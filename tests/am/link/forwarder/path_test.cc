// The path between two hosts, without hosts: what happens to packets, and what the counts say.
#include "tests/am/link/forwarder/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/am/link/forwarder/ip_packet.h"
#include "tests/support/seed.h"

namespace am::link::test {
namespace {

constexpr std::byte kTcp{6};
constexpr std::byte kUdp{17};
constexpr std::size_t kHeaders = 28;  // of IP without options, and UDP
constexpr std::int64_t kMs = 1'000'000;

using Packet = std::vector<std::byte>;

// An IPv4 packet that carries `number` and some bytes.
Packet packet(std::uint64_t number, std::byte protocol = kUdp, std::size_t bytes = 40) {
  Packet made(kHeaders + bytes);
  made[0] = std::byte{0x45};
  made[3] = static_cast<std::byte>(made.size());
  made[8] = std::byte{64};
  made[9] = protocol;
  made[25] = static_cast<std::byte>(made.size() - 20);
  std::memcpy(made.data() + kHeaders, &number, sizeof number);
  const std::uint16_t sum = internet_checksum(std::span(made).first(20));
  made[10] = static_cast<std::byte>(sum >> 8);
  made[11] = static_cast<std::byte>(sum);
  return made;
}

std::uint64_t number_of(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + kHeaders, sizeof number);
  return number;
}

// What leaves, by side that has sent it.
struct Arrivals {
  void take(Path& path, std::int64_t now_ns) {
    path.release(now_ns, [this](unsigned from, std::span<const std::byte> bytes) {
      packets[from].emplace_back(bytes.begin(), bytes.end());
      numbers[from].push_back(number_of(bytes));
    });
  }
  std::map<unsigned, std::vector<Packet>> packets;
  std::map<unsigned, std::vector<std::uint64_t>> numbers;
};

// Sends `count` datagrams from side 0, one each microsecond, and waits for all.
Arrivals send_all(Path& path, std::uint64_t count) {
  Arrivals arrivals;
  std::int64_t now = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    path.accept(0, packet(i), now += 1'000);
    arrivals.take(path, now);
  }
  while (path.next_ns() >= 0) {
    now = std::max(now, path.next_ns());
    arrivals.take(path, now);
  }
  return arrivals;
}

std::vector<std::uint64_t> counted_to(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

TEST(Path, in_good_weather_changes_nothing) {
  Path path({});
  const Arrivals arrivals = send_all(path, 100);
  EXPECT_EQ(arrivals.numbers.at(0), counted_to(100));
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(arrivals.packets.at(0)[i], packet(i));
  EXPECT_EQ(path.stats().datagrams, 100u);
}

TEST(Path, drops_and_doubles_what_it_counts_and_nothing_else) {
  Path path({.drop = 20, .dup = 10, .seed = ::test::seed()});
  std::map<std::uint64_t, unsigned> times;
  const Arrivals arrivals = send_all(path, 10'000);
  for (const std::uint64_t number : arrivals.numbers.at(0)) ++times[number];
  const auto with = [&](unsigned many) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(times, [many](const auto& one) { return one.second == many; }));
  };
  EXPECT_EQ(path.stats().dropped, 10'000 - times.size());
  EXPECT_EQ(path.stats().doubled, with(2));
  EXPECT_EQ(with(1) + with(2), times.size());
  // Five standard deviations around what was asked for.
  EXPECT_NEAR(static_cast<double>(path.stats().dropped), 2'000, 200);
  EXPECT_NEAR(static_cast<double>(path.stats().doubled), 800, 150);
}

TEST(Path, lets_datagrams_overtake_others_that_come_all_the_same) {
  Path path({.reorder = 10, .seed = ::test::seed()});
  std::vector<std::uint64_t> numbers = send_all(path, 5'000).numbers[0];
  std::uint64_t overtaken = 0;
  std::uint64_t highest = 0;
  for (const std::uint64_t number : numbers) {
    overtaken += number < highest;
    highest = std::max(highest, number);
  }
  EXPECT_GT(overtaken, 100u);
  EXPECT_EQ(path.stats().overtaken, overtaken);
  std::ranges::sort(numbers);
  EXPECT_EQ(numbers, counted_to(5'000));
}

TEST(Path, damages_so_that_only_the_receiver_of_the_content_can_tell) {
  Path path({.corrupt = 100, .seed = ::test::seed()});
  const Arrivals arrivals = send_all(path, 1'000);
  ASSERT_EQ(arrivals.packets.at(0).size(), 1'000u);
  EXPECT_EQ(path.stats().damaged, 1'000u);
  unsigned cut = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const Packet& got = arrivals.packets.at(0)[i];
    const Packet sent = packet(i);
    EXPECT_NE(got, sent);
    EXPECT_EQ(internet_checksum(std::span(got).first(20)), 0);
    EXPECT_EQ(std::to_integer<std::size_t>(got[3]), got.size());
    EXPECT_EQ(std::to_integer<std::size_t>(got[25]), got.size() - 20);
    cut += got.size() < sent.size();
  }
  EXPECT_GT(cut, 100u);
  EXPECT_LT(cut, 900u);
}

TEST(Path, lets_through_what_is_no_datagram) {
  Path path({.drop = 100, .partition_at = 1, .partition_ns = 10 * kMs});
  Arrivals arrivals;
  for (std::uint64_t i = 0; i < 10; ++i) {
    path.accept(1, packet(100 + i), 0);
    path.accept(1, packet(i, kTcp), 0);
    arrivals.take(path, 0);
  }
  EXPECT_EQ(arrivals.numbers[1], counted_to(10));
  EXPECT_EQ(path.stats().others, 10u);
}

TEST(Path, is_cut_for_datagrams_in_both_directions_until_it_heals) {
  Path path({.partition_at = 3, .partition_ns = 10 * kMs});
  Arrivals arrivals;
  const auto send = [&](unsigned from, std::uint64_t number, std::int64_t now) {
    path.accept(from, packet(number), now);
    arrivals.take(path, now);
  };
  send(0, 1, 0);
  send(1, 2, 0);
  send(0, 3, 5 * kMs);
  send(1, 4, 6 * kMs);
  send(0, 5, 15 * kMs - 1);
  send(0, 6, 15 * kMs);
  send(1, 7, 15 * kMs);
  EXPECT_EQ(arrivals.numbers[0], (std::vector<std::uint64_t>{1, 6}));
  EXPECT_EQ(arrivals.numbers[1], (std::vector<std::uint64_t>{2, 7}));
  EXPECT_EQ(path.stats().cut_off, 3u);
}

TEST(Path, that_pauses_delivers_everything_afterwards_in_order) {
  Path path({.pause_at = 2, .pause_ns = 10 * kMs});
  Arrivals arrivals;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::int64_t now = static_cast<std::int64_t>(i) * kMs;
    path.accept(0, packet(i, i % 2 == 0 ? kUdp : kTcp), now);
    arrivals.take(path, now);
  }
  EXPECT_EQ(arrivals.numbers[0], counted_to(2));
  EXPECT_EQ(path.next_ns(), 12 * kMs);
  arrivals.take(path, 12 * kMs - 1);
  EXPECT_EQ(arrivals.numbers[0], counted_to(2));
  arrivals.take(path, 12 * kMs);
  EXPECT_EQ(arrivals.numbers[0], counted_to(10));
  EXPECT_EQ(path.stats().paused, 8u);
  EXPECT_EQ(path.next_ns(), -1);
}

TEST(Path, repeats_itself_with_the_same_seed) {
  const Weather weather{
      .drop = 10, .dup = 10, .reorder = 10, .corrupt = 10, .delay_ns = kMs, .seed = ::test::seed()};
  Path one(weather);
  Path other(weather);
  EXPECT_EQ(send_all(one, 1'000).packets, send_all(other, 1'000).packets);
}

TEST(IpPacket, is_a_datagram_only_if_it_is_whole_and_udp) {
  const Packet whole = packet(1);
  EXPECT_TRUE(is_datagram(whole));
  EXPECT_FALSE(is_datagram(std::span(whole).first(kHeaders)));
  EXPECT_FALSE(is_datagram(packet(1, kTcp)));
  EXPECT_FALSE(is_datagram({}));
  Packet fragment = whole;
  fragment[7] = std::byte{1};
  EXPECT_FALSE(is_datagram(fragment));
  Packet ipv6 = whole;
  ipv6[0] = std::byte{0x60};
  EXPECT_FALSE(is_datagram(ipv6));
}

}  // namespace
}  // namespace am::link::test
