// What programs do with channels, between every process and its right neighbour.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace scenarios_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

Rank right() { return (rank() + 1) % job().size(); }
std::byte* segment() { return job().router().segment(); }

// Both ends that this process has of one channel from each process to its right neighbour.
class Link {
 public:
  Link(
      std::byte* first, const Strided& shape, std::function<void()> told = [] {})
      : in(bundle(), first, shape, std::move(told)),
        out(bundle(), job().exchange(in.handle())[right()]) {}

  void wait_for(std::uint64_t callbacks) {
    bundle().wait_until([&] { return in.callbacks() == callbacks && out.reusable(); });
  }

  ReceiveChannel in;
  SendChannel out;
};

TEST(Scenario, two_source_buffers_alternate) {
  constexpr std::uint64_t kBytes = 1000;
  std::vector<std::byte> source[2];
  for (auto& bytes : source) bytes.resize(kBytes);
  Link link(segment(), Strided::contiguous(kBytes));
  link.out.associate(source[0]);
  link.out.alternate(source[1]);
  for (std::uint64_t put = 1; put <= 20; ++put) {
    std::ranges::fill(source[(put + 1) % 2], static_cast<std::byte>(put));
    std::ranges::fill(source[put % 2], std::byte{0xff});
    link.out.put();
    link.wait_for(put);
    for (std::uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(segment()[i], static_cast<std::byte>(put));
    link.in.ready();
    barrier();
  }
  link.out.associate(source[1]);  // only this one from now on
  std::ranges::fill(source[1], std::byte{1});
  for (std::uint64_t put = 21; put <= 23; ++put) {
    link.out.put();
    link.wait_for(put);
    EXPECT_EQ(segment()[kBytes - 1], std::byte{1});
    link.in.ready();
    barrier();
  }
}

TEST(Scenario, one_source_serves_many_channels) {
  constexpr std::uint64_t kBytes = 4096;
  constexpr std::size_t kChannels = 20;
  std::vector<std::byte> source(kBytes);
  std::uint64_t told = 0;
  std::vector<Link> links;
  for (std::size_t i = 0; i < kChannels; ++i) {
    links.emplace_back(segment() + i * kBytes, Strided::contiguous(kBytes), [&] { ++told; });
    links.back().out.associate(source);
  }
  for (std::uint64_t put = 1; put <= 5; ++put) {
    for (std::uint64_t i = 0; i < kBytes; ++i) source[i] = static_cast<std::byte>(put * 7 + i);
    for (Link& link : links) link.out.put();
    for (Link& link : links) link.wait_for(put);
    EXPECT_EQ(told, put * kChannels);
    for (std::size_t i = 0; i < kChannels; ++i) {
      ASSERT_EQ(std::memcmp(segment() + i * kBytes, source.data(), kBytes), 0);
      links[i].in.ready();
    }
    barrier();
  }
}

// A row in the midst of a matrix by two channels, one for each half; nothing else is written.
TEST(Scenario, two_channels_fill_halves_of_a_row) {
  constexpr std::uint64_t kRow = 256;
  constexpr std::byte kGuard{0x5a};
  std::fill_n(segment(), 3 * kRow, kGuard);
  barrier();
  const std::vector<std::byte> one(kRow / 2, std::byte{1});
  const std::vector<std::byte> two(kRow / 2, std::byte{2});
  Link first(segment() + kRow, Strided::contiguous(kRow / 2));
  Link second(segment() + kRow + kRow / 2, Strided::contiguous(kRow / 2));
  first.out.associate(one);
  second.out.associate(two);
  first.out.put();
  second.out.put();
  first.wait_for(1);
  second.wait_for(1);
  for (std::uint64_t i = 0; i < 3 * kRow; ++i) {
    const bool inside = i / kRow == 1;
    const std::byte expected = !inside ? kGuard : i % kRow < kRow / 2 ? std::byte{1} : std::byte{2};
    ASSERT_EQ(segment()[i], expected) << "byte " << i;
  }
  barrier();
}

// Once and whole, as no value stands for "nothing has come": also where the buffer has it already.
TEST(Scenario, a_payload_that_ends_in_any_word_is_told) {
  constexpr std::uint64_t kBytes = 64;
  for (const std::uint64_t word :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::bit_cast<std::uint64_t>(-0.0),
        std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN())}) {
    std::memcpy(segment() + kBytes - sizeof word, &word, sizeof word);
    Link link(segment(), Strided::contiguous(kBytes));
    std::vector<std::uint64_t> source(kBytes / 8);
    link.out.associate(std::as_bytes(std::span(source)));
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(link.in.callbacks(), 0u) << "no put was made";
    job().exchange(0);
    for (std::uint64_t put = 1; put <= 6; ++put) {
      source.back() = put % 3 == 0 ? put : word;
      source.front() = put;
      link.out.put();
      link.wait_for(put);
      for (int i = 0; i < 100; ++i) bundle().poll();
      EXPECT_EQ(link.in.callbacks(), put);
      EXPECT_EQ(std::memcmp(segment(), source.data(), kBytes), 0);
      link.in.ready();
      barrier();
    }
  }
}

// A token goes round by puts from callbacks, each ready there already.
TEST(Scenario, put_and_ready_in_the_callback) {
  constexpr std::uint64_t kLaps = 100;
  std::uint64_t token = 0;
  std::optional<Link> link;
  const auto pass = [&] {
    std::uint64_t came;
    std::memcpy(&came, segment(), sizeof came);
    EXPECT_GT(came, token);
    token = came;
    link->in.ready();
    if (token >= kLaps * job().size() + rank()) return;
    std::memcpy(segment() + 64, &++came, sizeof came);
    link->out.put();
  };
  link.emplace(segment(), Strided::contiguous(8), pass);
  link->out.associate(std::span(segment() + 64, 8));
  barrier();
  if (rank() == 0) {
    const std::uint64_t first = 1;
    std::memcpy(segment() + 64, &first, sizeof first);
    link->out.put();
  }
  bundle().wait_until([&] { return link->in.callbacks() == kLaps; });
  barrier();
  EXPECT_EQ(link->in.callbacks(), kLaps);
}

