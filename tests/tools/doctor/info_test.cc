// splitc-info as people run it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/types/types.h"
#include "tests/am/job/program.h"
#include "tests/support/text.h"

namespace am::doctor {
namespace {

using Json = nlohmann::json;
using ::test::expect_contains;
using test::run;

constexpr const char* kInfo = "tools/doctor/splitc-info";

Json setting_of(const Json& information, const std::string& name) {
  for (const Json& one : information["settings"]) {
    if (one["name"] == name) return one;
  }
  return nullptr;
}

TEST(Info, lists_every_setting_with_its_default) {
  const auto result = run({kInfo, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json all = Json::parse(result.out);
  EXPECT_EQ(all["version"], std::string(kVersion));
  EXPECT_EQ(all["build"], kChecked ? "checked" : "release");
  for (const char* const key : {"commit", "compiler", "flags", "machine", "libfabric"}) {
    EXPECT_NE(all[key], "") << key;
  }
  ASSERT_EQ(all["settings"].size(), settings().size());
  for (const Setting& setting : settings()) {
    const Json one = setting_of(all, std::string(setting.name));
    EXPECT_EQ(one["default"], std::string(setting.default_value)) << setting.name;
    EXPECT_EQ(one["value"], std::string(setting.default_value)) << setting.name;
    EXPECT_EQ(one["unit"], std::string(setting.kind)) << setting.name;
    EXPECT_EQ(one["source"], "default") << setting.name;
  }
}

TEST(Info, says_which_values_come_from_the_environment) {
  const Json all = Json::parse(run({"env", "SPLITC_STALL=7", kInfo, "--json"}).out);
  EXPECT_EQ(setting_of(all, "SPLITC_STALL")["value"], "7");
  EXPECT_EQ(setting_of(all, "SPLITC_STALL")["default"], "30");
  EXPECT_EQ(setting_of(all, "SPLITC_STALL")["source"], "environment");
  const std::string text = run({"env", "SPLITC_STALL=7", kInfo}).out;
  expect_contains(text, {"version    " + std::string(kVersion) + "\n",
                         "SPLITC_STALL=7  (environment; default 30; seconds)\n",
                         "SPLITC_SEGMENT=256M  (default; bytes, with K, M or G)\n"});
}

TEST(Info, keeps_the_secret) {
  for (const char* const form : {"--json", "-h"}) {
    const auto result = run({"env", "SPLITC_SECRET=hush hush hush", kInfo, form});
    EXPECT_EQ(result.out.find("hush"), std::string::npos) << result.out;
  }
  expect_contains(run({"env", "SPLITC_SECRET=hush hush hush", kInfo}).out,
                  {"SPLITC_SECRET=(not shown)  (environment;"});
}

TEST(Info, says_what_a_job_would_refuse) {
  const auto result = run({"env", "SPLITC_STALL=soon", kInfo});
  EXPECT_EQ(result.exit_code, 2);
  expect_contains(result.out, {"would refuse the settings: SPLITC_STALL=soon"});
}

TEST(Info, refuses_options_that_it_does_not_have) {
  EXPECT_EQ(run({kInfo, "-n", "2"}).exit_code, 3);
  EXPECT_TRUE(run({kInfo, "--version"}).out.starts_with("splitc-info (Splitphase) "));
  expect_contains(run({kInfo, "--help"}).out, {"NAME", "SYNOPSIS", "EXIT STATUS"});
}

}  // namespace
}  // namespace am::doctor
