// Processors, what the kernel allows, and how jobs start, from made-up facts.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/text.h"
#include "tools/doctor/checks/checks.h"

namespace am::doctor {
namespace {

using ::test::expect_contains;

JobShape here(std::uint32_t processes) {
  return {.processes = processes, .nodes = 1, .near = processes, .here = processes};
}

CoresFacts machine(std::uint32_t cores) {
  CoresFacts facts{.online = cores};
  for (std::uint32_t i = 0; i < cores; ++i) facts.allowed.push_back(static_cast<int>(i));
  return facts;
}

TEST(Cores, fewer_than_processes_are_a_warning) {
  EXPECT_EQ(check_cores(machine(2), {}).severity, Severity::kRemark);
  EXPECT_EQ(check_cores(machine(2), here(2)).severity, Severity::kRemark);
  const Finding finding = check_cores(machine(2), here(16));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.seen, "16 processes on 2 processors (0,1)");
  expect_contains(finding.remedy, {"at most -n 2 here"});
}

TEST(Cores, that_spin_say_which_variable_makes_them) {
  CoresFacts facts = machine(2);
  facts.spins = true;
  expect_contains(check_cores(facts, here(3)).remedy, {"unset SPLITC_WAIT"});
}

TEST(Cores, taken_by_a_mask_are_counted_out) {
  CoresFacts facts = machine(8);
  facts.allowed = {3};
  const Finding finding = check_cores(facts, here(2));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"2 processes on 1 processor (3) of 8"});
  expect_contains(finding.remedy, {"taskset"});
}

TEST(Quota, below_the_processors_is_a_warning_unless_processes_are_as_few) {
  CoresFacts facts = machine(8);
  EXPECT_EQ(check_quota(facts, here(8)).severity, Severity::kRemark);
  facts.quota = 2;
  EXPECT_EQ(check_quota(facts, {}).severity, Severity::kWarning);
  EXPECT_EQ(check_quota(facts, here(2)).severity, Severity::kRemark);
  EXPECT_EQ(check_quota(facts, here(4)).severity, Severity::kWarning);
  expect_contains(check_cores(facts, here(4)).seen, {"the cgroup gives the time of 2"});
}

TEST(Placement, of_two_on_one_processor_while_others_are_idle_is_a_warning) {
  CoresFacts facts = machine(4);
  facts.ranks = {0, 1};
  facts.bound = {{0}, {1}};
  facts.allowed = {0, 1};
  EXPECT_EQ(check_placement(facts, here(2)).severity, Severity::kRemark);
  facts.bound = {{2}, {2}};
  facts.allowed = {2};
  const Finding finding = check_placement(facts, here(2));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"ranks 0,1 are bound to processor 2"});
}

TEST(Placement, of_three_of_which_two_share_is_a_warning_where_a_third_processor_is_used) {
  CoresFacts facts = machine(3);
  facts.ranks = {4, 5, 6};
  facts.bound = {{0}, {0}, {1, 2}};
  expect_contains(check_placement(facts, here(3)).seen, {"ranks 4,5 are all bound to processor 0"});
  facts.bound = {{0}, {1}, {0, 1, 2}};
  EXPECT_EQ(check_placement(facts, here(3)).severity, Severity::kRemark);
}

TEST(CrossMemory, refused_names_the_security_module_that_is_on) {
  CrossMemoryFacts facts{.tried = true};
  EXPECT_EQ(check_cross_memory(facts).severity, Severity::kRemark);
  facts.error = EPERM;
  EXPECT_EQ(check_cross_memory(facts).severity, Severity::kWarning);
  expect_contains(check_cross_memory(facts).remedy, {"SYS_PTRACE"});
  facts.ptrace_scope = 1;
  expect_contains(check_cross_memory(facts).remedy, {"sysctl kernel.yama.ptrace_scope=0"});
  facts.ptrace_scope = 0;
  expect_contains(check_cross_memory(facts).remedy, {"SYS_PTRACE"});
}

TEST(CrossMemory, switched_off_or_not_tried_is_said) {
  expect_contains(check_cross_memory({.wanted = false}).seen, {"SPLITC_CROSS_MEMORY=off"});
  EXPECT_EQ(check_cross_memory({.tried = false}).severity, Severity::kWarning);
}

