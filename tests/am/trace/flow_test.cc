#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "am/observe/event.h"
#include "am/observe/timeline.h"

namespace am {
namespace {

Name name(Rank rank, std::uint32_t serial) {
  Name made{};
  made.rank = rank;
  made.serial = serial;
  return made;
}

TEST(Flow, is_the_same_at_both_ends_and_another_for_each_message) {
  std::set<TraceFlow> all;
  std::size_t count = 0;
  for (Rank from = 0; from < 4; ++from) {
    for (Rank to = 0; to < 4; ++to) {
      for (std::uint32_t way = 0; way < 3; ++way) {
        for (std::uint32_t stream = 0; stream < 4; ++stream) {
          for (std::uint64_t number = 1; number < 50; ++number) {
            const TracedRoute route{name(from, 1), name(to, 1), way};
            const TraceFlow flow = flow_of(route, {stream, number});
            EXPECT_EQ(flow, flow_of(route, {stream, number}));
            all.insert(flow);
            all.insert(reply_of(flow));
            count += 2;
          }
        }
      }
    }
  }
  for (std::uint32_t channel = 0; channel < 100; ++channel, count += 2) {
    all.insert(channel_flow(3, channel, 1));
    all.insert(channel_flow(3, channel, 2));
  }
  EXPECT_EQ(all.size(), count);
  EXPECT_EQ(all.count(0), 0u);
}

TEST(FlowEnds, give_each_end_once) {
  std::vector<TraceEvent> events(1'000);
  FlowEnds ends(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].flow = i < 500 ? 64 * i + 1 : flow_of({}, {0, i});  // these meet in the table
    ends.add(events[i]);
  }
  EXPECT_EQ(ends.take(7), nullptr);
  for (TraceEvent& event : events) {
    EXPECT_EQ(ends.take(event.flow), &event);
    EXPECT_EQ(event.matched, 1u);
    EXPECT_EQ(ends.take(event.flow), nullptr);
  }
}

TEST(FlowEnds, of_nothing_have_nothing) { EXPECT_EQ(FlowEnds(0).take(1), nullptr); }

}  // namespace
}  // namespace am
