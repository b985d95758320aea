// Memory and limits, from made-up facts.
#include <gtest/gtest.h>

#include "tests/support/text.h"
#include "tools/doctor/checks/checks.h"

namespace am::doctor {
namespace memory_checks_test {

using ::test::expect_contains;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A machine on which everything is in order.
SharedMemoryFacts shared_memory() {
  return {.mounted = true, .bytes = 8 * kGiB, .free_bytes = 8 * kGiB, .segment_bytes = 256 * kMiB};
}
MemoryFacts memory() { return {.segment_bytes = 256 * kMiB, .available_bytes = 16 * kGiB}; }

JobShape here(std::uint32_t processes) {
  return {.processes = processes, .nodes = 1, .near = processes, .here = processes};
}
JobShape spread(std::uint32_t processes, std::uint32_t near) {
  return {.processes = processes, .nodes = processes / near, .near = near, .here = near};
}

TEST(SharedMemory, is_fine_where_memfd_works_however_small_dev_shm_is) {
  SharedMemoryFacts facts = shared_memory();
  facts.bytes = facts.free_bytes = 64 * kMiB;
  const Finding finding = check_shared_memory(facts, here(16));
  EXPECT_EQ(finding.severity, Severity::kRemark);
  expect_contains(finding.seen, {"/dev/shm is 64 MiB", "memfd_create"});
  EXPECT_EQ(finding.measured, "64 MiB free");
}

TEST(SharedMemory, full_dev_shm_is_a_warning_as_other_libraries_need_it) {
  SharedMemoryFacts facts = shared_memory();
  facts.free_bytes = 0;
  const Finding finding = check_shared_memory(facts, here(2));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"full"});
  expect_contains(finding.remedy, {"mount -o remount,size=16G /dev/shm"});
}

TEST(SharedMemory, without_memfd_dev_shm_must_hold_all_segments) {
  SharedMemoryFacts facts = shared_memory();
  facts.memfd_refusal = "Function not implemented";
  facts.bytes = facts.free_bytes = kGiB;
  EXPECT_EQ(check_shared_memory(facts, here(4)).severity, Severity::kWarning);
  const Finding finding = check_shared_memory(facts, here(5));
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"Function not implemented", "/dev/shm is 1 GiB",
                                 "5 segments of 256 MiB (SPLITC_SEGMENT) need 1.2 GiB"});
  expect_contains(finding.remedy, {"size=2G"});
}

TEST(SharedMemory, without_memfd_and_dev_shm_there_is_none) {
  SharedMemoryFacts facts = shared_memory();
  facts.memfd_refusal = "Operation not permitted";
  facts.mounted = false;
  EXPECT_EQ(check_shared_memory(facts, {}).severity, Severity::kError);
}

TEST(SharedMemory, without_proc_no_job_starts) {
  SharedMemoryFacts facts = shared_memory();
  facts.node_refusal = "shmem: cannot tell this node from others: /proc is not readable";
  const Finding finding = check_shared_memory(facts, here(2));
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"/proc is not readable"});
}

TEST(SharedMemory, segment_that_could_not_be_made_is_an_error_with_its_sentence) {
  SharedMemoryFacts facts = shared_memory();
  facts.region_refusal = "shmem: cannot map a segment";
  const Finding finding = check_shared_memory(facts, {});
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"shmem: cannot map a segment"});
}

TEST(Memory, less_than_all_segments_is_a_warning) {
  MemoryFacts facts = memory();
  EXPECT_EQ(check_memory(facts, here(64)).severity, Severity::kRemark);
  const Finding finding = check_memory(facts, here(65));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"65 segments of 256 MiB"});
  EXPECT_EQ(finding.measured, "16 GiB available");
}

TEST(Memory, limit_of_the_cgroup_counts_where_it_is_less) {
  MemoryFacts facts = memory();
  facts.cgroup_bytes = 300 * kMiB;
  const Finding finding = check_memory(facts, here(2));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_EQ(finding.measured, "300 MiB left by the cgroup's limit");
}

TEST(Memory, strict_overcommit_without_room_is_an_error) {
  MemoryFacts facts = memory();
  facts.commit_bytes = 100 * kMiB;
  EXPECT_EQ(check_memory(facts, here(1)).severity, Severity::kError);
  facts.commit_bytes = kGiB;
  EXPECT_EQ(check_memory(facts, here(4)).severity, Severity::kRemark);
}

