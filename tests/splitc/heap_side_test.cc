#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "splitc/world/heap.h"
#include "tests/support/seed.h"

namespace {

using splitc::HeapSide;

constexpr std::uint64_t kUnit = HeapSide::kAlign;

// The same by an array of units: which block each belongs to, 0 for none.
class Model {
 public:
  std::uint64_t find(std::uint64_t units) const {
    std::uint64_t run = 0;
    for (std::uint64_t at = 0; at < end(); ++at) {
      run = owner_[at] == 0 ? run + 1 : 0;
      if (run == units) return at + 1 - units;
    }
    return end();
  }
  void take(std::uint64_t at, std::uint64_t units, int owner) {
    owner_.resize(std::max<std::size_t>(owner_.size(), at + units));
    for (std::uint64_t i = at; i < at + units; ++i) owner_[i] = owner;
  }
  void release(int owner) {
    for (int& unit : owner_) unit = unit == owner ? 0 : unit;
    while (!owner_.empty() && owner_.back() == 0) owner_.pop_back();
  }
  std::uint64_t end() const { return owner_.size(); }
  int owner(std::uint64_t at) const { return at < end() ? owner_[at] : 0; }
  std::uint64_t used() const {
    return owner_.size() - static_cast<std::uint64_t>(std::count(owner_.begin(), owner_.end(), 0));
  }

 private:
  std::vector<int> owner_;
};

TEST(HeapSide, behaves_as_an_array_of_units_under_random_traffic) {
  std::mt19937_64 random(test::seed());
  HeapSide side;
  Model model;
  std::map<int, HeapSide::Block> live;
  for (int step = 1; step <= 4000; ++step) {
    if (live.empty() || random() % 5 < (step % 1000 < 500 ? 3u : 2u)) {
      const std::uint64_t bytes = random() % (8 * kUnit);
      const std::uint64_t at = side.find(bytes);
      ASSERT_EQ(at / kUnit, model.find(HeapSide::occupied(bytes) / kUnit));
      side.take({at, bytes});
      model.take(at / kUnit, HeapSide::occupied(bytes) / kUnit, step);
      live[step] = {at, bytes};
    } else {
      const auto victim =
          std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      side.release(victim->second.at);
      model.release(victim->first);
      live.erase(victim);
    }
    ASSERT_EQ(side.end(), model.end() * kUnit);
    ASSERT_EQ(side.used(), model.used() * kUnit);
    const std::uint64_t probe = random() % (side.end() + kUnit);
    const auto block = side.block_of(probe);
    const int owner = model.owner(probe / kUnit);
    ASSERT_EQ(block.has_value(), owner != 0);
    if (block) {
      ASSERT_EQ(block->at, live[owner].at);
      ASSERT_EQ(block->bytes, live[owner].bytes);
    }
  }
}

TEST(HeapSide, gives_a_block_of_no_bytes_a_place_of_its_own) {
  HeapSide side;
  side.take({side.find(0), 0});
  EXPECT_EQ(side.find(0), kUnit);
  EXPECT_EQ(side.block_of(0)->bytes, 0u);
}

TEST(HeapSide, makes_one_hole_of_neighbours) {
  HeapSide side;
  for (int i = 0; i < 4; ++i) side.take({side.find(kUnit), kUnit});
  side.release(0);
  side.release(2 * kUnit);
  EXPECT_EQ(side.largest_hole(), kUnit);
  side.release(kUnit);
  EXPECT_EQ(side.largest_hole(), 3 * kUnit);
  EXPECT_EQ(side.find(3 * kUnit), 0u);
  side.release(3 * kUnit);
  EXPECT_EQ(side.end(), 0u);
  EXPECT_EQ(side.largest_hole(), 0u);
}

// Blocks at random places of random sizes, against a list of them.
TEST(Ledger, finds_the_block_around_every_offset) {
  constexpr std::uint64_t kSegment = std::uint64_t{256} << 20;
  if (splitc::Ledger::bytes(kSegment) == 0) GTEST_SKIP() << "a release build";
  std::mt19937_64 random(test::seed());
  std::vector<std::uint64_t> entries(splitc::Ledger::bytes(kSegment) / sizeof(std::uint64_t));
  splitc::Ledger ledger(reinterpret_cast<std::byte*>(entries.data()));
  std::map<std::uint64_t, std::uint64_t> blocks;  // bytes, by where they begin
  const auto expected = [&](std::uint64_t offset) -> std::uint64_t {
    const auto after = blocks.upper_bound(offset);
    if (after == blocks.begin()) return 0;
    const auto& [at, bytes] = *std::prev(after);
    return offset - at < HeapSide::occupied(bytes) ? at : 0;
  };
  const auto found = [&](std::uint64_t offset) -> std::uint64_t {
    const auto block = splitc::Ledger::find(offset, [&](std::uint64_t i) { return entries.at(i); });
    EXPECT_EQ(block ? block->bytes : 0, block ? blocks[block->at] : 0);
    return block ? block->at : 0;
  };
  for (int step = 0; step < 2000; ++step) {
    const std::uint64_t bytes = random() % (std::uint64_t{1} << random() % 28);
    const std::uint64_t at = (1 + random() % (kSegment / kUnit - 1)) * kUnit;
    const std::uint64_t end = at + HeapSide::occupied(bytes);
    auto next = blocks.lower_bound(at);
    if (expected(at) != 0 || end > kSegment || (next != blocks.end() && next->first < end)) {
      if (blocks.empty()) continue;
      if (next == blocks.end()) next = blocks.begin();
      ledger.forget({next->first, next->second});
      blocks.erase(next);
      continue;
    }
    blocks[at] = bytes;
    ledger.note({at, bytes});
    for (const std::uint64_t offset : {at, at + bytes / 2, end - 1, end, at - 1}) {
      ASSERT_TRUE(offset >= kSegment || found(offset) == expected(offset)) << step;
    }
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t offset = random() % kSegment;
      ASSERT_EQ(found(offset), expected(offset)) << step;
    }
  }
  for (const auto& [block, bytes] : blocks) ledger.forget({block, bytes});
  EXPECT_EQ(std::ranges::count(entries, 0u), static_cast<std::ptrdiff_t>(entries.size()));
}

}  // namespace
