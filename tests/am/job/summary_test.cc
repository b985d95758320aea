// What is said of what processes have counted.
#include "am/job/statistics/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace am::statistics {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

ProcessStatistics process_with(std::vector<CallStatistics> calls) {
  return {.elapsed_ns = 10 * kSecond, .calls = std::move(calls), .traffic = {{0, 0}, {5, 40}}};
}

CallStatistics waits(std::string call, std::string place, std::uint64_t seconds) {
  return {.call = std::move(call),
          .place = std::move(place),
          .far = {0, 0},
          .waits = 4,
          .waited_ns = seconds * kSecond};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string only_advice(const std::vector<ProcessStatistics>& processes) {
  const std::vector<std::string> advice = advise(processes);
  EXPECT_EQ(advice.size(), 1u);
  return advice.empty() ? "" : advice[0];
}

TEST(Pack, brings_everything_to_the_other_side) {
  ProcessStatistics sent = process_with({waits("barrier", "a.cc:40", 3)});
  sent.calls.push_back({.call = "get\t\n",
                        .place = "",
                        .far = {1, ~std::uint64_t{0}},
                        .near = {2, 16},
                        .waits = 0,
                        .waited_ns = 0,
                        .needs = "a credit"});
  sent.sent = {.sends = 7, .messages = 11, .bytes = 1300, .accessed = 17};
  sent.losses = {.sent = 9, .repeated = 4, .twice = 3, .damaged = 2};
  const ProcessStatistics got = unpack(pack(sent));
  EXPECT_EQ(got.sent, sent.sent);
  EXPECT_EQ(got.losses, sent.losses);
  EXPECT_EQ(got.elapsed_ns, sent.elapsed_ns);
  ASSERT_EQ(got.traffic.size(), 2u);
  EXPECT_EQ(got.traffic[1].operations, 5u);
  EXPECT_EQ(got.traffic[1].bytes, 40u);
  ASSERT_EQ(got.calls.size(), 2u);
  EXPECT_EQ(got.calls[0].name(), "barrier at a.cc:40");
  EXPECT_EQ(got.calls[0].waited_ns, 3 * kSecond);
  EXPECT_EQ(got.calls[1].name(), sent.calls[1].name());
  EXPECT_EQ(got.calls[1].far.bytes, ~std::uint64_t{0});
  EXPECT_EQ(got.calls[1].near.operations, 2u);
  EXPECT_EQ(got.calls[1].near.bytes, 16u);
  EXPECT_EQ(got.calls[0].needs, "");
  EXPECT_EQ(got.calls[1].needs, "a credit");
}

TEST(Unpack, takes_any_text) {
  const std::string whole = pack(process_with({waits("barrier", "a.cc:40", 3)}));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    static_cast<void>(unpack(whole.substr(0, length)));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string text = whole;
    text[random() % text.size()] = static_cast<char>(random());
    static_cast<void>(unpack(text));
  }
}

// A place that waits for nothing, but sends most of all, stands behind all that have waited.
TEST(WorthTelling, is_where_a_process_waited_what_it_used_most_and_the_rest_in_one) {
  std::vector<CallSites::Site> sites;
  std::mt19937_64 random(1);
  CallSites::Site all{};
  for (int i = 0; i < 700; ++i) {
    CallSites::Site site{.call = i % 2 == 0 ? "barrier" : "read",
                         .far = {random() % 1000, random() % 1000},
                         .waits = random() % 1000,
                         .waited_ns = random() % 1000};
    if (i == 300) site = {.call = "store", .far = {5'000'000, 40'000'000}};
    all.far += site.far;
    all.waits += site.waits;
    all.waited_ns += site.waited_ns;
    sites.push_back(site);
  }
  const std::vector<CallSites::Site> told = worth_telling(sites, 100);
  ASSERT_EQ(told.size(), 201u);
  CallSites::Site sum{};
  for (const CallSites::Site& site : told) {
    sum.far += site.far;
    sum.waits += site.waits;
    sum.waited_ns += site.waited_ns;
  }
  EXPECT_EQ(sum.far.operations, all.far.operations);
  EXPECT_EQ(sum.far.bytes, all.far.bytes);
  EXPECT_EQ(sum.waits, all.waits);
  EXPECT_EQ(sum.waited_ns, all.waited_ns);
  EXPECT_EQ(told.back().call.name, std::string(CallSites::kOthers));
  EXPECT_TRUE(std::ranges::any_of(
      told, [](const auto& site) { return site.call.name == std::string("store"); }));
  EXPECT_GE(told[99].waited_ns, told[100].waited_ns);
}

