// What barriers carry between nodes, on a network that delays what it may: of any number of nodes,
// call after call, without anything in between.
#include "am/collective/payloads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "am/collective/barrier.h"
#include "tests/am/sim/simulated.h"

namespace am::sim {
namespace payloads_test {

constexpr std::size_t kMost = 60000;  // bytes that a process shows: several packets, or a write
constexpr std::uint32_t kHeader = 16;

// What each process does in the same order, as all take their choices from the same numbers.
class Calls {
 public:
  Calls(Process& process, std::uint64_t seed) : process_(process), plan_(seed) {}

  // Before the first call.
  void share_memory() {
    if (!LeaderMemory::works(*process_.router().port())) return;
    auto memory = std::make_unique<LeaderMemory>(*process_.router().port());
    shown_ = {0, kHeader, kHeader};
    const link::RemoteKey mine = memory->key();
    std::memset(at(), 1, kHeader);
    std::memcpy(bytes().data(), &mine, sizeof mine);
    std::vector<link::RemoteKey> keys(process_.size());
    pass(Gathering(barrier(), shown_, sizeof mine, reinterpret_cast<std::byte*>(keys.data())));
    memory->introduce(std::move(keys));
    barrier().set(std::move(memory));
    process_.barrier();  // what is shown has been read
  }

  void one() {
    const std::uint64_t kind = plan_() % 4;
    const std::uint64_t key = plan_();
    const std::uint64_t place = (call_++ % 2) * 2 * kStride;  // by turns, as each is read late
    shown_ = {place, kHeader, place + kHeader};
    for (std::uint32_t i = 0; i < kHeader; ++i) at()[i] = static_cast<std::byte>(call_ + i);
    switch (kind) {
      case 0: return gather(plan_() % (kMost / process_.size()), key);
      case 1: return broadcast(plan_() % kMost, static_cast<Rank>(plan_() % process_.size()), key);
      case 2: return transpose(plan_() % (kMost / process_.size()), key);
      default: pass(SameCall(barrier(), shown_));
    }
  }

 private:
  static constexpr std::size_t kStride = kMost + 64;

  Barrier& barrier() { return process_.whole_barrier(); }
  std::byte* at() { return process_.segment().data() + shown_.header; }
  std::span<std::byte> bytes() { return {at() + kHeader, kMost}; }

  void pass(Payload&& payload) {
    barrier().enter(false, &payload);
    barrier().wait(process_.bundle(), "a test", SourceLocation::current());
    EXPECT_FALSE(barrier().differed());
  }

  void gather(std::size_t each, std::uint64_t key) {
    soak::fill(bytes().first(each), key + process_.rank());
    std::vector<std::byte> all(each * process_.size());
    pass(Gathering(barrier(), shown_, each, all.data()));
    for (Rank rank = 0; rank < process_.size(); ++rank) {
      EXPECT_EQ(soak::difference(std::span(all).subspan(rank * each, each), key + rank), "");
    }
  }

  void broadcast(std::size_t size, Rank root, std::uint64_t key) {
    if (process_.rank() == root) soak::fill(bytes().first(size), key);
    const std::span got = process_.segment().subspan(shown_.header + kStride, size);
    pass(Broadcast(barrier(), shown_, size, root, got.data()));
    if (process_.rank() == root) std::ranges::copy(bytes().first(size), got.begin());
    EXPECT_EQ(soak::difference(got, key), "");
  }

  void transpose(std::size_t part, std::uint64_t key) {
    const auto key_of = [&](Rank from, Rank to) { return key + from * process_.size() + to; };
    for (Rank to = 0; to < process_.size(); ++to) {
      soak::fill(bytes().subspan(to * part, part), key_of(process_.rank(), to));
    }
    std::vector<std::byte> got(part * process_.size());
    pass(Transposition(barrier(), shown_, part, got.data()));
    for (Rank from = 0; from < process_.size(); ++from) {
      EXPECT_EQ(soak::difference(std::span(got).subspan(from * part, part),
                                 key_of(from, process_.rank())),
                "");
    }
  }

  Process& process_;
  std::mt19937_64 plan_;
  std::uint64_t call_ = 0;
  Shown shown_{};
};

class Payloads : public testing::TestWithParam<Kind> {
 protected:
  void run_all(const std::function<void(Process&, std::uint64_t)>& body) {
    for (std::uint64_t seed = ::test::seed(); seed < ::test::seed() + kSeeds; ++seed) {
      const auto nodes = static_cast<std::uint32_t>(2 + seed % 12);
      run({.seed = seed, .network = GetParam().options}, nodes,
          [&](Process& process) { body(process, seed); });
      if (!HasFailure()) continue;
      ADD_FAILURE() << "with seed " << seed << "; at once with --seed=" << seed;
      return;
    }
  }
};

TEST_P(Payloads, come_to_every_node_as_they_were_shown) {
  run_all([](Process& process, std::uint64_t seed) {
    process.barrier();  // all have made their segments
    Calls calls(process, seed);
    for (int i = 0; i < 12; ++i) {
      if (i == 4) calls.share_memory();
      calls.one();
    }
  });
}

// One process is in another call: all hear of it, and the calls after that are as ever.
TEST_P(Payloads, of_different_calls_are_told_apart_by_all) {
  run_all([](Process& process, std::uint64_t seed) {
    Barrier& barrier = process.whole_barrier();
    const auto other = static_cast<Rank>(seed % process.size());
    std::vector<std::byte> all(process.size() * 100);
    for (int call = 0; call < 4; ++call) {
      std::byte* const header = process.segment().data();
      std::memset(header, call == 2 && process.rank() == other ? 7 : call, kHeader);
      Gathering payload(barrier, {0, kHeader, kHeader},
                        call == 2 && process.rank() == other ? 33 : 100, all.data());
      barrier.enter(false, &payload);
      barrier.wait(process.bundle(), "a test", SourceLocation::current());
      EXPECT_EQ(barrier.differed(), call == 2);
      process.barrier();  // what is shown has been read
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Networks, Payloads, testing::ValuesIn(kKinds), Kind::name_of);

}  // namespace payloads_test
}  // namespace am::sim
