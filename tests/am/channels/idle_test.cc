// Channels that nothing comes on cost nothing: they are not looked at.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/channel/channels.h"
#include "tests/support/job_main.h"

namespace am {
namespace idle_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;

constexpr std::uint32_t kChannels = 10'000;
constexpr std::uint64_t kBytes = 8;

// Channels from every process to its right neighbour, with as many calls as the handles need.
class Many {
 public:
  Many() {
    for (std::uint32_t i = 0; i < kChannels; ++i) {
      in_.emplace_back(bundle(), std::span(segment() + i * kBytes, kBytes), [this, i] {
        ++told_;
        last_ = i;
      });
    }
    // All handles lie in the segment, behind the buffers, for the left neighbour to read.
    const Rank right = (rank() + 1) % job().size();
    auto* const mine = reinterpret_cast<ChannelHandle*>(segment() + kChannels * kBytes);
    for (std::uint32_t i = 0; i < kChannels; ++i) mine[i] = in_[i].handle();
    barrier();
    const auto* const theirs = reinterpret_cast<const ChannelHandle*>(
        job().router().peer(right).segment + kChannels * kBytes);
    for (std::uint32_t i = 0; i < kChannels; ++i) {
      out_.emplace_back(bundle(), theirs[i]);
      out_.back().associate(std::as_bytes(std::span(&source_, 1)));
    }
    barrier();
  }
  ~Many() { barrier(); }

  void put(std::uint32_t i) { out_[i].put(); }
  void wait_for(std::uint64_t told) {
    bundle().wait_until([&] { return told_ == told; });
  }
  ReceiveChannel& in(std::uint32_t i) { return in_[i]; }
  std::uint32_t last() const { return last_; }
  std::uint64_t told() const { return told_; }

 private:
  static std::byte* segment() { return job().router().segment(); }

  std::vector<ReceiveChannel> in_;
  std::vector<SendChannel> out_;
  std::uint64_t source_ = 0;
  std::uint64_t told_ = 0;
  std::uint32_t last_ = 0;
};

std::size_t watched() { return channels_of(bundle()).receivers.watched(); }

// Polls until nothing is looked at.
void let_rest() {
  for (int i = 0; i < 100'000 && watched() != 0; ++i) bundle().poll();
  ASSERT_EQ(watched(), 0u);
}

TEST(Idle, channels_are_not_looked_at) {
  Many many;
  EXPECT_EQ(watched(), 0u) << "nothing has come on any of them";
  job().exchange(0);  // nobody puts before
  for (std::uint32_t i = 0; i < kChannels; ++i) many.put(i);
  many.wait_for(kChannels);
  EXPECT_LE(watched(), kChannels / 8 + 1);
  let_rest();
  for (std::uint32_t i = 0; i < kChannels; ++i) {  // all are armed, or marked
    i % 2 == 0 ? many.in(i).ready() : many.in(i).ready_mark();
  }
  EXPECT_EQ(watched(), 0u);
  barrier();

  constexpr std::uint32_t kActive = 4'242;
  for (std::uint64_t put = 1; put <= 100; ++put) {
    many.put(kActive);
    many.wait_for(kChannels + put);
    EXPECT_EQ(many.last(), kActive);
    EXPECT_EQ(watched(), 1u) << "the line of the one that is in use";
    many.in(kActive).ready();
    barrier();
  }
  let_rest();
}

TEST(Idle, put_on_a_marked_channel_is_looked_at_only_for_being_remembered) {
  Many many;
  for (std::uint32_t i = 0; i < kChannels; ++i) many.put(i);
  many.wait_for(kChannels);
  for (std::uint32_t i = 0; i < kChannels; ++i) many.in(i).ready_mark();
  barrier();
  for (std::uint32_t i = 0; i < kChannels; ++i) many.put(i);
  barrier();
  bundle().poll();
  EXPECT_EQ(many.told(), kChannels);
  let_rest();
  EXPECT_EQ(many.told(), kChannels);
  many.in(77).ready_poll();
  EXPECT_EQ(watched(), 0u) << "what was remembered needs no look";
  many.wait_for(kChannels + 1);
  EXPECT_EQ(many.last(), 77u);
  for (std::uint32_t i = 0; i < kChannels; ++i) {
    if (i != 77) many.in(i).ready_poll();
  }
  many.wait_for(2 * kChannels);
}

}  // namespace idle_test
}  // namespace am
