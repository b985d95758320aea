#include "am/job/trace/gathering.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "am/observe/trace.h"
#include "am/types/clock.h"
#include "tests/support/job_main.h"

namespace am {
namespace {

using ::test::job;

// All processes are on one machine, where the clocks are the same: what was found is wrong by half
// of the shortest question at most.
TEST(Gathering, compares_clocks_by_questions) {
  TraceGathering gathering(job(), job(), nullptr);
  const std::int64_t before = now_ns();
  const BestAnswer best = gathering.ask_clock();
  ASSERT_TRUE(best.any());
  EXPECT_GT(best.took_ns(), 0);
  EXPECT_LE(2 * std::abs(best.offset().ns), best.took_ns() + 2);
  EXPECT_GE(best.offset().at_ns, before);
  job().quiesce(gathering.bundle());
}

void record(Trace& trace, TraceKind kind, Rank peer, TraceFlow flow) {
  trace.record(kind, 0, 1, 1, {.flow = flow, .peer = peer});
}

// Each has sent 1,000 messages to everybody, of which the receiver has every third one.
TEST(Gathering, marks_messages_of_which_both_ends_are_there) {
  constexpr TraceFlow kEach = 1'000;
  const auto flow = [](Rank from, Rank to, TraceFlow number) {
    return ((std::uint64_t{from} * 100 + to) << 32) + number + 1;
  };
  const Rank me = job().rank();
  Trace trace(1 << 20);
  for (Rank other = 0; other < job().size(); ++other) {
    for (TraceFlow i = 0; i < kEach; ++i) {
      record(trace, TraceKind::kRequest, other, flow(me, other, i));
      if (i % 3 != 0) continue;
      record(trace, TraceKind::kRequestHandler, other, flow(other, me, i));
    }
    record(trace, TraceKind::kRequestHandler, other, flow(other, me, kEach + 2));
  }
  trace.stop();
  TraceGathering gathering(job(), job(), nullptr);
  gathering.add_ends(trace);
  job().exchange(0);
  gathering.match(trace);
  job().quiesce(gathering.bundle());
  trace.for_each([&](std::uint32_t, const TraceEvent& one) {
    const TraceFlow number = (one.flow & 0xffffffff) - 1;
    EXPECT_EQ(one.matched != 0, number % 3 == 0 && number < kEach) << one.flow;
  });
}

}  // namespace
}  // namespace am
