// Zero-copy buffers on a network that delays, reorders and refuses what it may.
#include "am/zero_copy/zero_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "am/zero_copy/engine.h"
#include "tests/am/sim/simulated.h"

namespace am::sim {
namespace zero_copy_test {

constexpr Tag kTag = 5;

std::unique_ptr<ZeroCopy> make(Process& process) {
  return std::make_unique<ZeroCopy>(std::make_unique<zero_copy::Engine>(
      process.bundle(),
      zero_copy::Engine::Setup{
          .pool_bytes = 1 << 16,
          .connect = [&](Endpoint& wire) { process.connect(wire, kTag); },
          .exchange =
              [&](const zero_copy::Neighbours::Card& mine) { return process.exchange(mine); }}));
}

class Buffers : public Simulated {};

// Gets and puts of all sizes and modes, one after another between changing processes: both ends are
// called back once, and the bytes are those of the source.
TEST_P(Buffers, move_whole_and_tell_both_ends_once) {
  run_all([](Process& process) {
    const auto zero = make(process);
    for (int round = 0; round < 8; ++round) {
      // What all do in this round, as the first one says.
      struct Plan {
        std::uint64_t bytes;
        std::uint64_t put;
        std::uint64_t mode;
      };
      const Plan plan = process.exchange(Plan{1 + process.any(process.any(2) == 0 ? 500 : 30'000),
                                              process.any(2), process.any(2)})[0];
      const auto key_of = [&](Rank rank) { return round * 10u + rank; };
      std::vector<std::byte> mine = content(key_of(process.rank()), plan.bytes);
      std::vector<std::byte> other(plan.bytes);
      const ZeroCopyMode mode = plan.mode == 0 ? ZeroCopyMode::kUnreg : ZeroCopyMode::kReg;
      int read = 0;
      int written = 0;
      const auto count = [&](const ZeroCopyDone& done) {
        EXPECT_EQ(done.bytes, plan.bytes);
        ++(done.source ? read : written);
      };
      ZeroCopyBuffer source(*zero, mine, count, mode);
      ZeroCopyBuffer target(*zero, other, count, mode);
      if (plan.put != 0) {
        source.put(process.exchange(target.info())[process.right()]);
      } else {
        target.get(process.exchange(source.info())[process.right()]);
      }
      process.bundle().wait_until([&] { return read == 1 && written == 1; });
      process.barrier();
      EXPECT_EQ(read, 1);
      EXPECT_EQ(written, 1);
      const Rank from = plan.put != 0 ? process.left() : process.right();
      ASSERT_EQ(soak::difference(other, key_of(from)), "") << "round " << round;
      process.barrier();
    }
    process.bundle().flush();
    process.barrier();
  });
}

// The same two buffers again and again: keys are lent and come back.
TEST_P(Buffers, that_stay_registered_are_used_again_until_they_end) {
  run_all([](Process& process) {
    const auto zero = make(process);
    constexpr std::uint64_t kBytes = 12'000;
    for (int life = 0; life < 3; ++life) {
      std::vector<std::byte> mine(kBytes), other(kBytes);
      int read = 0;
      int written = 0;
      ZeroCopyBuffer source(
          *zero, mine, [&](const ZeroCopyDone&) { ++read; }, ZeroCopyMode::kReg);
      ZeroCopyBuffer target(
          *zero, other, [&](const ZeroCopyDone&) { ++written; }, ZeroCopyMode::kReg);
      const ZeroCopyInfo there = process.exchange(source.info())[process.right()];
      for (int round = 1; round <= 5; ++round) {
        const auto key_of = [&](Rank rank) { return life * 100u + round * 10u + rank; };
        soak::fill(mine, key_of(process.rank()));
        process.barrier();
        target.get(there);
        process.bundle().wait_until([&] { return read == round && written == round; });
        ASSERT_EQ(soak::difference(other, key_of(process.right())), "");
        process.barrier();
      }
    }
    if (GetParam().options.rma) {
      EXPECT_GT(zero->stats().rma_alone, 0u);
    }
    process.bundle().flush();
    process.barrier();
  });
}

void on_request(ZeroCopyRequest& request, std::uint64_t tag) { request.match(tag); }

// Requests whose payloads find their memory by tag, whichever comes first.
TEST_P(Buffers, of_requests_meet_their_memory_by_tag) {
  run_all([](Process& process) {
    const auto zero = make(process);
    zero->add_handlers<&on_request>();
    process.barrier();
    constexpr std::uint64_t kRequests = 6;
    std::vector<std::vector<std::byte>> sent(kRequests), taken(kRequests);
    std::uint64_t left_here = 0;
    std::uint64_t came = 0;
    const auto key_of = [](Rank rank, std::uint64_t i) { return rank * 50 + i; };
    const auto sizes = process.exchange(process.any(20'000))[0];
    const auto bytes_of = [&](std::uint64_t i) { return 1 + (sizes * (i + 1)) % 20'000; };
    std::vector<std::uint64_t> order(2 * kRequests);
    for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::shuffle(order, process.random());
    for (const std::uint64_t step : order) {
      const std::uint64_t i = step % kRequests;
      if (step < kRequests) {
        sent[i] = content(key_of(process.rank(), i), bytes_of(i));
        zero->request_zero_copy<&on_request>(
            process.right(), sent[i], [&](const ZeroCopyDone&) { ++left_here; }, i);
      } else {
        taken[i].resize(bytes_of(i));
        zero->post(i, taken[i], [&](const ZeroCopyDone&) { ++came; });
      }
      process.poll();
    }
    process.bundle().wait_until([&] { return left_here == kRequests && came == kRequests; });
    for (std::uint64_t i = 0; i < kRequests; ++i) {
      EXPECT_EQ(soak::difference(taken[i], key_of(process.left(), i)), "") << i;
    }
    process.bundle().flush();
    process.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Buffers, testing::ValuesIn(kKinds), Kind::name_of);

}  // namespace zero_copy_test
}  // namespace am::sim