// Each of many pairs has its own callback; a source is overwritten as soon as it may be.
TEST(Scenario, every_callback_comes_once_and_sources_may_be_overwritten_when_they_are_left) {
  constexpr std::size_t kPairs = 30;
  constexpr std::uint64_t kPuts = 10;
  const auto bytes_of = [](std::size_t pair) { return 1 + pair * pair * 67; };
  const auto value = [](std::size_t pair, std::uint64_t put) {
    return static_cast<std::byte>(pair * 13 + put);
  };
  std::vector<std::uint64_t> told(kPairs);
  std::vector<std::vector<std::byte>> sources;
  std::vector<Link> links;
  std::uint64_t wrong = 0;
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    std::byte* const buffer = segment() + pair * (64 << 10);
    const auto check = [&, buffer, pair] {
      const std::byte expected = value(pair, ++told[pair]);
      wrong +=
          !std::all_of(buffer, buffer + bytes_of(pair), [&](std::byte b) { return b == expected; });
    };
    links.emplace_back(buffer, Strided::contiguous(bytes_of(pair)), check);
    sources.emplace_back(bytes_of(pair));
    links.back().out.associate(sources.back());
  }
  for (std::uint64_t put = 1; put <= kPuts; ++put) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      std::ranges::fill(sources[pair], value(pair, put));
      links[pair].out.put();
    }
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      bundle().wait_until([&] { return links[pair].out.reusable(); });
      std::ranges::fill(sources[pair], std::byte{0xee});
    }
    for (Link& link : links) link.wait_for(put);
    for (Link& link : links) link.in.ready();
    barrier();
  }
  EXPECT_EQ(told, std::vector<std::uint64_t>(kPairs, kPuts));
  EXPECT_EQ(wrong, 0u);
}

// Senders take turns: each opens its end before the last put of the one before is told.
TEST(Scenario, a_channel_passes_from_sender_to_sender) {
  std::vector<std::byte> source(40);
  Link link(segment(), Strided::contiguous(source.size()));
  const ChannelHandle handle = job().exchange(link.in.handle())[right()];
  SendChannel out = std::move(link.out);
  for (std::uint64_t put = 1; put <= 20; ++put) {
    out.associate(source);
    out.put();
    bundle().wait_until([&] { return out.reusable(); });
    SendChannel next(bundle(), handle);
    out = std::move(next);
    bundle().wait_until([&] { return link.in.callbacks() == put; });
    link.in.ready();
    barrier();
  }
  EXPECT_EQ(link.in.callbacks(), 20u);
}

TEST(Scenario, closing_right_behind_a_put_loses_nothing) {
  constexpr std::uint64_t kBytes = 1 << 20;
  for (int value = 1; value <= 3; ++value) {
    Link link(segment(), Strided::contiguous(kBytes));
    barrier();
    {
      const std::vector<std::byte> source(kBytes, static_cast<std::byte>(value));
      link.out.associate(source);
      link.out.put();
      link.out.close();
    }
    bundle().wait_until([&] { return link.in.callbacks() == 1; });
    const auto right = std::count(segment(), segment() + kBytes, static_cast<std::byte>(value));
    EXPECT_EQ(static_cast<std::uint64_t>(right), kBytes);
    barrier();
  }
}

TEST(Scenario, more_puts_at_once_than_the_network_takes) {
  constexpr std::size_t kChannels = 1'500;
  constexpr std::uint64_t kBytes = 600;
  std::vector<std::byte> source(kBytes, std::byte{9});
  std::uint64_t told = 0;
  std::vector<Link> links;
  for (std::size_t i = 0; i < kChannels; ++i) {
    // Every third in pieces.
    const Strided shape = i % 3 != 0 ? Strided::contiguous(kBytes)
                                     : Strided{.run = 300, .rows = 2, .row_stride = 400};
    links.emplace_back(segment() + i * 1024, shape, [&] { ++told; });
    links.back().out.associate(source);
  }
  for (std::uint64_t put = 1; put <= 2; ++put) {
    for (Link& link : links) link.out.put();
    bundle().wait_until([&] { return told == put * kChannels; });
    for (Link& link : links) {
      EXPECT_EQ(link.in.callbacks(), put);
      link.in.ready();
    }
    barrier();
  }
  for (std::size_t i = 0; i < kChannels; ++i) {
    const bool row = i % 3 != 0;
    EXPECT_EQ(segment()[i * 1024 + (row ? 599 : 699)], std::byte{9});
  }
  barrier();
}

TEST(Scenario, opening_and_closing_uses_seats_again) {
  std::vector<std::byte> source(40);
  barrier();  // all channels of earlier tests are closed at both ends
  const auto& lines = job().router().self().header->puts.used;
  const std::uint32_t before = lines.load(std::memory_order_relaxed);
  for (int i = 0; i < 3'000; ++i) {
    ReceiveChannel in(bundle(), std::span(segment(), source.size()), [] {});
    SendChannel out(bundle(), in.handle());  // to itself
    out.associate(source);
    out.put();
    bundle().wait_until([&] { return in.callbacks() == 1; });
  }
  EXPECT_LE(lines.load(std::memory_order_relaxed), before + 1) << "seats are used again";
}

}  // namespace scenarios_test
}  // namespace am
