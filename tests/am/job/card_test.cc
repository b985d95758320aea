#include "am/job/card.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace am {
namespace {

Card card_of(unsigned machine, unsigned place, std::int32_t pretended) {
  Card card{};
  card.version = Card::kVersion;
  card.pretended = pretended;
  card.node.boot[machine % 36] = static_cast<char>('0' + machine / 36);
  card.node.place = place;
  card.processors[machine % 16] = 1 + machine;
  card.enrolled = machine % 5 == 0 ? 0 : 1;
  return card;
}

std::vector<Card> some_cards(std::mt19937_64& random, std::size_t count, unsigned nodes) {
  std::vector<Card> cards;
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = static_cast<unsigned>(random() % nodes);
    cards.push_back(card_of(node / 4, node / 2 % 2, static_cast<std::int32_t>(node % 2) - 1));
  }
  return cards;
}

// By comparing each card with each.
Layout by_definition(const std::vector<Card>& cards, Rank me) {
  Layout layout;
  for (Rank rank = 0; rank < cards.size(); ++rank) {
    bool leads = true;
    for (Rank other = 0; other < rank; ++other) leads = leads && !cards[other].near(cards[rank]);
    if (leads) layout.leaders.push_back(rank);
    if (cards[rank].near(cards[me])) layout.near.push_back(rank);
    if (cards[rank].same_machine(cards[me])) ++layout.here;
  }
  for (const Card& card : cards) {
    const auto near = std::ranges::count_if(cards, [&](const Card& o) { return o.near(card); });
    layout.most_near = std::max(layout.most_near, static_cast<std::uint32_t>(near));
  }
  while (!cards[layout.leaders[layout.node]].near(cards[me])) ++layout.node;
  layout.all_enrolled =
      std::ranges::all_of(layout.near, [&](Rank rank) { return cards[rank].enrolled != 0; });
  return layout;
}

TEST(Layout, is_that_of_comparing_each_card_with_each) {
  std::mt19937_64 random(1);
  for (const unsigned nodes : {1, 2, 7, 40, 500}) {
    const std::vector<Card> cards = some_cards(random, 200, nodes);
    for (Rank me = 0; me < cards.size(); me += 13) {
      const Layout is = lay_out(cards, me);
      const Layout wanted = by_definition(cards, me);
      EXPECT_EQ(is.near, wanted.near);
      EXPECT_EQ(is.leaders, wanted.leaders);
      EXPECT_EQ(is.node, wanted.node);
      EXPECT_EQ(is.here, wanted.here);
      EXPECT_EQ(is.most_near, wanted.most_near);
      EXPECT_EQ(is.all_enrolled, wanted.all_enrolled);
    }
  }
}

// As many as a job may have. Comparing each with each would take days.
TEST(Layout, of_as_many_nodes_as_processes) {
  std::vector<Card> cards(1 << 18, card_of(1, 1, -1));
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i].node.place = i * 7;
  const Layout layout = lay_out(cards, 77'777);
  EXPECT_EQ(layout.leaders.size(), cards.size());
  EXPECT_EQ(layout.node, 77'777u);
  EXPECT_EQ(layout.near, std::vector<Rank>{77'777});
  EXPECT_EQ(layout.here, cards.size());
}

// What Router::Options::nodes promises where it is empty.
TEST(Layout, leaves_it_to_the_leaders_who_is_where_if_ranks_follow_one_another) {
  std::vector<Card> blocks;
  std::vector<Card> round;
  for (unsigned i = 0; i < 23; ++i) {
    blocks.push_back(card_of(i / 5, 0, -1));
    round.push_back(card_of(i % 5, 0, -1));
  }
  for (Rank me = 0; me < blocks.size(); ++me) {
    const Layout is = lay_out(blocks, me);
    EXPECT_TRUE(is.nodes.empty());
    EXPECT_EQ(std::ranges::upper_bound(is.leaders, me) - is.leaders.begin(), is.node + 1);
    EXPECT_EQ(lay_out(round, me).nodes[me], me % 5);
  }
}

TEST(Layout, warns_of_more_processes_than_may_send_to_one_endpoint) {
  Layout layout;
  for (Rank rank = 5; rank < 5 + 1024; ++rank) layout.near.push_back(rank);
  EXPECT_EQ(warning_of(layout, 5), "");
  layout.near.push_back(5 + 1024);
  EXPECT_EQ(warning_of(layout, 6), "");
  for (const char* part : {"rank 5: Job:", "1025 processes", "at most 1024", "--nodes"}) {
    EXPECT_NE(warning_of(layout, 5).find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace am
