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

}  // namespace
