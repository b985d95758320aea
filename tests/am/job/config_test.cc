#include "am/job/config/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "am/collective/limits.h"
#include "am/job/config/variables.h"

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
  EXPECT_TRUE(config.rma);
  EXPECT_TRUE(config.learn);
  EXPECT_TRUE(config.cross_memory);
  EXPECT_TRUE(config.crash_report);
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

TEST(Config, limits_of_collective_calls_are_read_from_a_text_or_a_file) {
  const schedule::Limits some =
      config_with({{"SPLITC_COLLECTIVES", "broadcast_tree=64K,scan_chain=3"}}).limits;
  EXPECT_EQ(some.broadcast_tree, 65536u);
  EXPECT_EQ(some.scan_chain, 3u);
  EXPECT_EQ(some.reduce_tree, schedule::Limits().reduce_tree);
  schedule::Limits all;
  std::uint64_t value = 1000;
  for (const schedule::Limit& limit : schedule::kLimits) all.*limit.value = value += 1000;
  EXPECT_EQ(config_with({{"SPLITC_COLLECTIVES", ::am::text_of(all)}}).limits, all);
  const std::string file = testing::TempDir() + "/limits-" + std::to_string(getpid());
  std::ofstream(file) << "broadcast_tree=64K\nscan_chain=3\n";
  EXPECT_EQ(config_with({{"SPLITC_COLLECTIVES", file}}).limits, some);
  std::remove(file.c_str());

  for (const std::string wrong :
       {"broadcast_tree", "tree=5", "scan_chain=many", "=", "scan_chain="}) {
    expect_refused(
        {{"SPLITC_COLLECTIVES", "gather_tree=1K," + wrong}},
        {"SPLITC_COLLECTIVES=gather_tree=1K," + wrong + ": \"" + wrong + "\" is no limit",
         "broadcast_tree, reduce_tree"});
  }
  expect_refused({{"SPLITC_COLLECTIVES", "./no_such_file"}},
                 {"SPLITC_COLLECTIVES=./no_such_file: that file cannot be read"});
}

TEST(Config, switches_and_words_are_checked) {
  EXPECT_TRUE(config_with({{"SPLITC_VERBOSE", "1"}}).verbose);
  expect_refused({{"SPLITC_VERBOSE", "yes"}}, {"SPLITC_VERBOSE=yes", "0 or 1"});
  EXPECT_EQ(config_with({{"SPLITC_STATS", "1"}}).statistics, StatisticsForm::kText);
  EXPECT_EQ(config_with({{"SPLITC_STATS", "json"}}).statistics, StatisticsForm::kJson);
  EXPECT_TRUE(config_with({{"SPLITC_PROGRESS", "thread"}}).progress_thread);
  EXPECT_FALSE(config_with({{"SPLITC_PROGRESS", "poll"}}).progress_thread);
  expect_refused({{"SPLITC_PROGRESS", "Thread"}}, {"SPLITC_PROGRESS=Thread", "poll or thread"});
  expect_refused({{"SPLITC_PROGRESS", "thread"}, {"SPLITC_LINK", "datagram"}},
                 {"SPLITC_PROGRESS=thread", "datagrams", "SPLITC_LINK=fabric"});
  EXPECT_FALSE(config_with({{"SPLITC_RMA", "0"}}).rma);
  EXPECT_FALSE(config_with({{"SPLITC_LEARN", "0"}}).learn);
  EXPECT_FALSE(config_with({{"SPLITC_CROSS_MEMORY", "off"}}).cross_memory);
  EXPECT_FALSE(config_with({{"SPLITC_HUGE_PAGES", "0"}}).huge_pages);
  EXPECT_FALSE(config_with({{"SPLITC_CRASH_REPORT", "0"}}).crash_report);
  EXPECT_TRUE(config_with({{"SPLITC_SURVIVE", "1"}}).survive);
  expect_refused({{"SPLITC_RMA", "off"}}, {"SPLITC_RMA=off", "0 or 1"});
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "spin"}}).wait, WaitPolicy::kSpin);
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "yield"}}).wait, WaitPolicy::kYield);
  EXPECT_EQ(config_with({{"SPLITC_WAIT", "block"}}).wait, WaitPolicy::kBlock);
  expect_refused({{"SPLITC_WAIT", "sleep"}}, {"SPLITC_WAIT=sleep", "auto, spin, yield or block"});
}