TEST(Userfault, refused_matters_to_hardware) {
  EXPECT_EQ(check_userfault({}).severity, Severity::kRemark);
  EXPECT_EQ(check_userfault({.refusal = "no"}).severity, Severity::kRemark);
  EXPECT_EQ(check_userfault({.refusal = "no", .hardware = true}).severity, Severity::kWarning);
}

TEST(Membarrier, refused_is_a_warning) {
  EXPECT_EQ(check_membarrier({.enrolled = true}).severity, Severity::kRemark);
  EXPECT_EQ(check_membarrier({.enrolled = false}).severity, Severity::kWarning);
}

TEST(Clock, that_is_slow_by_name_or_by_time_is_a_warning) {
  EXPECT_EQ(check_clock({.source = "tsc", .read_ns = 25}).severity, Severity::kRemark);
  EXPECT_EQ(check_clock({.source = "kvm-clock", .read_ns = 40}).severity, Severity::kRemark);
  EXPECT_EQ(check_clock({.source = "kvm-clock", .read_ns = 2000}).severity, Severity::kWarning);
  const Finding finding =
      check_clock({.source = "hpet", .available = {"tsc", "hpet"}, .read_ns = 900});
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.remedy, {"echo tsc > "});
}

TEST(Launchers, none_is_a_warning_unless_splitcrun_lies_beside) {
  LaunchersFacts facts;
  facts.programs = {{"splitcrun", ""}, {"mpirun", ""}};
  EXPECT_EQ(check_launchers(facts).severity, Severity::kWarning);
  facts.splitcrun_beside = "/opt/bin/splitcrun";
  EXPECT_EQ(check_launchers(facts).severity, Severity::kRemark);
  facts.programs = {{"splitcrun", ""}, {"mpirun", "/usr/bin/mpirun"}};
  expect_contains(check_launchers(facts).seen,
                  {"in PATH: /usr/bin/mpirun", "not there: splitcrun"});
}

TEST(Pmix, missing_matters_where_a_launcher_needs_it) {
  LaunchersFacts facts{.pmix_refusal = "no such file"};
  facts.programs = {{"mpiexec.hydra", "/usr/bin/mpiexec.hydra"}};
  EXPECT_EQ(check_pmix(facts).severity, Severity::kRemark);
  facts.programs.push_back({"srun", "/usr/bin/srun"});
  EXPECT_EQ(check_pmix(facts).severity, Severity::kWarning);
  expect_contains(check_pmix(facts).remedy, {"apt install libpmix2"});
  facts.pmix_refusal = "";
  EXPECT_EQ(check_pmix(facts).severity, Severity::kRemark);
}

TEST(Sodium, missing_is_an_error_where_settings_need_it) {
  LaunchersFacts facts{.sodium_refusal = "no such file"};
  EXPECT_EQ(check_sodium(facts).severity, Severity::kRemark);
  facts.sodium_needed = true;
  EXPECT_EQ(check_sodium(facts).severity, Severity::kError);
}

TEST(Settings, refused_are_an_error_with_the_sentence) {
  EXPECT_EQ(check_settings({}).severity, Severity::kRemark);
  const Finding finding = check_settings({.refusal = "SPLITC_WAIT=x: not a way to wait"});
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_EQ(finding.seen, "SPLITC_WAIT=x: not a way to wait");
}

TEST(Size, of_a_node_has_a_limit) {
  EXPECT_EQ(check_size({}).severity, Severity::kRemark);
  EXPECT_EQ(check_size(here(1024)).severity, Severity::kRemark);
  EXPECT_EQ(check_size(here(1025)).severity, Severity::kWarning);
}

TEST(Start, is_a_finding_only_in_a_job) {
  EXPECT_TRUE(check_start({}, {}).empty());
  const auto failed = check_start({.tried = true, .error = "rank 1: Job: no"}, {});
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].severity, Severity::kError);
  const auto started = check_start({.tried = true, .launcher = "splitcrun"}, here(2));
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].seen, "a job of 2 processes on 1 node has started, by splitcrun");
}

}  // namespace
}  // namespace am::doctor
