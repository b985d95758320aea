// get, put, store and channels on a network that delays, reorders and refuses what it may.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "am/channel/channel.h"
#include "am/channel/channels.h"
#include "am/core/far/remote_memory.h"
#include "tests/am/sim/simulated.h"

namespace am::sim {
namespace accesses_test {

constexpr std::uint64_t kPart = Process::kSegment / 4;  // of a segment, for each writer
constexpr std::uint64_t kCounters = Process::kSegment - 4096;

// Which gets and puts are complete.
thread_local std::vector<bool> done;
void is_done(std::uint32_t ticket) {
  EXPECT_FALSE(done.at(ticket)) << "twice";
  done.at(ticket) = true;
}
std::uint32_t new_ticket() {
  done.push_back(false);
  return static_cast<std::uint32_t>(done.size() - 1);
}

class Accesses : public Simulated {};

// Each process writes into its part of the others' segments, and reads back what is complete. The
// oracle is what it has put.
TEST_P(Accesses, read_what_was_put_before_them) {
  run_all([](Process& process) {
    done.clear();
    RemoteMemory memory(process.bundle(), &is_done);
    process.barrier();
    const Rank to = process.right();
    const std::uint64_t base = process.rank() * kPart;
    std::vector<std::byte> model(kPart);
    for (int round = 0; round < 6; ++round) {
      // Puts to places that do not overlap, all under way together.
      std::vector<std::vector<std::byte>> sources;
      std::uint64_t offset = process.any(100);
      while (true) {
        const std::uint64_t bytes = 1 + process.any(process.any(3) == 0 ? 9000 : 80);
        if (offset + bytes > kPart) break;
        auto& source = sources.emplace_back(content(process.random()(), bytes));
        std::memcpy(model.data() + offset, source.data(), bytes);
        memory.put(to, base + offset, source, new_ticket(), "put");
        if (bytes <= RemoteMemory::kCopied) source.assign(bytes, std::byte{0xee});
        offset += bytes + process.any(5000);
      }
      process.bundle().wait_until([] { return std::ranges::all_of(done, std::identity()); });
      std::vector<std::byte> back(kPart);
      for (std::uint64_t at = 0; at < kPart;) {
        const std::uint64_t bytes = std::min(1 + process.any(12'000), kPart - at);
        memory.get(to, base + at, std::span(back).subspan(at, bytes), new_ticket(), "get");
        at += bytes;
      }
      process.bundle().wait_until([] { return std::ranges::all_of(done, std::identity()); });
      ASSERT_EQ(back, model) << "round " << round;
    }
    process.barrier();
  });
}

// Stores are counted when their bytes are there, those that repeat (and get channels) as well.
TEST_P(Accesses, stores_are_there_when_they_are_counted) {
  run_all([](Process& process) {
    done.clear();
    RemoteMemory memory(process.bundle(), &is_done);
    const Rank to = process.right();
    const Rank from = process.left();
    const std::uint64_t counter = kCounters + process.rank() * 64;
    const auto counted = [&] {
      std::uint64_t count = 0;
      std::memcpy(&count, process.segment().data() + kCounters + from * 64, sizeof count);
      return count;
    };
    process.barrier();
    constexpr std::uint64_t kSmall = 200, kLarge = 20'000;
    for (std::uint64_t round = 1; round <= 10; ++round) {
      const auto key_of = [&](Rank rank) { return round * 10 + rank; };
      const std::vector<std::byte> small = content(key_of(process.rank()), kSmall);
      const std::vector<std::byte> large = content(~key_of(process.rank()), kLarge);
      std::uint64_t sent = 0;
      memory.store(to, process.rank() * kPart, small, counter, "store", sent);
      memory.store(to, process.rank() * kPart + kSmall, large, counter, "store", sent);
      EXPECT_EQ(sent, small.size() + large.size());
      process.bundle().wait_until([&] { return counted() >= round * (kSmall + kLarge); });
      EXPECT_EQ(counted(), round * (kSmall + kLarge));
      const std::span<std::byte> part = process.segment().subspan(from * kPart, kSmall + kLarge);
      ASSERT_EQ(soak::difference(part.first(kSmall), key_of(from)), "");
      ASSERT_EQ(soak::difference(part.last(kLarge), ~key_of(from)), "");
      process.barrier();
    }
    if (GetParam().options.rma) {
      EXPECT_GT(memory.learning().puts, 0u);
    }
    process.barrier();
  });
}

// A ring of channels: each buffer is whole and the newest when its callback runs.
TEST_P(Accesses, channels_deliver_each_put_once_and_whole) {
  run_all([](Process& process) {
    constexpr std::uint64_t kRounds = 8;
    const std::size_t bytes = std::size_t{1} << (process.exchange(process.any(15))[0]);
    std::uint64_t called = 0;
    const std::span<std::byte> buffer = process.segment().first(bytes);
    ReceiveChannel in(process.bundle(), buffer, [&] { ++called; });
    SendChannel out(process.bundle(), process.exchange(in.handle())[process.right()]);
    std::vector<std::byte> source(bytes);
    out.associate(source);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      soak::fill(source, round * 30 + process.rank());
      out.put();
      process.bundle().wait_until([&] { return called == round && out.reusable(); });
      ASSERT_EQ(soak::difference(buffer, round * 30 + process.left()), "");
      in.ready();
      process.barrier();
    }
    EXPECT_EQ(called, kRounds);
    EXPECT_EQ(channel_stats(process.bundle()), ChannelStats{});
    out.close();
    process.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Accesses, testing::ValuesIn(kKinds), Kind::name_of);

}  // namespace accesses_test
}  // namespace am::sim