TEST(Config, a_trace_has_a_file_and_so_much_memory) {
  EXPECT_EQ(config_with({}).trace, "");
  EXPECT_EQ(config_with({}).trace_bytes, 64u << 20);
  EXPECT_EQ(config_with({{"SPLITC_TRACE", "a b.json"}}).trace, "a b.json");
  EXPECT_EQ(config_with({{"SPLITC_TRACE_MEMORY", "512M"}}).trace_bytes, 512u << 20);
  for (const char* const text : {"31K", "65G", "much", ""}) {
    expect_refused({{"SPLITC_TRACE_MEMORY", text}},
                   {std::string("SPLITC_TRACE_MEMORY=") + text + ":", "32K to 64G", "64M"});
  }
  expect_refused({{"SPLITC_TRACE", "t"}, {"SPLITC_SURVIVE", "1"}},
                 {"SPLITC_TRACE=t:", "takes all processes", "unset it"});
}

TEST(Config, the_link_is_one_of_two) {
  EXPECT_EQ(config_with({}).link, LinkChoice::kFabric);
  EXPECT_EQ(config_with({{"SPLITC_LINK", "fabric"}}).link, LinkChoice::kFabric);
  EXPECT_EQ(config_with({{"SPLITC_LINK", "datagram"}}).link, LinkChoice::kDatagram);
  expect_refused({{"SPLITC_LINK", "udp"}}, {"SPLITC_LINK=udp", "fabric or datagram"});
}

TEST(Config, a_way_says_how_accesses_travel) {
  EXPECT_EQ(config_with({}).way, Way::kUsual);
  const auto with = [](const char* way) { return config_with({{"SPLITC_WAY", way}}); };
  EXPECT_EQ(with("messages").way, Way::kMessages);
  EXPECT_FALSE(with("messages").rma);
  EXPECT_EQ(with("specialised").way, Way::kSpecialised);
  EXPECT_FALSE(with("specialised").rma);
  EXPECT_EQ(with("specialised").link, LinkChoice::kFabric);
  EXPECT_EQ(with("datagram").link, LinkChoice::kDatagram);
  EXPECT_EQ(with("memory").way, Way::kMemory);
  EXPECT_TRUE(with("memory").rma);
  expect_refused({{"SPLITC_WAY", "udp"}}, {"SPLITC_WAY=udp", "messages, specialised, datagram or"});
  expect_refused({{"SPLITC_WAY", "messages"}, {"SPLITC_LINK", "datagram"}},
                 {"SPLITC_WAY=messages", "SPLITC_LINK", "unset those"});
}