TEST(WorthTelling, is_everything_where_that_is_little) {
  const std::vector<CallSites::Site> some(7, {.call = "read", .far = {1, 0}});
  EXPECT_EQ(worth_telling(some, 7).size(), 7u);
  EXPECT_EQ(worth_telling(some, 4).size(), 7u);
  EXPECT_EQ(worth_telling(some, 3).size(), 7u) << "six, and the others";
  EXPECT_EQ(worth_telling({}, 3).size(), 0u);
}

TEST(AllCalls, are_the_sums_over_processes_the_costliest_first) {
  const std::vector<ProcessStatistics> processes{
      process_with({waits("barrier", "a.cc:40", 1), waits("sync", "a.cc:50", 3)}),
      process_with({waits("barrier", "a.cc:40", 3), waits("barrier", "a.cc:41", 1)})};
  const std::vector<CallStatistics> calls = all_calls(processes);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].name(), "barrier at a.cc:40");
  EXPECT_EQ(calls[0].waits, 8u);
  EXPECT_EQ(calls[0].waited_ns, 4 * kSecond);
  EXPECT_EQ(calls[1].name(), "sync at a.cc:50");
}

TEST(Summary, says_who_waits_where_and_who_talks_to_whom) {
  std::vector<ProcessStatistics> processes{process_with({waits("barrier", "a.cc:40", 2)}),
                                           process_with({{.call = "read",
                                                          .place = "step (heat+0x2b)",
                                                          .far = {1'234'567, 9'876'536},
                                                          .waits = 10,
                                                          .waited_ns = 8 * kSecond}})};
  const std::string text = summarize(processes, 2);
  EXPECT_TRUE(has(text,
                  "2 processes on 2 nodes, 10.00 s; of it waited 50 % (rank 0: 20 %, rank 1: "
                  "80 %)"))
      << text;
  EXPECT_TRUE(has(text, "1,234,567  9876.5 kB        8 B   read in step (heat+0x2b)")) << text;
  EXPECT_TRUE(has(text, "4  2000.0 ms   500.0 ms   barrier at a.cc:40")) << text;
  EXPECT_TRUE(has(text, "\n      0           -           5\n")) << text;
}

