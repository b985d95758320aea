// Channels of several bundles, one after the other: nothing of an earlier one is taken for news.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "am/channel/strided.h"
#include "tests/support/job_main.h"

namespace am {
namespace bundles_test {

using ::test::barrier;
using ::test::job;

constexpr std::uint64_t kBytes = 128;

// One generation of channels to the right neighbour, in a bundle of its own.
class Generation {
 public:
  explicit Generation(std::uint32_t channels) {
    const Rank right = (job().rank() + 1) % job().size();
    std::byte* const segment = job().router().segment();
    for (std::uint32_t i = 0; i < channels; ++i) {
      in_.emplace_back(bundle_, std::span(segment + i * kBytes, kBytes), [this] { ++told_; });
      out_.emplace_back(bundle_, job().exchange(in_.back().handle())[right]);
      out_.back().associate(source_);
    }
  }
  ~Generation() { barrier(); }

  // One put on each of them.
  void put() {
    for (SendChannel& out : out_) out.put();
    ++rounds_;
    bundle_.wait_until([&] { return told_ == rounds_ * in_.size(); });
    bundle_.wait_until([&] {
      for (const SendChannel& out : out_) {
        if (!out.reusable()) return false;
      }
      return true;
    });
  }
  void ready() {
    for (ReceiveChannel& in : in_) in.ready();
    job().barrier(bundle_);
  }
  void expect_nothing() {
    for (int i = 0; i < 5'000; ++i) bundle_.poll();
    EXPECT_EQ(told_, 0u);
    EXPECT_EQ(channel_stats(bundle_), ChannelStats{});
    job().exchange(0);  // nobody puts before
  }
  ChannelHandle handle() const { return in_[0].handle(); }

 private:
  Bundle bundle_{job()};
  std::vector<std::byte> source_ = std::vector<std::byte>(kBytes);
  std::uint64_t rounds_ = 0;
  std::uint64_t told_ = 0;
  std::vector<ReceiveChannel> in_;
  std::vector<SendChannel> out_;
};

// Another thread polls the network, too, and so reports what this one has started, several rows or
// puts before this one looks.
class BesideAThread : public testing::Test {
 protected:
  void put(const Strided& shape, int puts) {
    constexpr std::uint64_t kBack = 1 << 20;  // where the other half of the segment begins
    int arrived = 0;
    ReceiveChannel in(bundle_, job().router().segment() + kBack, shape, [&] { ++arrived; });
    const auto handles = job().exchange(in.handle());
    SendChannel out(bundle_, handles[(job().rank() + 1) % job().size()]);
    std::vector<std::byte> source(shape.extent());
    out.associate(source.data(), shape);
    job().barrier(bundle_);
    for (int put = 1; put <= puts; ++put) {
      bundle_.wait_until([&] { return out.reusable(); });
      std::ranges::fill(source, static_cast<std::byte>(put));
      out.put();
      bundle_.wait_until([&] { return arrived == put; });
      std::vector<std::byte> packed(shape.bytes());
      gather(packed.data(), job().router().segment() + kBack, shape, 0, packed.size());
      EXPECT_EQ(std::ranges::count(packed, static_cast<std::byte>(put)),
                static_cast<std::ptrdiff_t>(packed.size()));
      in.ready();
      job().barrier(bundle_);
    }
  }

 private:
  Bundle bundle_{job()};
  std::atomic<bool> stop_{false};
  std::jthread other_{[this] {
    Bundle mine(job());
    while (!stop_) mine.poll();
  }};
  struct Stopped {
    ~Stopped() { stop = true; }
    std::atomic<bool>& stop;
  } stopped_{stop_};
};

TEST_F(BesideAThread, long_rows_are_all_reported) {
  put({.run = 40'000, .rows = 8, .row_stride = 40'064}, 5);
}
TEST_F(BesideAThread, puts_in_one_piece_are_all_reported) { put(Strided::contiguous(200'000), 10); }

TEST(Bundles, one_after_the_other_have_channels_of_their_own) {
  std::optional<ChannelHandle> earlier;
  for (std::uint32_t round = 1; round <= 4; ++round) {
    Generation generation(3 * round);
    generation.expect_nothing();
    if (earlier) {
      EXPECT_EQ(generation.handle().number, earlier->number);
      EXPECT_NE(generation.handle().generation, earlier->generation);
    }
    for (int put = 0; put < 3; ++put) {
      generation.put();
      generation.ready();
    }
    earlier = generation.handle();
  }
}

// --- More often than there are places on anybody's board

constexpr std::uint32_t kOften = 3 * shmem::ArrivalBoard::kLines;

// A channel from this process to itself, which needs a place like any other.
class ToOneself : public testing::Test {
 protected:
  void TearDown() override { barrier(); }
  ReceiveChannel receive(Bundle& bundle) {
    return {bundle, std::span(job().router().segment(), kBytes), [this] { ++told_; }};
  }
  SendChannel send(Bundle& bundle, const ChannelHandle& handle) {
    SendChannel out(bundle, handle);
    out.associate(source_);
    return out;
  }

  std::vector<std::byte> source_ = std::vector<std::byte>(kBytes);
  std::uint64_t told_ = 0;
};

TEST_F(ToOneself, any_number_of_bundles_put) {
  for (std::uint32_t i = 0; i < kOften; ++i) {
    Bundle bundle(job());
    const ReceiveChannel in = receive(bundle);
    SendChannel out = send(bundle, in.handle());
    out.put();
    bundle.wait_until([&] { return told_ == i + 1; });
  }
}

TEST_F(ToOneself, a_channel_is_opened_any_number_of_times) {
  Bundle bundle(job());
  ReceiveChannel in = receive(bundle);
  for (std::uint32_t i = 0; i < 2 * shmem::ArrivalBoard::kSeats; ++i) {
    if (i % 2 == 0) {
      send(bundle, in.handle());
      continue;
    }
    SendChannel out = send(bundle, in.handle());
    out.put();
    if (i % 4 == 1) out.close();  // before the put has been seen
    bundle.wait_until([&] { return told_ == (i + 1) / 2; });
    in.ready();
  }
}

// One channel whose last put is never looked at keeps its own place, and no other.
TEST_F(ToOneself, a_put_that_nobody_has_seen_costs_those_after_it_nothing) {
  Bundle bundle(job());
  ReceiveChannel never = receive(bundle);
  {
    SendChannel out = send(bundle, never.handle());
    out.put();
  }
  for (std::uint32_t i = 0; i < 2 * shmem::ArrivalBoard::kSeats; ++i) send(bundle, never.handle());
  EXPECT_EQ(told_, 0u);
  bundle.wait_until([this] { return told_ == 1; });
}

}  // namespace bundles_test
}  // namespace am