TEST(MemoryLimits, of_files_and_addresses_are_errors_where_segments_exceed_them) {
  MemoryFacts facts = memory();
  EXPECT_EQ(check_memory_limits(facts, here(8)).severity, Severity::kRemark);
  facts.file_bytes = kMiB;
  EXPECT_EQ(check_memory_limits(facts, here(1)).severity, Severity::kError);
  facts = memory();
  facts.address_space_bytes = kGiB;
  EXPECT_EQ(check_memory_limits(facts, here(4)).severity, Severity::kRemark);
  EXPECT_EQ(check_memory_limits(facts, here(5)).severity, Severity::kError);
  // Of another machine nothing is mapped.
  EXPECT_EQ(check_memory_limits(facts, spread(40, 4)).severity, Severity::kRemark);
}

TEST(Memlock, of_nothing_is_an_error_for_hardware_alone) {
  MemlockFacts facts{.provider = "verbs;ofi_rxm", .hardware = true, .segment_bytes = kGiB};
  const Finding finding = check_memlock(facts);
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"0 bytes may be locked", "verbs;ofi_rxm", "1 GiB"});
  expect_contains(finding.remedy, {"limits.conf"});
  facts.hard_bytes = kGiB;
  EXPECT_EQ(check_memlock(facts).remedy, "ulimit -l unlimited");
  facts.privileged = true;
  EXPECT_EQ(check_memlock(facts).severity, Severity::kRemark);
  facts = {.provider = "tcp", .segment_bytes = kGiB};
  EXPECT_EQ(check_memlock(facts).severity, Severity::kRemark);
  expect_contains(check_memlock(facts).means, {"tcp pins no memory"});
}

TEST(Memory, that_nobody_tells_is_not_taken_for_none) {
  MemoryFacts facts = memory();
  facts.available_bytes = std::nullopt;
  EXPECT_EQ(check_memory(facts, here(4)).severity, Severity::kRemark);
  expect_contains(check_memory(facts, here(4)).means, {"not known"});
  facts.cgroup_bytes = 512 * kMiB;
  EXPECT_EQ(check_memory(facts, here(4)).severity, Severity::kWarning);
  EXPECT_EQ(check_memory(facts, here(2)).severity, Severity::kRemark);
}

TEST(OpenFiles, too_few_for_all_far_processes_are_a_warning) {
  const OpenFilesFacts facts{.soft = 100, .hard = 1024, .open = 4};
  EXPECT_EQ(check_open_files(facts, {}).severity, Severity::kRemark);
  EXPECT_EQ(check_open_files(facts, here(2000)).severity, Severity::kRemark);
  EXPECT_EQ(check_open_files(facts, spread(960, 4)).severity, Severity::kRemark);
  const Finding finding = check_open_files(facts, spread(964, 4));
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"1024 files", "960 processes"});
}

TEST(OpenFiles, hardly_any_are_an_error) {
  EXPECT_EQ(check_open_files({.soft = 16, .hard = 16, .open = 4}, {}).severity, Severity::kError);
}

TEST(Leftovers, of_dead_processes_are_named_and_those_in_use_are_not) {
  LeftoverFacts facts{.listed = true, .others = 3};
  facts.files = {{.name = "10:0:0", .bytes = kMiB, .pid = 10, .in_use = true}};
  EXPECT_EQ(check_leftovers(facts).severity, Severity::kRemark);
  facts.files.push_back({.name = "11:0:0", .bytes = 2 * kMiB, .pid = 11});
  facts.files.push_back({.name = "12:0:0", .bytes = 2 * kMiB, .pid = 12});
  const Finding finding = check_leftovers(facts);
  EXPECT_EQ(finding.severity, Severity::kWarning);
  expect_contains(finding.seen, {"2 files of 4 MiB"});
  EXPECT_EQ(finding.remedy, "rm /dev/shm/11:0:0 /dev/shm/12:0:0");
}

TEST(Leftovers, that_are_many_are_counted) {
  LeftoverFacts facts{.listed = true};
  for (int i = 0; i < 20; ++i) {
    facts.files.push_back({.name = std::to_string(i) + ":0:0", .pid = i});
  }
  const Finding finding = check_leftovers(facts);
  expect_contains(finding.seen, {"20 files"});
  expect_contains(finding.remedy, {"and 12 more"});
}

}  // namespace memory_checks_test
}  // namespace am::doctor
