// Bytes and the packet that tells of them in one operation, where the network can.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "am/link/fabric/frames.h"
#include "tests/am/link/fabric_pair.h"
#include "tests/support/providers.h"
#include "tests/support/seed.h"

namespace am::link {
namespace written_test {

using test::Numbered;
using test::Pair;
using test::Side;

struct Counted : Completion {
  int ended = 0;
};

Numbered packet_of(std::uint64_t number) {
  return {make_header(Type::kBarrier, sizeof(Numbered)), number};
}

class WrittenWithPackets : public testing::TestWithParam<std::string> {
 protected:
  static constexpr std::size_t kPlace = 16 << 10;

  WrittenWithPackets() {
    ended_.done = [](Completion& completion) { ++static_cast<Counted&>(completion).ended; };
  }
  // Of several, so that what is in flight does not change.
  std::span<std::byte> source(std::uint64_t number) {
    return std::span(sources_).subspan(number % kSources * kPlace, kPlace);
  }
  // Message `number`: in one operation if that goes now, else a packet alone.
  bool send(std::uint64_t number, std::size_t bytes) {
    const Numbered packet = packet_of(number);
    const auto data = source(number).first(bytes);
    std::memset(data.data(), static_cast<int>(number), bytes);
    const auto write = RmaAccess::with_packet(1, RemoteKey::in_segment(number % kSources * kPlace),
                                              data, std::as_bytes(std::span(&packet, 1)));
    if (pair_.a.link().queue(1, bytes) == Queue::kTogether &&
        pair_.a.link().try_access(write, ended_)) {
      ++written_;
      sizes_.push_back(bytes);
      return true;
    }
    pair_.a.link().send(1, std::as_bytes(std::span(&packet, 1)));
    sizes_.push_back(0);
    return false;
  }
  void poll_until_all_came(std::uint64_t count) {
    pair_.poll_until([&] { return pair_.b.numbers().size() >= count && ended_.ended == written_; });
  }

  static constexpr std::uint64_t kSources = 64;  // as many do not go at once

  std::vector<std::byte> sources_ = std::vector<std::byte>(kSources * kPlace);
  std::vector<std::size_t> sizes_;  // of the bytes that are written, by number
  int written_ = 0;
  Counted ended_;
  Pair pair_{GetParam()};
};

TEST_P(WrittenWithPackets, bytes_are_there_when_their_packet_comes_and_all_packets_keep_order) {
  constexpr std::uint64_t kCount = 2000;
  std::mt19937_64 random(::test::seed());
  std::uint64_t next = 0;
  pair_.b.on_packet = [&](std::uint64_t number) {
    EXPECT_EQ(number, next++);
    const auto there = pair_.b.segment().subspan(number % kSources * kPlace, sizes_[number]);
    for (const std::byte one : there) ASSERT_EQ(one, static_cast<std::byte>(number));
  };
  for (std::uint64_t i = 0; i < kCount; ++i) {
    send(i, 1 + random() % kPlace);
    if (random() % 8 == 0) pair_.a.send(1, ++i), sizes_.push_back(0);
    if (i % 32 >= 30 || random() % 16 == 0) poll_until_all_came(i + 1);
  }
  poll_until_all_came(next);
  pair_.poll_until([&] { return !pair_.a.link().busy() && !pair_.b.link().busy(); });
  EXPECT_EQ(written_ > 0, GetParam() == "net");
}

// Places are given back only as frames are read.
TEST_P(WrittenWithPackets, are_no_more_than_the_receiver_has_places_for) {
  send(0, 1);
  for (int i = 0; i < 100; ++i) poll_until_all_came(1);
  std::uint64_t sent = 1;
  while (sent < kSources && send(sent, 1)) ++sent;
  EXPECT_LE(written_, static_cast<int>(WrittenFrames::kPlaces));
  poll_until_all_came(sent);
}

TEST_P(WrittenWithPackets, are_kept_for_poll_with_all_that_follow) {
  send(0, 1);
  poll_until_all_came(1);
  pair_.b.kept = Type::kBarrier;
  send(1, 100);
  send(2, 200);
  for (int i = 0; i < 1000; ++i) {
    pair_.a.link().poll(pair_.a);
    pair_.b.link().fetch(pair_.b);
  }
  EXPECT_EQ(pair_.b.numbers().size(), 1u);
  poll_until_all_came(3);
}

INSTANTIATE_TEST_SUITE_P(Over, WrittenWithPackets, ::test::software_providers(),
                         ::test::provider_name);

TEST(WrittenFrames, are_found_by_words_that_were_given_and_by_no_others) {
  const auto fabric = test::open_fabric("net");
  rdma::Endpoint endpoint(*fabric, {.operations = 16, .wait_fd = false});
  WrittenFrames frames(*fabric, endpoint);
  EXPECT_EQ(frames.find(0).room, nullptr) << "nobody has any room";
  const std::uint64_t word = frames.give(7).word;
  EXPECT_EQ(frames.give(7).word, word);
  EXPECT_NE(frames.give(8).word, word);
  const std::uint64_t name = WrittenFrames::name(word, 3, 40);
  ASSERT_NE(frames.find(name).room, nullptr);
  EXPECT_EQ(frames.find(name).room->owner, 7u);
  EXPECT_EQ(frames.find(name).frame.size(), 40u);
  for (unsigned bit = 32; bit < 64; ++bit) {
    EXPECT_EQ(frames.find(name ^ std::uint64_t{1} << bit).room, nullptr) << bit;
  }
  EXPECT_EQ(frames.find(name + 2).room, nullptr) << "of no room";
  EXPECT_EQ(frames.find(WrittenFrames::name(word, 3, WrittenFrames::kBytes + 8)).room, nullptr);
}

}  // namespace written_test
}  // namespace am::link
