#include "am/job/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace am {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// The environment holds just these SPLITC_ variables while the object lives.
class Environment {
 public:
  explicit Environment(Variables variables) : variables_(std::move(variables)) {
    for (const Setting& setting : settings()) unsetenv(std::string(setting.name).c_str());
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }

 private:
  Variables variables_;
};

Config config_with(Variables variables) {
  const Environment environment(std::move(variables));
  return read_config();
}

void expect_refused(Variables variables, std::initializer_list<std::string> parts) {
  const Environment environment(std::move(variables));
  try {
    read_config();
    FAIL() << "not refused; expected: " << *parts.begin();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    for (const std::string& part : parts) {
      EXPECT_NE(sentence.find(part), std::string::npos) << "no \"" << part << "\" in: " << sentence;
    }
  }
}

TEST(Config, bare_program_has_the_defaults_and_is_alone) {
  const Config config = config_with({});
  EXPECT_EQ(config.segment_bytes, std::uint64_t{256} << 20);
  EXPECT_FALSE(config.verbose);
  EXPECT_EQ(config.wait, WaitPolicy::kAuto);
  EXPECT_EQ(config.provider, "");
  EXPECT_EQ(config.interface, "");
  EXPECT_EQ(config.rank, 0u);
  EXPECT_EQ(config.size, 1u);
  EXPECT_EQ(config.job_fd, -1);
  EXPECT_EQ(config.node, -1);
}

TEST(Config, segment_takes_suffixes_in_either_case) {
  const auto segment = [](const char* text) {
    return config_with({{"SPLITC_SEGMENT", text}}).segment_bytes;
  };
  EXPECT_EQ(segment("1048576"), 1u << 20);
  EXPECT_EQ(segment("64K"), 64u << 10);
  EXPECT_EQ(segment("3m"), 3u << 20);
  EXPECT_EQ(segment("1024G"), std::uint64_t{1} << 40);
  EXPECT_EQ(segment("65537"), 17u * 4096) << "rounded up to whole pages";
}

TEST(Config, nonsense_segments_are_refused_with_value_and_remedy) {
  for (const char* text :
       {"banana", "", "M", "-1", "1.5G", "12MB", " 1M", "99999999999999999999", "17179869184G"}) {
    expect_refused({{"SPLITC_SEGMENT", text}},
                   {std::string("SPLITC_SEGMENT=") + text + ":", "not a number of bytes", "256M"});
  }
  expect_refused({{"SPLITC_SEGMENT", "0"}}, {"SPLITC_SEGMENT=0:", "less than 64K"});
  expect_refused({{"SPLITC_SEGMENT", "1025G"}}, {"SPLITC_SEGMENT=1025G:", "more than 1024G"});
}

TEST(Config, switches_and_words_are_checked) {
  EXPECT_TRUE(config_with({{"SPLITC_VERBOSE", "1"}}).verbose);
  expect_refused({{"SPLITC_VERBOSE", "yes"}}, {"SPLITC_VERBOSE=yes", "0 or 1"});
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "spin"}}).wait, WaitPolicy::kSpin);
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "yield"}}).wait, WaitPolicy::kYield);
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "block"}}).wait, WaitPolicy::kBlock);
  expect_refused({{"SPLITC_WAIT", "sleep"}}, {"SPLITC_WAIT=sleep", "auto, spin, yield or block"});
}

TEST(Config, unknown_variables_are_refused_with_what_was_meant) {
  expect_refused({{"SPLITC_SEGMENTS", "1G"}}, {"SPLITC_SEGMENTS=1G", "mean SPLITC_SEGMENT?"});
  expect_refused({{"SPLITC_WIAT", ""}}, {"SPLITC_WIAT=:", "mean SPLITC_WAIT?"});
  expect_refused({{"SPLITC_verbose", "1"}}, {"SPLITC_verbose=1", "--help-env"});
  expect_refused({{"SPLITC_NUMBER_OF_THINGS", "1"}}, {"no such variable", "--help-env"});
}

TEST(Config, closest_setting_never_names_an_internal_one) {
  EXPECT_EQ(closest_setting("SPLITC_RANKS"), "");
  EXPECT_EQ(closest_setting("SPLITC_VERBOS"), "SPLITC_VERBOSE");
}

TEST(Config, takes_what_a_launcher_says) {
  const Config config =
      config_with({{"SPLITC_RANK", "3"}, {"SPLITC_SIZE", "4"}, {"SPLITC_JOB_FD", "7"}});
  EXPECT_EQ(config.rank, 3u);
  EXPECT_EQ(config.size, 4u);
  EXPECT_EQ(config.job_fd, 7);
}

TEST(Config, provider_and_interface_are_taken_as_they_are) {
  const Config config =
      config_with({{"SPLITC_PROVIDER", "tcp;ofi_rxm"}, {"SPLITC_INTERFACE", "eth0"}});
  EXPECT_EQ(config.provider, "tcp;ofi_rxm");
  EXPECT_EQ(config.interface, "eth0");
}

TEST(Config, pretended_node_comes_with_and_without_a_launcher) {
  EXPECT_EQ(config_with({{"SPLITC_NODE", "3"}}).node, 3);
  const Config config = config_with(
      {{"SPLITC_RANK", "0"}, {"SPLITC_SIZE", "2"}, {"SPLITC_JOB_FD", "7"}, {"SPLITC_NODE", "1"}});
  EXPECT_EQ(config.node, 1);
  EXPECT_EQ(config.size, 2u);
  expect_refused({{"SPLITC_NODE", "-1"}}, {"SPLITC_NODE=-1", "not a number"});
}

TEST(Config, half_a_launcher_is_refused) {
  expect_refused({{"SPLITC_RANK", "0"}},
                 {"by a launcher: SPLITC_RANK", "not: SPLITC_SIZE SPLITC_JOB_FD", "splitcrun"});
  expect_refused({{"SPLITC_SIZE", "2"}, {"SPLITC_JOB_FD", "3"}}, {"not: SPLITC_RANK"});
}

TEST(Config, rank_must_be_below_size) {
  expect_refused({{"SPLITC_RANK", "4"}, {"SPLITC_SIZE", "4"}, {"SPLITC_JOB_FD", "7"}},
                 {"SPLITC_RANK=4", "0 to 3"});
  expect_refused({{"SPLITC_RANK", "0"}, {"SPLITC_SIZE", "0"}, {"SPLITC_JOB_FD", "7"}},
                 {"SPLITC_SIZE=0"});
  expect_refused({{"SPLITC_RANK", "0"}, {"SPLITC_SIZE", "1"}, {"SPLITC_JOB_FD", "-1"}},
                 {"SPLITC_JOB_FD=-1"});
}

TEST(Config, table_for_people_has_every_variable_that_is_theirs) {
  const std::string text = describe_settings();
  std::set<std::string_view> names;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " twice";
    EXPECT_FALSE(setting.sentence.empty());
    EXPECT_EQ(text.find(setting.name) != std::string::npos, !setting.internal) << setting.name;
  }
}

}  // namespace
}  // namespace am
