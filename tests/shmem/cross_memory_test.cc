#include "shmem/cross_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "shmem/region.h"
#include "tests/shmem/in_child.h"

namespace shmem {
namespace {

using test::in_child;
using test::refuse_system_call;

std::uint64_t known_word = CrossMemory::kKnownWord;
std::uint64_t other_word = 1;

std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

// In these tests a child reaches into its parent: a parent is what outlives it for certain.
std::string probe_of_parent(const std::uint64_t& word) {
  return in_child([&] {
    const bool works = CrossMemory::works_with(getppid(), address_of(&word));
    return std::string(works ? "works" : "does not");
  });
}

#define REQUIRE_REACH()                       \
  if (probe_of_parent(known_word) != "works") \
  GTEST_SKIP() << "this system refuses "      \
                  "process_vm_readv"

TEST(CrossMemory, probe_wants_the_known_word) {
  REQUIRE_REACH();
  EXPECT_EQ(probe_of_parent(other_word), "does not");
}

TEST(CrossMemory, reads_and_writes_another_process) {
  REQUIRE_REACH();
  std::vector<std::uint32_t> theirs(1 << 20);
  std::iota(theirs.begin(), theirs.end(), 7u);
  const auto seen = in_child([&] {
    const std::vector<std::uint32_t> copy_at_fork = theirs;
    std::ranges::fill(theirs, 0u);  // the child's own: what it reads must be the parent's
    const CrossMemory parent(getppid());
    parent.read(theirs.data(), address_of(theirs.data()), theirs.size() * 4);
    const std::string same = theirs == copy_at_fork ? "same" : "different";
    const std::uint32_t word = 0xabcd;
    parent.write(address_of(&theirs[5]), &word, sizeof(word));
    return same;
  });
  EXPECT_EQ(seen, "same");
  EXPECT_EQ(theirs[5], 0xabcdu);
  EXPECT_EQ(theirs[6], 13u);
}

TEST(CrossMemory, says_how_far_it_came_where_nothing_is_mapped) {
  REQUIRE_REACH();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  const auto seen = in_child([&] {
    std::vector<char> here(2 * page);
    CrossMemory(getppid()).read(here.data(), address_of(pages), here.size());
    return std::string("no error");
  });
  const std::string copied =
      "copied " + std::to_string(page) + " of " + std::to_string(2 * page) + " bytes";
  EXPECT_NE(seen.find(copied), std::string::npos) << seen;
  EXPECT_NE(seen.find("nothing mapped"), std::string::npos) << seen;
  munmap(pages, 2 * page);
}

TEST(CrossMemory, refusal_by_the_system_is_found_by_the_probe) {
  if (!test::can_refuse_system_calls()) GTEST_SKIP() << "the kernel cannot refuse system calls";
  const auto seen = in_child([] {
    refuse_system_call(SYS_process_vm_readv, EPERM);
    const bool works = CrossMemory::works_with(getppid(), address_of(&known_word));
    return std::string(works ? "works" : "refused");
  });
  EXPECT_EQ(seen, "refused");
}

TEST(CrossMemory, says_when_the_process_has_ended) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(CrossMemory::works_with(child, address_of(&known_word)));
  std::uint64_t word = 0;
  EXPECT_THROW(CrossMemory(child).read(&word, address_of(&known_word), sizeof(word)), Error);
}

}  // namespace
}  // namespace shmem
