// How findings of several nodes become one report.
#include "tools/doctor/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/text.h"

namespace am::doctor {
namespace {

using ::test::count_of;
using ::test::expect_contains;

Finding finding(const std::string& check, Severity severity, const std::string& seen,
                const std::string& measured = "") {
  return {.check = check,
          .severity = severity,
          .seen = seen,
          .measured = measured,
          .means = "that is so",
          .remedy = severity == Severity::kRemark ? "" : "mend " + check};
}

const Finding kGood = finding("clock", Severity::kRemark, "tsc", "30 ns");
const Finding kGoodElsewhere = finding("clock", Severity::kRemark, "tsc", "31 ns");
const Finding kFew = finding("cores", Severity::kWarning, "2 processors");
const Finding kNone = finding("memlock", Severity::kError, "0 bytes");

std::vector<NodeReport> two_nodes() {
  return {{"first", "0-1", {kGood, kFew}}, {"second", "2-3", {kNone, kGoodElsewhere, kFew}}};
}

TEST(Report, has_the_worst_first_and_what_is_the_same_once) {
  const std::vector<Shared> all = merge(two_nodes());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].finding, kNone);
  EXPECT_EQ(all[0].nodes, std::vector<std::uint32_t>{1});
  EXPECT_EQ(all[1].finding, kFew);
  EXPECT_EQ(all[1].nodes, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(all[2].finding, kGood);
  EXPECT_EQ(all[2].nodes, (std::vector<std::uint32_t>{0, 1}));
}

TEST(Report, for_people_has_what_asks_for_something_and_counts_remarks) {
  const std::string text = text_of(two_nodes(), false);
  expect_contains(text,
                  {"on 2 nodes: 1 error, 1 warning, 1 remark (--all prints them)\n",
                   "node 1: second, ranks 2-3",
                   "error: memlock, on node 1\n  seen:  0 bytes\n  means: that is so\n  to do: "
                   "mend memlock\n",
                   "warning: cores, on all nodes"});
  EXPECT_EQ(count_of(text, "clock"), 0u);
  EXPECT_EQ(count_of(text_of(two_nodes(), true), "remark: clock, on all nodes: tsc (30 ns)"), 1u);
}

TEST(Report, for_people_is_one_line_if_nothing_has_to_be_done) {
  for (const std::vector<NodeReport>& nodes :
       {std::vector<NodeReport>{{"here", "", {kGood}}},
        std::vector<NodeReport>{{"here", "0", {kGood}}, {"there", "1", {kGoodElsewhere}}}}) {
    const std::string text = text_of(nodes, false);
    expect_contains(text, {": nothing has to be done, 1 remark (--all prints them)\n"});
    EXPECT_EQ(count_of(text, "\n"), 1u) << text;
    expect_contains(text_of(nodes, true),
                    {": nothing has to be done, 1 remark\n", "remark: clock", ": tsc (30 ns); "});
  }
  EXPECT_EQ(count_of(text_of({{"here", "", {}}}, false), "--all"), 0u);
}

TEST(Report, for_programs_has_everything_and_the_exit_code) {
  const auto json = nlohmann::json::parse(json_of(two_nodes()));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["warnings"], 1);
  EXPECT_EQ(json["remarks"], 1);
  EXPECT_EQ(json["exit_code"], 2);
  EXPECT_EQ(json["nodes"][1]["host"], "second");
  EXPECT_EQ(json["findings"].size(), 3u);
  EXPECT_EQ(json["findings"][0]["check"], "memlock");
  EXPECT_EQ(json["findings"][0]["remedy"], "mend memlock");
  EXPECT_EQ(json["findings"][2]["nodes"], (std::vector<int>{0, 1}));
}

TEST(Report, exit_code_is_that_of_the_worst_finding) {
  EXPECT_EQ(exit_code_of({{"here", "", {kGood}}}), 0);
  EXPECT_EQ(exit_code_of({{"here", "", {kGood, kFew}}}), 1);
  EXPECT_EQ(exit_code_of(two_nodes()), 2);
}

TEST(Report, travels_as_bytes_whatever_is_in_it) {
  NodeReport report = two_nodes()[1];
  report.findings[0].seen = "a \"quote\", a \n newline and \t";
  const NodeReport back = from_bytes(to_bytes(report));
  EXPECT_EQ(back.host, report.host);
  EXPECT_EQ(back.ranks, report.ranks);
  EXPECT_EQ(back.findings, report.findings);
}

TEST(Report, that_is_no_report_is_an_error_and_not_a_crash) {
  for (const std::string bytes : {"", "{}", "{\"host\": 3}", "[1, 2"}) {
    const NodeReport report = from_bytes(bytes);
    ASSERT_EQ(report.findings.size(), 1u) << bytes;
    EXPECT_EQ(report.findings[0].severity, Severity::kError) << bytes;
  }
  NodeReport strange = two_nodes()[0];
  strange.findings[0].seen = "\xff\xfe";
  EXPECT_EQ(from_bytes(to_bytes(strange)).findings.size(), 2u);
}

}  // namespace
}  // namespace am::doctor
