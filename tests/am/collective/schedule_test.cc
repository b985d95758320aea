// Every algorithm for every number of members from 1 to 70, any root, and sizes that do not divide.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "am/collective/algorithms.h"
#include "am/collective/choice.h"
#include "tests/am/collective/performers.h"
#include "tests/support/seed.h"

namespace schedule_test {
namespace {

using am::schedule::Member;
using am::schedule::Scan;
using am::schedule::Vector;

constexpr std::uint32_t kMost = 70;  // members

// What member `who` gives at byte `at`.
Value given(std::uint32_t who, std::uint64_t at) { return {{static_cast<char>('0' + who)}, at}; }
Value combined(std::uint32_t count, std::uint64_t at) {
  static const std::string everybody = [] {
    std::string all;
    for (std::uint32_t who = 0; who < kMost; ++who) all += given(who, 0).members;
    return all;
  }();
  return {everybody.substr(0, count), at};
}

struct Call {
  std::function<Schedule(Member)> schedule;
  std::function<std::size_t(std::uint32_t who)> inputs;   // bytes
  std::function<std::size_t(std::uint32_t who)> outputs;  // bytes; 0: nothing is expected
  std::function<Value(std::uint32_t who, std::size_t at)> expected;
  bool in_place = false;
  std::vector<std::uint64_t> node_of = {};  // empty: all are on one node
};

using Writes = std::function<Schedule(Member, std::uint32_t root, std::uint64_t bytes)>;

class Schedules : public testing::Test {
 protected:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void perform(std::uint32_t size, const Call& call) {
    std::vector<Schedule> schedules;
    std::vector<Values> inputs(size);
    std::vector<std::size_t> outputs;
    for (std::uint32_t who = 0; who < size; ++who) {
      schedules.push_back(call.schedule({size, who}));
      for (std::size_t at = 0; at < call.inputs(who); ++at) inputs[who].push_back(given(who, at));
      outputs.push_back(call.outputs(who));
    }
    Team team(std::move(schedules), std::move(inputs), outputs, call.in_place, below(2) == 0,
              random_());
    team.set_nodes(call.node_of);
    EXPECT_EQ(team.perform(), "") << size << " members";
    for (std::uint32_t who = 0; who < size; ++who) {
      for (std::size_t at = 0; at < outputs[who]; ++at) {
        EXPECT_EQ(team.output(who)[at], call.expected(who, at))
            << size << " members, byte " << at << " of member " << who;
        if (HasFailure()) return;
      }
    }
  }

  // f(members, root, bytes) for all numbers of members, until something fails.
  template <class F>
  void for_all(F&& f) {
    for (std::uint32_t size = 1; size <= kMost && !HasFailure(); ++size) {
      const auto draw = [&](std::uint64_t most) {
        const auto root = static_cast<std::uint32_t>(below(size));
        f(size, root, below(most));
      };
      draw(size > 20 ? 9 : 40);
      if (size <= 20) draw(2);
    }
  }

  // Each gets what the root gives.
  void broadcasts(const Writes& write) {
    for_all([&](std::uint32_t size, std::uint32_t root, std::uint64_t bytes) {
      perform(size, {.schedule = [&](Member member) { return write(member, root, bytes); },
                     .inputs = [&](std::uint32_t who) { return who == root ? bytes : 0; },
                     .outputs = [&](std::uint32_t) { return bytes; },
                     .expected = [&](std::uint32_t, std::size_t at) { return given(root, at); }});
    });
  }
  // Everybody gets what all give, combined; or, unless `at_all`, the root.
  void reductions(const Writes& write, bool at_all) {
    for_all([&](std::uint32_t size, std::uint32_t root, std::uint64_t bytes) {
      perform(size,
              {.schedule = [&](Member member) { return write(member, root, bytes); },
               .inputs = [&](std::uint32_t) { return bytes; },
               .outputs = [&](std::uint32_t who) { return at_all || who == root ? bytes : 0; },
               .expected = [&](std::uint32_t, std::size_t at) { return combined(size, at); },
               .in_place = at_all && below(2) == 0});
    });
  }

