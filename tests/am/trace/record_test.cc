#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "am/observe/observed_wait.h"
#include "am/observe/trace.h"
#include "am/types/types.h"

namespace am {
namespace {

void note(Trace& trace, std::uint64_t number, TraceName name = 0) {
  trace.record(TraceKind::kOperation, name, number, number, {});
}
// One that a handler leaves.
void note_handler(Trace& trace, std::uint64_t begin, std::uint64_t end) {
  trace.record(TraceKind::kReplyHandler, 0, begin, end, {});
}

// By thread.
std::map<std::uint32_t, std::vector<TraceEvent>> all_of(Trace& trace) {
  std::map<std::uint32_t, std::vector<TraceEvent>> all;
  trace.for_each(
      [&](std::uint32_t thread, const TraceEvent& event) { all[thread].push_back(event); });
  return all;
}

TEST(TraceWords, are_those_of_an_event) {
  const auto event = [](const TraceDetails& details, std::uint64_t end = 12) {
    return std::bit_cast<TraceEvent>(trace_words(TraceKind::kCallback, 0xfedc, 5, end, details));
  };
  const TraceEvent small = event({.flow = ~TraceFlow{1}, .peer = 0xfffffe, .bytes = 77});
  EXPECT_EQ(small.begin, 5u);
  EXPECT_EQ(small.length, 7u);
  EXPECT_EQ(small.matched, 0u);
  EXPECT_EQ(small.name, 0xfedcu);
  EXPECT_EQ(small.flow, ~TraceFlow{1});
  EXPECT_EQ(small.peer, 0xfffffeu);
  EXPECT_EQ(small.what(), TraceKind::kCallback);
  EXPECT_EQ(small.bytes, 77u);
  const TraceEvent large = event({.peer = ~0u, .bytes = ~std::uint64_t{0}}, ~std::uint64_t{0});
  EXPECT_EQ(large.length, (std::uint64_t{1} << 47) - 6);  // of 64 bits, modulo 2^47
  EXPECT_EQ(large.matched, 0u);
  EXPECT_EQ(large.peer, TraceEvent::kNoPeer);
  EXPECT_EQ(large.bytes, TraceEvent::kMostBytes);
}

TEST(Trace, is_active_until_it_stops) {
  EXPECT_EQ(active_trace(), nullptr);
  {
    Trace trace(Trace::kLeastBytes);
    EXPECT_EQ(active_trace(), &trace);
    trace.stop();
    EXPECT_EQ(active_trace(), nullptr);
  }
  const Trace again(Trace::kLeastBytes);
  EXPECT_EQ(active_trace(), &again);
}

TEST(Trace, keeps_the_first_events_in_their_order_and_counts_the_others) {
  Trace trace(Trace::kLeastBytes);
  constexpr std::uint64_t kRoom = Trace::kLeastBytes / sizeof(TraceEvent);
  for (std::uint64_t i = 1; i <= kRoom + 77; ++i) note(trace, i);
  trace.stop();
  const auto all = all_of(trace);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all.at(0).size(), kRoom);
  for (std::uint64_t i = 0; i < kRoom; ++i) EXPECT_EQ(all.at(0)[i].begin, i + 1);
  EXPECT_EQ(trace.dropped(), 77u);
}

TEST(Trace, of_a_later_job_has_nothing_of_the_one_before) {
  {
    Trace trace(Trace::kLeastBytes);
    for (std::uint64_t i = 1; i <= 10; ++i) note(trace, i);
  }
  Trace trace(Trace::kLeastBytes);
  note(trace, 11);
  const auto all = all_of(trace);
  ASSERT_EQ(all.at(0).size(), 1u);
  EXPECT_EQ(all.at(0)[0].begin, 11u);
}

TEST(Trace, loses_nothing_of_several_threads_while_there_is_room) {
  constexpr std::uint64_t kEach = 5'000;
  constexpr int kThreads = 4;
  Trace trace((kEach + Trace::kChunk) * kThreads * sizeof(TraceEvent));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&trace] {
      const char* const calls[] = {"a", "b", "c"};
      for (std::uint64_t i = 1; i <= kEach; ++i) {
        note(trace, i, trace.name_of(Call(calls[i % 3])));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  trace.stop();
  const auto all = all_of(trace);
  EXPECT_EQ(all.size(), std::size_t{kThreads});
  for (const auto& [thread, events] : all) {
    ASSERT_EQ(events.size(), kEach);
    EXPECT_TRUE(
        std::ranges::is_sorted(events, {}, [](const TraceEvent& one) { return one.begin; }));
  }
  EXPECT_EQ(trace.dropped(), 0u);
}

void one() {}
void other() {}

TEST(Trace, names_places_and_functions_by_numbers) {
  Trace trace(Trace::kLeastBytes);
  note(trace, 1);  // this thread is known from now on
  const SourceLocation here = SourceLocation::current();
  const TraceName place = trace.name_of(Call("get", here));
  const TraceName caller = trace.name_of(Call("get", SourceLocation::returning_to(&here)));
  const std::set<TraceName> all{place, caller, trace.name_of(&one), trace.name_of(&other)};
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(all.count(Trace::kOthers), 0u);
  EXPECT_EQ(trace.name_of(Call("get", here)), place);
  const std::vector<TraceSource> sources = trace.sources();
  ASSERT_EQ(sources.size(), 5u);
  EXPECT_EQ(sources[place].call.where.line(), here.line());
  EXPECT_EQ(sources[caller].call.where.return_address(), &here);
  EXPECT_EQ(sources[trace.name_of(&one)].function, reinterpret_cast<const void*>(&one));
}

TEST(Trace, has_names_for_so_many_and_one_for_all_others) {
  Trace trace(Trace::kLeastBytes);
  std::vector<char> callers(70'000);
  std::set<TraceName> all;
  for (const char& caller : callers) {
    all.insert(trace.name_of(Call("get", SourceLocation::returning_to(&caller))));
  }
  EXPECT_EQ(all.size(), 65'536u);
  EXPECT_EQ(trace.name_of(Call("get", SourceLocation::returning_to(&callers.back()))),
            Trace::kOthers);
}

TEST(Trace, shows_a_poll_that_has_run_several_handlers) {
  Trace trace(Trace::kLeastBytes);
  note(trace, 1);
  trace.poll_ends();  // nothing
  Trace::handler_begins(100);
  Trace::handler_begins(200);
  note_handler(trace, 200, 230);
  trace.poll_ends();
  Trace::handler_begins(250);  // one, which says it all
  trace.poll_ends();
  Trace::handler_begins(300);
  Trace::handler_begins(310);
  Trace::forget_poll();
  trace.poll_ends();
  const auto all = all_of(trace);
  ASSERT_EQ(all.at(0).size(), 3u);
  const TraceEvent& poll = all.at(0)[2];
  EXPECT_EQ(poll.what(), TraceKind::kPoll);
  EXPECT_EQ(poll.begin, 100u);
  EXPECT_EQ(poll.length, 130u);  // until the last event in it has ended
  EXPECT_EQ(poll.bytes, 2u);
}

TEST(Trace, ends_a_wait_with_the_last_poll_if_that_has_run_handlers) {
  Trace trace(Trace::kLeastBytes);
  note(trace, 1);
  const std::uint64_t begin = ticks();
  Trace::handler_begins(begin + 10);
  note_handler(trace, begin + 10, begin + 30);
  trace.poll_ends();
  EXPECT_EQ(Trace::end_of_wait(begin), begin + 30);
  EXPECT_GT(Trace::end_of_wait(begin + 31), begin + 30) << "this poll was before the wait";
  trace.poll_ends();  // one that has found nothing
  EXPECT_NE(Trace::end_of_wait(begin), begin + 30);
}

TEST(Trace, gives_polls_their_ends_also_when_its_memory_is_full) {
  Trace trace(Trace::kLeastBytes);
  while (trace.dropped() == 0) note(trace, 1);
  const std::uint64_t begin = ticks();
  Trace::handler_begins(begin);
  note_handler(trace, begin, begin + 20);
  trace.poll_ends();
  EXPECT_EQ(Trace::end_of_wait(begin), begin + 20);
}

Trace::RunHandler handler_from(std::uint64_t begin) {
  return {.kind = TraceKind::kRequestHandler,
          .begin = begin,
          .end = begin + 5,
          .details = {.flow = 77, .peer = 3, .bytes = 8},
          .reply = 78};
}

TEST(Trace, writes_a_handler_with_the_next_event_or_when_the_poll_ends) {
  Trace trace(Trace::kLeastBytes);
  trace.record_late(handler_from(100));
  EXPECT_TRUE(all_of(trace).empty());
  note(trace, 200);
  trace.record_late(handler_from(300));
  trace.poll_ends();
  trace.record_late(handler_from(400));
  trace.poll_throws();
  const auto all = all_of(trace).at(0);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].begin, 100u);
  EXPECT_EQ(all[0].flow, 77u);
  EXPECT_EQ(all[0].bytes, 8u);
  EXPECT_EQ(all[1].what(), TraceKind::kReply);
  EXPECT_EQ(all[1].begin, 105u);
  EXPECT_EQ(all[1].flow, 78u);
  EXPECT_EQ(all[2].begin, 200u);
  EXPECT_EQ(all[3].begin, 300u);
  EXPECT_EQ(all[5].begin, 400u);
}

TEST(Trace, has_no_handler_of_an_earlier_one) {
  {
    Trace trace(Trace::kLeastBytes);
    note(trace, 1);
    trace.record_late(handler_from(100));
  }
  Trace trace(Trace::kLeastBytes);
  note(trace, 2);
  trace.poll_ends();
  ASSERT_EQ(all_of(trace).at(0).size(), 1u);
  EXPECT_EQ(all_of(trace).at(0)[0].begin, 2u);
}

TEST(ObservedWait, is_recorded_for_what_explains_it_but_for_collectives) {
  Trace trace(Trace::kLeastBytes);
  const auto explain = [] { return Reason{.call = "flush", .peer = 7}; };
  { const ObservedWait traced(explain); }
  const auto together = [] { return Reason{.call = "barrier", .collective = 1}; };
  { const ObservedWait traced(together); }
  const auto all = all_of(trace);
  ASSERT_EQ(all.at(0).size(), 1u);
  EXPECT_EQ(all.at(0)[0].what(), TraceKind::kWait);
  EXPECT_EQ(all.at(0)[0].peer, 7u);
  EXPECT_EQ(trace.sources()[all.at(0)[0].name].call.name, std::string("flush"));
}

}  // namespace
}  // namespace am