TEST(Summary, tells_operations_within_the_node_apart) {
  const CallStatistics both{.call = "get", .place = "a.cc:9", .far = {5, 40}, .near = {6'000, 48}};
  const std::string text = summarize(std::vector{process_with({both}), process_with({})}, 2);
  const std::size_t far = text.find("operations with other nodes\n");
  const std::size_t near = text.find("operations within the node\n");
  ASSERT_NE(near, std::string::npos) << text;
  EXPECT_LT(text.find("5       40 B        8 B   get at a.cc:9"), near) << text;
  EXPECT_GT(text.find("6,000       48 B        0 B   get at a.cc:9"), near) << text;
  EXPECT_LT(far, near) << text;
  EXPECT_TRUE(has(text, "\n  operations, from each process")) << text;
  const auto json = nlohmann::json::parse(to_json(std::vector{process_with({both})}, 1));
  EXPECT_EQ(json["calls"][0]["near_operations"], 6'000);
  EXPECT_EQ(json["calls"][0]["operations"], 5);
}

TEST(Summary, says_how_well_messages_are_coalesced) {
  std::vector<ProcessStatistics> processes{process_with({}), process_with({})};
  EXPECT_FALSE(has(summarize(processes, 2), "packets"));
  processes[0].sent = {
      .sends = 1'000, .messages = 60'000, .bytes = 2'000'000, .accessed = 5'000'000};
  processes[1].sent = {.sends = 1'000, .messages = 20'000, .bytes = 1'000'000};
  const std::string text = summarize(processes, 2);
  EXPECT_TRUE(
      has(text, "packets to other nodes: 80,000 messages in 2,000 sends, 40.0 each; 3000.0 kB\n"))
      << text;
  EXPECT_TRUE(has(text, "(RMA): 5000.0 kB\n")) << text;
  const auto json = nlohmann::json::parse(to_json(processes, 2));
  EXPECT_EQ(json["by_process"][1]["packets"]["messages"], 20'000);
  EXPECT_EQ(json["by_process"][0]["packets"]["accessed"], 5'000'000);
}

TEST(Summary, says_what_a_wait_is_for) {
  CallStatistics stalled = waits("request", "a.cc:9", 2);
  stalled.needs = "a credit";
  const std::vector<ProcessStatistics> processes{process_with({stalled})};
  EXPECT_TRUE(has(summarize(processes, 1), "request at a.cc:9, for a credit\n"));
  EXPECT_TRUE(has(only_advice(processes), "request at a.cc:9 waits 2.00 s for credit, "));
}

TEST(Summary, says_what_the_network_lost_where_that_is_known) {
  std::vector<ProcessStatistics> processes{process_with({}), process_with({})};
  EXPECT_FALSE(has(summarize(processes, 2), "datagrams"));
  processes[0].losses = {.sent = 1500, .repeated = 20, .twice = 3, .damaged = 1};
  processes[1].losses = {.sent = 500, .repeated = 10, .twice = 0, .damaged = 0};
  const std::string text = summarize(processes, 2);
  EXPECT_TRUE(
      has(text, "datagrams: 2,000 sent, of which 30 again (1.5 %); received 3 twice, 1 damaged\n"))
      << text;
  const auto json = nlohmann::json::parse(to_json(processes, 2));
  EXPECT_EQ(json["by_process"][0]["datagrams"]["sent"], 1500);
  EXPECT_EQ(json["by_process"][1]["datagrams"]["repeated"], 10);
}

TEST(Summary, of_a_process_that_did_nothing_is_one_line) {
  const std::string text = summarize(std::vector{ProcessStatistics{}}, 1);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  EXPECT_TRUE(has(text, "1 process on 1 node, 0.00 s")) << text;
}

TEST(Advice, names_single_reads_and_what_replaces_them) {
  CallStatistics reads = waits("read", "b.cc:88", 4);
  reads.far.operations = 1'200'000;
  reads.far.bytes = 9'600'000;
  const std::string text = only_advice({process_with({reads})});
  EXPECT_TRUE(has(text, "read at b.cc:88 waits 4.00 s for 1.2 million single operations: "))
      << text;
  EXPECT_TRUE(has(text, "bulk_get()")) << text;
}

TEST(Advice, names_many_small_operations_that_are_waited_for_together) {
  const CallStatistics gets{
      .call = "get", .place = "b.cc:90", .far = {500'000, 4'000'000}, .waits = 0, .waited_ns = 0};
  const std::string text = only_advice({process_with({gets, waits("sync", "b.cc:91", 5)})});
  EXPECT_TRUE(has(text, "get at b.cc:90 makes 500000 operations of 8 bytes each: ")) << text;
}

TEST(Advice, names_who_comes_last) {
  const std::string text = only_advice({process_with({waits("barrier", "c.cc:7", 6)}),
                                        process_with({waits("barrier", "c.cc:7", 0)}),
                                        process_with({waits("barrier", "c.cc:7", 4)})});
  EXPECT_TRUE(
      has(text, "rank 1 comes last to barrier at c.cc:7, where the others wait 5.00 s each"))
      << text;
}

TEST(Advice, does_not_say_that_who_waits_has_much_to_do) {
  const std::string late =
      only_advice({process_with({waits("barrier", "c.cc:7", 5), waits("sync", "c.cc:5", 0)}),
                   process_with({waits("barrier", "c.cc:7", 0)})});
  EXPECT_TRUE(has(late, "it has more to do than they have")) << late;
  const std::string waiting =
      only_advice({process_with({waits("barrier", "c.cc:7", 8), waits("request", "c.cc:5", 0)}),
                   process_with({waits("request", "c.cc:5", 7)})});
  EXPECT_TRUE(has(waiting, "rank 1 comes last to barrier")) << waiting;
  EXPECT_TRUE(has(waiting, "it waits before that itself")) << waiting;
}

// It computes longer, and waits as long as the others, for what they do not do together.
TEST(Advice, says_who_has_much_to_do_though_all_wait_much_besides) {
  const auto with = [](std::uint64_t barrier, std::uint64_t reads) {
    return process_with({waits("barrier", "c.cc:7", barrier), waits("request", "c.cc:5", reads)});
  };
  const std::string text = only_advice({with(4, 5), with(4, 5), with(0, 5)});
  EXPECT_TRUE(has(text, "rank 2 comes last to barrier")) << text;
  EXPECT_TRUE(has(text, "it has more to do than they have")) << text;
}

TEST(Advice, names_results_that_are_waited_for_one_by_one) {
  CallStatistics results = waits("future::result", "e.cc:3", 4);
  results.waits = 12'000;
  const std::string text = only_advice({process_with({results})});
  EXPECT_TRUE(has(text,
                  "future::result at e.cc:3 waits 4.00 s for 12000 single operations: start "
                  "several calls before the first result()"))
      << text;
}

TEST(Advice, is_three_sentences_at_most_and_none_for_what_costs_little) {
  std::vector<CallStatistics> many;
  for (int line = 1; line <= 9; ++line) {
    CallStatistics atomics = waits("fetch_and_add", "d.cc:" + std::to_string(line), 1);
    atomics.far.operations = 10'000;
    many.push_back(atomics);
  }
  EXPECT_EQ(advise(std::vector{process_with(many)}).size(), 3u);
  for (CallStatistics& call : many) call.waited_ns = kSecond / 10;
  EXPECT_TRUE(advise(std::vector{process_with(many)}).empty());
  EXPECT_TRUE(advise(std::vector{process_with({waits("barrier", "c.cc:7", 5)}),
                                 process_with({waits("barrier", "c.cc:7", 4)})})
                  .empty())
      << "all wait alike";
}

// --- For programs

TEST(Json, has_everything_that_was_counted) {
  ProcessStatistics first = process_with({waits("barrier", "a.cc:40", 3)});
  first.calls.push_back(
      {.call = "get", .place = "say \"\xff\"", .far = {5, 40}, .waits = 0, .waited_ns = 0});
  const ProcessStatistics second = process_with({waits("barrier", "a.cc:40", 1)});
  const std::string text = to_json(std::vector{first, second}, 2);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  const auto report = nlohmann::json::parse(text);
  EXPECT_EQ(report["processes"], 2);
  EXPECT_EQ(report["nodes"], 2);
  ASSERT_EQ(report["calls"].size(), 2u);
  EXPECT_EQ(report["calls"][0]["call"], "barrier");
  EXPECT_EQ(report["calls"][0]["place"], "a.cc:40");
  EXPECT_EQ(report["calls"][0]["waits"], 8);
  EXPECT_EQ(report["calls"][0]["waited_ns"], 4 * kSecond);
  EXPECT_EQ(report["calls"][1]["place"], "say \"\uFFFD\"");  // what is no UTF-8 is replaced
  ASSERT_EQ(report["by_process"].size(), 2u);
  EXPECT_EQ(report["by_process"][1]["rank"], 1);
  EXPECT_EQ(report["by_process"][1]["elapsed_ns"], 10 * kSecond);
  EXPECT_EQ(report["by_process"][1]["calls"].size(), 1u);
  const nlohmann::json traffic = {{{"to", 1}, {"operations", 5}, {"bytes", 40}}};
  EXPECT_EQ(report["by_process"][0]["traffic"], traffic);
  EXPECT_EQ(report["advice"].size(), advise(std::vector{first, second}).size());
}

}  // namespace
}  // namespace am::statistics