TEST(Config, faults_are_read_part_by_part) {
  EXPECT_FALSE(config_with({}).faults.any());
  const link::FaultPlan plan =
      config_with({{"SPLITC_LINK", "datagram"},
                   {"SPLITC_FAULT", "drop:5,dup=0.5,reorder:100,delay:200,corrupt:1,seed=7"}})
          .faults;
  EXPECT_EQ(plan.drop, 50'000U);
  EXPECT_EQ(plan.dup, 5'000U);
  EXPECT_EQ(plan.reorder, 1'000'000U);
  EXPECT_EQ(plan.corrupt, 10'000U);
  EXPECT_EQ(plan.delay_ns, 200'000);
  EXPECT_EQ(plan.seed, 7U);
}

TEST(Config, faults_that_make_no_sense_are_refused_part_by_part) {
  const auto refused = [](const char* text, const char* part, const char* cause) {
    expect_refused({{"SPLITC_LINK", "datagram"}, {"SPLITC_FAULT", text}},
                   {std::string("SPLITC_FAULT=") + text, part, cause, "drop:5,dup:2"});
  };
  refused("drop:5,lose:3", "lose:3", "there are drop, dup, reorder, delay, corrupt and seed");
  refused("drop:101", "drop:101", "no percentage");
  refused("dup:-1", "dup:-1", "no percentage");
  refused("reorder:x", "reorder:x", "no percentage");
  refused("corrupt:nan", "corrupt:nan", "no percentage");
  refused("delay:2000000", "delay:2000000", "microseconds");
  refused("seed:1.5", "seed:1.5", "whole number");
  refused("drop", "drop", "no name and value");
  refused("drop:5,", "", "no name and value");
  expect_refused({{"SPLITC_FAULT", "drop:5"}},
                 {"SPLITC_FAULT=drop:5", "a reliable network", "SPLITC_LINK=datagram"});
  expect_refused({{"SPLITC_FAULT", "delay:50"}}, {"SPLITC_FAULT=delay:50", "a reliable network"});
}

TEST(Config, unknown_variables_are_refused_with_what_was_meant) {
  expect_refused({{"SPLITC_SEGMENTS", "1G"}}, {"SPLITC_SEGMENTS=1G", "mean SPLITC_SEGMENT?"});
  expect_refused({{"SPLITC_WIAT", ""}}, {"SPLITC_WIAT=:", "mean SPLITC_WAIT?"});
  expect_refused({{"SPLITC_verbose", "1"}}, {"SPLITC_verbose=1", "--help-env"});
}

TEST(Config, unknown_variables_that_resemble_none_are_refused_with_those_there_are) {
  for (const char* name : {"SPLITC_FOO", "SPLITC_NUMBER_OF_THINGS", "SPLITC_", "SPLITC_X"}) {
    expect_refused({{name, "1"}}, {std::string(name) + "=1: no such variable; there are",
                                   "SPLITC_SEGMENT, SPLITC_WAIT,", "--help-env"});
  }
}

TEST(Config, values_that_may_be_secret_are_not_repeated) {
  for (const char* name : {"SPLITC_SECRT", "SPLITC_SECRETS", "SPLITC_MY_OWN_SECRET"}) {
    const Environment environment(Variables{{name, "tell-no-one"}});
    try {
      read_config();
      FAIL() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("tell-no"), std::string::npos) << error.what();
    }
  }
}

TEST(Config, closest_setting_never_names_an_internal_one) {
  EXPECT_EQ(closest_setting("SPLITC_JOB_FDS"), "");
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

TEST(Config, variables_that_belong_together_are_not_set_alone) {
  expect_refused({{"SPLITC_RANK", "0"}},
                 {"set: SPLITC_RANK, but not: SPLITC_SIZE SPLITC_RENDEZVOUS", "splitcrun"});
  expect_refused({{"SPLITC_SIZE", "2"}, {"SPLITC_JOB_FD", "3"}},
                 {"set: SPLITC_SIZE SPLITC_JOB_FD", "not: SPLITC_RANK"});
  expect_refused({{"SPLITC_RENDEZVOUS", "here:1"}, {"SPLITC_RANK", "0"}},
                 {"but not: SPLITC_SIZE SPLITC_SECRET", "all four"});
}

TEST(Config, rank_must_be_below_size) {
  expect_refused({{"SPLITC_RANK", "4"}, {"SPLITC_SIZE", "4"}, {"SPLITC_JOB_FD", "7"}},
                 {"SPLITC_RANK=4", "0 to 3"});
  expect_refused({{"SPLITC_RANK", "0"}, {"SPLITC_SIZE", "0"}, {"SPLITC_JOB_FD", "7"}},
                 {"SPLITC_SIZE=0"});
  expect_refused({{"SPLITC_RANK", "0"}, {"SPLITC_SIZE", "1"}, {"SPLITC_JOB_FD", "-1"}},
                 {"SPLITC_JOB_FD=-1"});
}

Variables rendezvous_at(const char* place, const char* secret = "a long random word") {
  return {{"SPLITC_RANK", "1"},
          {"SPLITC_SIZE", "3"},
          {"SPLITC_RENDEZVOUS", place},
          {"SPLITC_SECRET", secret}};
}

TEST(Config, rendezvous_is_a_host_and_a_port) {
  const Config named = config_with(rendezvous_at("node7:4711"));
  EXPECT_EQ(named.rank, 1u);
  EXPECT_EQ(named.size, 3u);
  EXPECT_EQ(named.job_fd, -1);
  ASSERT_TRUE(named.rendezvous);
  EXPECT_EQ(named.rendezvous->host, "node7");
  EXPECT_EQ(named.rendezvous->port, "4711");
  EXPECT_EQ(named.rendezvous->secret, "a long random word");
  EXPECT_EQ(config_with(rendezvous_at("[2001:db8::7]:80")).rendezvous->host, "2001:db8::7");
}

TEST(Config, places_that_are_none_are_refused) {
  expect_refused(rendezvous_at("node7"), {"SPLITC_RENDEZVOUS=node7: no port", "host:port"});
  expect_refused(rendezvous_at(""), {"no port"});
  expect_refused(rendezvous_at(":4711"), {"no host"});
  expect_refused(rendezvous_at("node7:"), {"1 to 65535"});
  expect_refused(rendezvous_at("node7:0"), {"1 to 65535"});
  expect_refused(rendezvous_at("node7:65536"), {"1 to 65535"});
  expect_refused(rendezvous_at("node7:http"), {"1 to 65535"});
  expect_refused(rendezvous_at("2001:db8::7:80"), {"brackets"});
}

TEST(Config, secret_must_be_long_and_is_never_told) {
  const Environment environment(rendezvous_at("node7:4711", "tell-no"));
  try {
    read_config();
    FAIL() << "not refused";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find("SPLITC_SECRET: shorter than 8"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("tell-no"), std::string::npos) << sentence;
  }
}

TEST(Config, splitcrun_goes_before_a_rendezvous) {
  Variables variables = rendezvous_at("not even a place");
  variables.emplace_back("SPLITC_JOB_FD", "7");
  const Config config = config_with(variables);
  EXPECT_EQ(config.job_fd, 7);
  EXPECT_FALSE(config.rendezvous);
}

TEST(Config, knows_other_launchers_by_their_variables) {
  EXPECT_FALSE(config_with({{"PMIX_RANK", "1"}}).pmix);
  EXPECT_TRUE(config_with({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "job"}}).pmix);
  const Variables pmi = {{"PMI_FD", "5"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
  const Config config = config_with(pmi);
  ASSERT_TRUE(config.pmi);
  EXPECT_EQ(config.pmi->fd, 5);
  EXPECT_EQ(config.pmi->rank, 1u);
  EXPECT_EQ(config.pmi->size, 2u);
  EXPECT_EQ(config.stranger, "");
  expect_refused({{"PMI_FD", "x"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, {"PMI_FD=x"});
  expect_refused({{"PMI_FD", "5"}, {"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}, {"PMI_RANK=2"});
}

// The launcher that was started by the other is the one that has started this process.
TEST(Config, of_two_launchers_hydra_counts_where_its_socket_is_open) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Variables both = {{"PMIX_RANK", "0"},
                          {"PMIX_NAMESPACE", "job"},
                          {"PMI_FD", std::to_string(ends[0])},
                          {"PMI_RANK", "1"},
                          {"PMI_SIZE", "3"}};
  const Config hydra_within = config_with(both);
  EXPECT_FALSE(hydra_within.pmix);
  EXPECT_TRUE(hydra_within.pmi);
  for (const int end : ends) close(end);
  const Config hydra_around = config_with(both);
  EXPECT_TRUE(hydra_around.pmix);
  EXPECT_FALSE(hydra_around.pmi);
}

TEST(Config, launchers_that_say_nothing_are_strangers_unless_they_start_one_process) {
  const std::string slurm = config_with({{"SLURM_STEP_NUM_TASKS", "4"}}).stranger;
  EXPECT_NE(slurm.find("srun --mpi=pmix"), std::string::npos) << slurm;
  EXPECT_EQ(config_with({{"SLURM_STEP_NUM_TASKS", "1"}}).stranger, "");
  EXPECT_EQ(config_with({{"SLURM_JOB_ID", "4"}, {"SLURM_NTASKS", "4"}}).stranger, "");
  const std::string pmi = config_with({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).stranger;
  EXPECT_NE(pmi.find("-pmi-port"), std::string::npos) << pmi;
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
