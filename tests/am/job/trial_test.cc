#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/card.h"

namespace am {
namespace {

using Bits = std::vector<std::byte>;
using Parts = std::vector<std::uint32_t>;

// Whether `i` may not open `j`.
using Matrix = std::vector<std::vector<bool>>;

std::vector<Bits> bits_of(const Matrix& refuses) {
  std::vector<Bits> all;
  for (const std::vector<bool>& row : refuses) {
    Bits bits(row.size() / 8 + 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i]) bits[i / 8] |= std::byte{1} << i % 8;
    }
    all.push_back(bits);
  }
  return all;
}

TEST(Trial, processes_that_open_each_other_are_one_part) {
  EXPECT_EQ(parts_of({}), Parts{});
  EXPECT_EQ(parts_of(std::vector<Bits>(5)), (Parts{0, 0, 0, 0, 0}));
}

TEST(Trial, one_that_cannot_be_opened_is_alone_whoever_of_the_two_is_refused) {
  Matrix refuses(4, std::vector<bool>(4));
  for (const std::size_t other : {0, 1, 3}) refuses[2][other] = true;
  EXPECT_EQ(parts_of(bits_of(refuses)), (Parts{0, 0, 1, 0}));
  Matrix turned(4, std::vector<bool>(4));
  for (const std::size_t other : {0, 1, 3}) turned[other][2] = true;
  EXPECT_EQ(parts_of(bits_of(turned)), (Parts{0, 0, 1, 0}));
}

TEST(Trial, each_of_a_part_opens_each_of_it) {
  std::mt19937_64 random(1);
  for (int time = 0; time < 200; ++time) {
    const std::size_t count = 1 + random() % 40;
    Matrix refuses(count, std::vector<bool>(count));
    for (auto& row : refuses) {
      for (std::size_t j = 0; j < count; ++j) row[j] = random() % 8 == 0;
    }
    const Parts parts = parts_of(bits_of(refuses));
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool apart = refuses[i][j] || refuses[j][i];
        EXPECT_FALSE(apart && parts[i] == parts[j]) << i << " and " << j;
      }
    }
  }
}

// Rank 0 of a job; what the others say of their trials is given, by rank, and cut as they do it.
class Others final : public Bootstrap {
 public:
  explicit Others(std::vector<Bits> says) : says_(std::move(says)) {}
  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return static_cast<std::uint32_t>(says_.size()); }
  std::string launcher() const override { return "none"; }
  std::vector<Bits> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    std::vector<Bits> all = {{mine.begin(), mine.end()}};
    for (std::size_t rank = 1; rank < says_.size(); ++rank) {
      Bits part = says_[rank];
      part.erase(part.begin(), part.begin() + std::min(part.size(), rounds * kMaxBlob));
      part.resize(std::min(part.size(), kMaxBlob));
      all.push_back(part);
    }
    ++rounds;
    return all;
  }
  void barrier() override {}
  void finished() override {}

  std::size_t rounds = 0;

 private:
  void report_abort(int, std::string_view) override {}
  std::vector<Bits> says_;
};

std::vector<Card> cards_of(std::size_t count) {
  std::vector<Card> cards(count);
  for (Card& card : cards) card.node.boot[0] = 'b';
  return cards;
}

TEST(Trial, parts_are_told_apart_by_the_cards) {
  std::vector<Card> cards = cards_of(6);
  cards[1].pretended = cards[4].pretended = 7;  // another node
  Others others({{}, {}, {}, {std::byte{0b0011}}, {std::byte{0b01}}, {}});
  settle_parts(others, cards, {.opened = {}, .refused = {5}, .cause = "x"});
  EXPECT_EQ(others.rounds, 1u);
  // Ranks 0, 2, 3, 5: 0 may not open 5, and 3 neither 0 nor 2. Ranks 1 and 4: 4 may not open 1.
  EXPECT_TRUE(cards[0].near(cards[2]));
  EXPECT_FALSE(cards[0].near(cards[3]) || cards[0].near(cards[5]) || cards[1].near(cards[4]));
  EXPECT_TRUE(cards[3].near(cards[5]));
  EXPECT_EQ(lay_out(cards, 3).near, (std::vector<Rank>{3, 5}));
  EXPECT_EQ(lay_out(cards, 3).leaders, (std::vector<Rank>{0, 1, 3, 4}));
}

TEST(Trial, of_processes_alone_on_their_nodes_needs_nothing_said) {
  std::vector<Card> cards = cards_of(3);
  for (std::size_t i = 0; i < 3; ++i) cards[i].pretended = static_cast<std::int32_t>(i);
  Others others(std::vector<Bits>(3));
  settle_parts(others, cards, {});
  EXPECT_EQ(others.rounds, 0u);
}

TEST(Trial, of_more_processes_than_one_exchange_tells_goes_on) {
  constexpr std::size_t kMany = Bootstrap::kMaxBlob * 8 + 5;
  std::vector<Card> cards = cards_of(kMany);
  std::vector<Bits> says(kMany);
  says[3].resize(Bootstrap::kMaxBlob + 1);
  says[3].back() = std::byte{1} << 4;  // the last
  Others others(std::move(says));
  settle_parts(others, cards, {});
  EXPECT_EQ(others.rounds, 2u);
  EXPECT_FALSE(cards[3].near(cards[kMany - 1]));
  EXPECT_TRUE(cards[0].near(cards[kMany - 2]));
}

}  // namespace
}  // namespace am