 private:
  std::mt19937_64 random_{::test::seed()};
};

std::uint32_t logarithm(std::uint32_t size) {
  return static_cast<std::uint32_t>(std::bit_width(size - 1));
}

TEST_F(Schedules, of_a_barrier_let_nobody_leave_before_all_have_come) {
  for (std::uint32_t size = 1; size <= kMost; ++size) {
    // Who has come, as everybody knows it who has heard of them, round by round.
    std::vector<std::vector<bool>> known(size, std::vector<bool>(size));
    for (std::uint32_t who = 0; who < size; ++who) known[who][who] = true;
    std::vector<Schedule> all;
    for (std::uint32_t who = 0; who < size; ++who)
      all.push_back(am::schedule::barrier({size, who}));
    ASSERT_EQ(all[0].rounds(), logarithm(size));
    for (std::size_t round = 0; round < all[0].rounds(); ++round) {
      const auto before = known;
      for (std::uint32_t who = 0; who < size; ++who) {
        for (const Step& step : all[who].round(round)) {
          if (step.kind != Step::Kind::kReceive) continue;
          for (std::uint32_t other = 0; other < size; ++other) {
            if (before[step.peer][other]) known[who][other] = true;
          }
        }
      }
    }
    for (const auto& one : known) {
      ASSERT_TRUE(std::ranges::all_of(one, [](bool yes) { return yes; })) << size << " members";
    }
    const bool reads = below(2) == 0;
    perform(size, {.schedule =
                       [&](Member member) {
                         return reads ? am::schedule::on_node::barrier(member)
                                      : am::schedule::barrier(member);
                       },
                   .inputs = [](std::uint32_t) { return 0; },
                   .outputs = [](std::uint32_t) { return 0; },
                   .expected = {}});
  }
}

TEST_F(Schedules, of_broadcasts_bring_the_roots_bytes_to_all) {
  broadcasts(am::schedule::broadcast_tree);
  broadcasts([](Member member, std::uint32_t root, std::uint64_t bytes) {
    return am::schedule::broadcast_scattered(member, root, {bytes, 1});
  });
  broadcasts(am::schedule::on_node::broadcast);
}

TEST_F(Schedules, of_reductions_to_one_combine_in_the_order_of_the_members) {
  reductions(am::schedule::reduce_tree, false);
  reductions(
      [](Member member, std::uint32_t root, std::uint64_t bytes) {
        return am::schedule::reduce_halving(member, root, {bytes, 1});
      },
      false);
  reductions(am::schedule::reduce_gathered, false);
  reductions(
      [](Member member, std::uint32_t root, std::uint64_t bytes) {
        return am::schedule::on_node::reduce(member, root, {bytes, 1});
      },
      false);
}

TEST_F(Schedules, of_reductions_to_all_give_everybody_the_same) {
  reductions([](Member member, std::uint32_t,
                std::uint64_t bytes) { return am::schedule::all_reduce_doubling(member, bytes); },
             true);
  reductions(
      [](Member member, std::uint32_t, std::uint64_t bytes) {
        return am::schedule::all_reduce_halving(member, {bytes, 1});
      },
      true);
  reductions([](Member member, std::uint32_t,
                std::uint64_t bytes) { return am::schedule::all_reduce_gathered(member, bytes); },
             true);
  reductions(
      [](Member member, std::uint32_t, std::uint64_t bytes) {
        return am::schedule::on_node::all_reduce(member, {bytes, 1});
      },
      true);
}

// Of many bytes a node's reductions go in parts, or, of few elements, wait before they write.
TEST_F(Schedules, of_large_reductions_on_a_node_may_be_in_place) {
  const std::uint64_t bytes = Schedule::kCopied + 8;
  for (std::uint32_t size = 1; size <= 9 && !HasFailure(); ++size) {
    const bool few = below(2) == 0;
    const Vector vector{few ? 1 : bytes, few ? bytes : 1};
    const auto root = static_cast<std::uint32_t>(below(size));
    const bool to_all = below(2) == 0;
    perform(size, {.schedule =
                       [&](Member member) {
                         return to_all ? am::schedule::on_node::all_reduce(member, vector)
                                       : am::schedule::on_node::reduce(member, root, vector);
                       },
                   .inputs = [&](std::uint32_t) { return bytes; },
                   .outputs = [&](std::uint32_t who) { return to_all || who == root ? bytes : 0; },
                   .expected = [&](std::uint32_t, std::size_t at) { return combined(size, at); },
                   .in_place = to_all && below(2) == 0});
  }
}

TEST_F(Schedules, of_a_scan_combine_those_up_to_each_or_before_it) {
  using am::schedule::scan;
  const std::vector<std::function<Schedule(Member, std::uint64_t, Scan)>> all = {
      am::schedule::on_node::scan,
      [](Member member, std::uint64_t bytes, Scan kind) {
        return am::schedule::scan_chain(member, bytes, kind, false);
      },
      [](Member member, std::uint64_t bytes, Scan kind) {
        return am::schedule::scan_chain(member, bytes, kind, true);
      },
      [](Member member, std::uint64_t bytes, Scan kind) { return scan(member, bytes, kind); },
      [](Member member, std::uint64_t bytes, Scan kind) {
        return am::schedule::scan_gathered(member, bytes, kind);
      }};
  for (const auto& write : all) {
    for_all([&](std::uint32_t size, std::uint32_t, std::uint64_t bytes) {
      const bool inclusive = below(2) == 0;
      perform(size,
              {.schedule =
                   [&](Member member) {
                     return write(member, bytes, inclusive ? Scan::kInclusive : Scan::kExclusive);
                   },
               .inputs = [&](std::uint32_t) { return bytes; },
               .outputs = [&](std::uint32_t who) { return who == 0 && !inclusive ? 0 : bytes; },
               .expected = [&](std::uint32_t who,
                               std::size_t at) { return combined(who + (inclusive ? 1 : 0), at); },
               .in_place = inclusive && below(2) == 0});
    });
  }
}

// Of what is not copied when it is published.
TEST_F(Schedules, of_a_large_scan_on_a_node_are_read_by_all) {
  const std::uint64_t bytes = Schedule::kCopied + 8;
  for (std::uint32_t size = 1; size <= 6 && !HasFailure(); ++size) {
    for (const Scan kind : {Scan::kInclusive, Scan::kExclusive}) {
      const std::uint32_t itself = kind == Scan::kInclusive ? 1 : 0;
      perform(size,
              {.schedule =
                   [&](Member member) { return am::schedule::on_node::scan(member, bytes, kind); },
               .inputs = [&](std::uint32_t) { return bytes; },
               .outputs = [&](std::uint32_t who) { return who + itself == 0 ? 0 : bytes; },
               .expected = [&](std::uint32_t who,
                               std::size_t at) { return combined(who + itself, at); },
               .in_place = kind == Scan::kInclusive && below(2) == 0});
    }
  }
}

TEST_F(Schedules, of_gathers_to_one_put_each_block_in_its_place) {
  for_all([&](std::uint32_t size, std::uint32_t root, std::uint64_t bytes) {
    constexpr std::array<std::uint32_t, 4> kRadices{2, 3, 8, 100};
    const std::uint32_t radix = kRadices[below(kRadices.size())];
    const bool reads = below(2) == 0;
    perform(size, {.schedule =
                       [&](Member member) {
                         return reads ? am::schedule::on_node::gather(member, root, bytes)
                                      : am::schedule::gather_tree(member, root, bytes, radix);
                       },
                   .inputs = [&](std::uint32_t) { return bytes; },
                   .outputs = [&](std::uint32_t who) { return who == root ? size * bytes : 0; },
                   .expected =
                       [&](std::uint32_t, std::size_t at) {
                         return given(static_cast<std::uint32_t>(at / bytes), at % bytes);
                       }});
  });
}

TEST_F(Schedules, of_gathers_to_all_give_everybody_every_block) {
  using am::schedule::all_gather_bruck;
  using am::schedule::all_gather_ring;
  for (const auto write : {all_gather_bruck, all_gather_ring, am::schedule::on_node::all_gather}) {
    for_all([&](std::uint32_t size, std::uint32_t, std::uint64_t bytes) {
      perform(size, {.schedule = [&](Member member) { return write(member, bytes); },
                     .inputs = [&](std::uint32_t) { return bytes; },
                     .outputs = [&](std::uint32_t) { return size * bytes; },
                     .expected =
                         [&](std::uint32_t, std::size_t at) {
                           return given(static_cast<std::uint32_t>(at / bytes), at % bytes);
                         }});
    });
  }
}

TEST_F(Schedules, of_exchanges_give_everybody_its_block_of_each) {
  const std::vector<std::function<Schedule(Member, std::uint64_t)>> all = {
      am::schedule::all_to_all_bruck, am::schedule::on_node::all_to_all,
      am::schedule::all_to_all_pairwise};
  for (const auto& write : all) {
    for_all([&](std::uint32_t size, std::uint32_t, std::uint64_t bytes) {
      bytes = std::min<std::uint64_t>(bytes, size <= 20 ? 5 : 1);
      perform(size, {.schedule = [&](Member member) { return write(member, bytes); },
                     .inputs = [&](std::uint32_t) { return size * bytes; },
                     .outputs = [&](std::uint32_t) { return size * bytes; },
                     .expected =
                         [&](std::uint32_t who, std::size_t at) {
                           return given(static_cast<std::uint32_t>(at / bytes),
                                        who * bytes + at % bytes);
                         }});
    });
  }
}

TEST_F(Schedules, of_exchanges_of_varying_blocks_give_everybody_its_block_of_each) {
  const auto bytes = [](std::uint32_t from, std::uint32_t to) { return (from + 2 * to) % 4; };
  // Where what `who` gives, or gets, of each begins, and the end.
  const auto begins = [&](std::uint32_t size, std::uint32_t who, bool gives) {
    std::vector<std::uint64_t> at{0};
    for (std::uint32_t i = 0; i < size; ++i) {
      at.push_back(at.back() + (gives ? bytes(who, i) : bytes(i, who)));
    }
    return at;
  };
  for_all([&](std::uint32_t size, std::uint32_t, std::uint64_t) {
    if (size > 20 && size % 5 != 0) return;  // each is an exchange of all with all
    const bool reads = below(2) == 0;
    perform(size, {.schedule =
                       [&](Member member) {
                         if (reads) {
                           std::vector<std::uint64_t> their_at;
                           for (std::uint32_t other = 0; other < size; ++other) {
                             their_at.push_back(begins(size, other, true)[member.me]);
                           }
                           return am::schedule::on_node::all_to_all_varying(
                               member, begins(size, member.me, true).back(), their_at,
                               begins(size, member.me, false));
                         }
                         return am::schedule::all_to_all_varying(
                             member, begins(size, member.me, true), begins(size, member.me, false));
                       },
                   .inputs = [&](std::uint32_t who) { return begins(size, who, true).back(); },
                   .outputs = [&](std::uint32_t who) { return begins(size, who, false).back(); },
                   .expected =
                       [&](std::uint32_t who, std::size_t at) {
                         const auto all = begins(size, who, false);
                         const auto from = static_cast<std::uint32_t>(
                             std::ranges::upper_bound(all, at) - all.begin() - 1);
                         return given(from, begins(size, from, true)[who] + at - all[from]);
                       }});
  });
}

// Whatever is chosen, and whoever shares a node.
TEST_F(Schedules, that_are_chosen_do_what_their_call_says) {
  using am::schedule::Operation;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    const auto size = static_cast<std::uint32_t>(1 + below(12));
    const auto nodes = 1 + below(4);
    const std::uint64_t order = below(3);
    std::vector<std::uint64_t> node_of;
    for (std::uint32_t who = 0; who < size; ++who) {
      node_of.push_back(order == 0   ? below(nodes)
                        : order == 1 ? who / nodes
                                     : who * who / (nodes * nodes));
    }
    const am::schedule::Placement placement(node_of);
    am::schedule::Limits limits;
    for (const am::schedule::Limit& limit : am::schedule::kLimits) {
      limits.*limit.value = below(3) * 8;
    }
    const auto way = static_cast<am::schedule::Near>(below(3));
    const auto root = static_cast<std::uint32_t>(below(size));
    const std::uint64_t bytes = below(100) == 0 ? 300 * below(40) : below(20);
    const auto operation = static_cast<Operation>(below(9));
    const am::schedule::Call call{operation, root, bytes, 1};
    const bool rooted = operation == Operation::kReduce || operation == Operation::kGather;
    const auto outputs = [&](std::uint32_t who) -> std::uint64_t {
      if (operation == Operation::kBarrier || (rooted && who != root)) return 0;
      if (operation == Operation::kExclusiveScan && who == 0) return 0;
      const bool wide = operation >= Operation::kGather;
      return wide ? size * bytes : bytes;
    };
    perform(size, {.schedule =
                       [&](Member member) {
                         const auto& near = placement.members(placement.node(member.me));
                         return choose(call, placement, member.me,
                                       near.size() > 1 ? way : am::schedule::Near::kMessages,
                                       limits);
                       },
                   .inputs =
                       [&](std::uint32_t) {
                         return operation == Operation::kAllToAll ? size * bytes : bytes;
                       },
                   .outputs = outputs,
                   .expected = [&](std::uint32_t who, std::size_t at) -> Value {
                     const auto from = static_cast<std::uint32_t>(at / bytes);
                     switch (operation) {
                       case Operation::kBroadcast: return given(root, at);
                       case Operation::kScan: return combined(who + 1, at);
                       case Operation::kExclusiveScan: return combined(who, at);
                       case Operation::kAllToAll: return given(from, who * bytes + at % bytes);
                       case Operation::kGather:
                       case Operation::kAllGather: return given(from, at % bytes);
                       default: return combined(size, at);
                     }
                   },
                   .node_of = node_of});
    if (HasFailure()) ADD_FAILURE() << "operation " << static_cast<int>(operation);
  }
}

// What algorithms.h says of hops and messages, for 1 byte or one of each block.
TEST_F(Schedules, send_as_many_messages_as_they_say) {
  for (std::uint32_t size = 2; size <= kMost; ++size) {
    const std::uint32_t lg = logarithm(size);
    for (std::uint32_t who = 0; who < size; ++who) {
      const Member member{size, who};
      const auto sends = [](const Schedule& schedule) {
        std::size_t count = 0;
        for (std::size_t round = 0; round < schedule.rounds(); ++round) {
          for (const Step& step : schedule.round(round)) count += step.kind == Step::Kind::kSend;
        }
        return count;
      };
      ASSERT_LE(sends(am::schedule::broadcast_tree(member, 0, 1)), lg);
      ASSERT_LE(sends(am::schedule::reduce_tree(member, 0, 1)), 1u);
      ASSERT_LE(sends(am::schedule::all_reduce_doubling(member, 1)), lg + 1);
      ASSERT_LE(sends(am::schedule::all_reduce_halving(member, {size, 1})), 2 * lg + 1);
      ASSERT_EQ(sends(am::schedule::scan_chain(member, 1, Scan::kInclusive)), who + 1 < size);
      ASSERT_EQ(sends(am::schedule::all_gather_bruck(member, 1)), lg);
      ASSERT_EQ(sends(am::schedule::all_to_all_bruck(member, 1)), lg);
      ASSERT_EQ(sends(am::schedule::all_to_all_pairwise(member, 1)), size - 1);
      ASSERT_EQ(am::schedule::all_to_all_pairwise(member, 1).rounds(), (size - 1 + 3) / 4);
    }
  }
}

TEST_F(Schedules, cut_vectors_between_elements) {
  for (std::uint32_t size = 1; size <= 20; ++size) {
    const Vector vector{below(100), 8};
    for (std::uint32_t who = 0; who < size; ++who) {
      for (const Schedule& schedule : {am::schedule::all_reduce_halving({size, who}, vector),
                                       am::schedule::reduce_halving({size, who}, 0, vector),
                                       am::schedule::broadcast_scattered({size, who}, 0, vector)}) {
        for (std::size_t round = 0; round < schedule.rounds(); ++round) {
          for (const Step& step : schedule.round(round)) {
            EXPECT_EQ(step.from.bytes % 8 + step.to.bytes % 8, 0u);
            EXPECT_EQ(step.from.offset % 8 + step.to.offset % 8, 0u);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace schedule_test
