#include "shmem/region.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "shmem/descriptor.h"
#include "tests/shmem/in_child.h"

namespace shmem {
namespace {

using test::can_refuse_system_calls;
using test::in_child;
using test::mount_private_tmpfs;
using test::refuse_system_call;

constexpr std::size_t kBytes = 3 * 4096 + 100;  // no multiple of a page
constexpr const char* kNoNamespace = "no mount namespace";
constexpr const char* kNoFilter = "the kernel cannot refuse system calls";
constexpr const char* kNoLimit = "the system does not limit the address space";

Region small() { return Region::create({.what = "test region", .bytes = kBytes}); }

void write_text(const Region& region, const char* text) {
  std::strcpy(reinterpret_cast<char*>(region.data()), text);
}

std::string text_of(const Region& region) { return reinterpret_cast<char*>(region.data()); }

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_names(const std::string& sentence, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(sentence.find(part), std::string::npos) << "no \"" << part << "\" in: " << sentence;
  }
}

// Whether the system has taken the limit, for this process.
bool limit(decltype(RLIMIT_AS) resource, rlim_t value) {
  rlimit limits{.rlim_cur = value, .rlim_max = RLIM_INFINITY};
  return setrlimit(resource, &limits) == 0 && getrlimit(resource, &limits) == 0 &&
         limits.rlim_cur == value;
}

TEST(Region, begins_with_zeros_to_the_last_byte) {
  const Region region = small();
  ASSERT_EQ(region.size(), kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(region.data()[i], std::byte{0});
}

TEST(Region, is_shared_by_two_processes_in_both_directions) {
  const Region mine = small();
  write_text(mine, "from the parent");
  const auto seen = in_child([&, address = mine.address()] {
    const Region theirs = Region::open(address);
    const std::string text = text_of(theirs);
    write_text(theirs, "from the child");
    return text + " " + std::to_string(theirs.size());
  });
  EXPECT_EQ(seen, "from the parent " + std::to_string(kBytes));
  EXPECT_EQ(text_of(mine), "from the child");
}

TEST(Region, moves_without_losing_its_memory) {
  Region first = small();
  write_text(first, "kept");
  Region second = std::move(first);
  EXPECT_EQ(first.data(), nullptr);
  Region third;
  third = std::move(second);
  EXPECT_EQ(text_of(third), "kept");
}

TEST(Region, lies_where_huge_pages_can_be_mapped) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  for (const std::size_t bytes : {kHuge, kHuge + 1, 3 * kHuge, 3 * kHuge + 5000}) {
    const Region region = Region::create({.what = "test", .bytes = bytes});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data()) % kHuge, 0u) << bytes;
    region.ask_for_huge_pages();
    region.data()[0] = region.data()[bytes - 1] = std::byte{1};
    const Region again = Region::open(region.address());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(again.data()) % kHuge, 0u) << bytes;
    EXPECT_EQ(again.data()[bytes - 1], std::byte{1});
  }
}

// Of the page at `data`: of its file, where that is shared.
std::pair<int, unsigned long> policy_at(const std::byte* data) {
  int mode = -1;
  std::array<unsigned long, 16> nodes{};
  const unsigned long bits = sizeof nodes * 8;
  if (syscall(SYS_get_mempolicy, &mode, nodes.data(), bits, data, MPOL_F_ADDR) != 0) return {-1, 0};
  return {mode, nodes[0]};
}

TEST(Region, prefers_a_node_through_every_mapping) {
  const Region region = small();
  const Region before = Region::open(region.address());
  if (!region.prefer_node(0)) GTEST_SKIP() << "a kernel without NUMA";
  const Region after = Region::open(region.address());
  const std::pair<int, unsigned long> expected{MPOL_PREFERRED, 1};
  for (const Region* one : {&region, &before, &after}) EXPECT_EQ(policy_at(one->data()), expected);
  EXPECT_FALSE(region.prefer_node(-1));
  EXPECT_FALSE(region.prefer_node(1 << 20));
  EXPECT_EQ(policy_at(region.data()), expected);
}

TEST(Region, is_private_to_the_user_and_closed_by_exec) {
  for (const bool try_memfd : {true, false}) {
    const Region region = Region::create({.what = "r", .bytes = kBytes, .try_memfd = try_memfd});
    struct stat status {};
    ASSERT_EQ(fstat(region.fd(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(fcntl(region.fd(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(Region, adopt_takes_an_inherited_descriptor) {
  const Region mine = small();
  write_text(mine, "inherited");
  const Region adopted = Region::adopt(dup(mine.fd()));
  EXPECT_EQ(adopted.size(), kBytes);
  EXPECT_EQ(text_of(adopted), "inherited");
}

TEST(Region, adopt_of_no_file_says_so) {
  expect_names(error_of([] { (void)Region::adopt(999); }), {"999", "not inherited"});
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_names(error_of([&] { (void)Region::adopt(ends[0]); }), {"not a file with contents"});
  close(ends[0]);
  close(ends[1]);
}

TEST(Region, of_no_bytes_is_refused) {
  expect_names(error_of([] { (void)Region::create({.what = "heap"}); }), {"heap", "0 bytes"});
}

TEST(Region, comes_from_the_fallback_when_memfd_is_refused) {
  if (!can_refuse_system_calls()) GTEST_SKIP() << kNoFilter;
  const auto seen = in_child([] {
    refuse_system_call(SYS_memfd_create, EPERM);
    const Region mine = small();
    write_text(mine, "fallback");
    return in_child([&] { return text_of(Region::open(mine.address())); });
  });
  EXPECT_EQ(seen, "fallback");
}

TEST(Region, says_needed_free_and_where_when_the_fallback_is_too_small) {
  if (!can_refuse_system_calls()) GTEST_SKIP() << kNoFilter;
  const auto seen = in_child([] {
    if (!mount_private_tmpfs("/dev/shm", 64 << 10)) return std::string(kNoNamespace);
    refuse_system_call(SYS_memfd_create, EPERM);
    return error_of([] { (void)Region::create({.what = "segment", .bytes = 1 << 20}); });
  });
  if (seen == kNoNamespace) GTEST_SKIP() << seen;
  expect_names(seen, {"segment", "memfd_create is refused", "/dev/shm has 65536 bytes free",
                      "1048576 bytes needed"});
}

TEST(Region, says_so_when_there_is_no_fallback) {
  const std::string sentence = error_of([] {
    (void)Region::create(
        {.what = "segment", .bytes = kBytes, .try_memfd = false, .fallback_dir = "/nowhere"});
  });
  expect_names(sentence, {"segment", "/nowhere", "No such file"});
}

TEST(Region, leaves_nothing_in_dev_shm_when_killed) {
  const auto seen = in_child([] {
    if (!mount_private_tmpfs("/dev/shm", 1 << 20)) return std::string(kNoNamespace);
    const auto died = in_child([]() -> std::string {
      const Region memfd = small();
      const Region file = Region::create({.what = "f", .bytes = kBytes, .try_memfd = false});
      raise(SIGKILL);
      return "lived";
    });
    const bool empty = std::filesystem::is_empty("/dev/shm");
    const auto room = std::filesystem::space("/dev/shm");
    return died + (empty && room.free == room.capacity ? ", nothing left" : ", something left");
  });
  if (seen == kNoNamespace) GTEST_SKIP() << seen;
  EXPECT_EQ(seen, "died: Killed, nothing left");
}

TEST(Region, says_the_limit_when_the_address_space_is_exhausted) {
  const auto sentence = in_child([] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (64 << 20);
    if (!limit(RLIMIT_AS, bytes)) return std::string(kNoLimit);
    const auto text =
        error_of([] { (void)Region::create({.what = "segment", .bytes = 256 << 20}); });
    return text + " [" + std::to_string(bytes) + "]";
  });
  if (sentence == kNoLimit) GTEST_SKIP() << sentence;
  const std::string limit = sentence.substr(sentence.rfind('[') + 1);
  expect_names(sentence, {"segment", "268435456 bytes", "ulimit -v",
                          "limit is " + limit.substr(0, limit.size() - 1) + " bytes"});
}

TEST(Region, says_the_limit_when_files_may_not_grow_so_large) {
  const auto sentence = in_child([] {
    (void)limit(RLIMIT_FSIZE, 1 << 20);
    return error_of([] { (void)Region::create({.what = "segment", .bytes = 2 << 20}); });
  });
  expect_names(sentence,
               {"segment", "2097152 bytes", "limit of this process is 1048576 bytes", "ulimit -f"});
}

TEST(Region, of_more_bytes_than_there_can_be_is_refused) {
  const std::string sentence =
      error_of([] { (void)Region::create({.what = "segment", .bytes = std::size_t{1} << 62}); });
  expect_names(sentence, {"segment", "4611686018427387904"});
}

TEST(Region, open_says_when_the_neighbour_has_ended) {
  Region::Address address{};
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  address = {.pid = child, .fd = 3, .bytes = kBytes, .inode = 1};
  expect_names(error_of([&] { (void)Region::open(address); }),
               {std::to_string(child), "has ended"});
}

TEST(Region, open_refuses_another_file_under_the_same_number) {
  const Region mine = small();
  Region::Address wrong = mine.address();
  wrong.inode += 1;
  expect_names(error_of([&] { (void)Region::open(wrong); }),
               {"inode " + std::to_string(wrong.inode), std::to_string(wrong.pid)});
  wrong = mine.address();
  wrong.bytes += 1;
  expect_names(error_of([&] { (void)Region::open(wrong); }), {std::to_string(kBytes + 1)});
}

// Of a child that is the first process of a PID namespace; "refused" where there can be none. /proc
// is still that of the namespace around it, and has other numbers.
std::string in_pid_namespace(const std::function<std::string()>& work) {
  return in_child([&]() -> std::string {
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return "refused";
    return in_child(work);
  });
}

TEST(Region, of_this_process_opens_beside_the_proc_of_another_pid_namespace) {
  const std::string seen = in_pid_namespace([] {
    const Region mine = small();
    write_text(mine, "my own");
    return text_of(Region::open(mine.address()));
  });
  if (seen == "refused") GTEST_SKIP() << "no pid namespace";
  EXPECT_EQ(seen, "my own");
}

TEST(Region, of_a_neighbour_opens_beside_the_proc_of_another_pid_namespace) {
  const std::string seen = in_pid_namespace([] {
    const Region mine = small();
    write_text(mine, "of a neighbour");
    return in_child([address = mine.address()] { return text_of(Region::open(address)); });
  });
  if (seen == "refused") GTEST_SKIP() << "no pid namespace";
  if (seen.find("without it the kernel says") != std::string::npos) GTEST_SKIP() << seen;
  EXPECT_EQ(seen, "of a neighbour");
}

TEST(Region, open_says_that_a_neighbour_who_lives_keeps_it_closed) {
  const Region mine = small();
  const std::string seen = in_child([address = mine.address()]() -> std::string {
    constexpr uid_t kNobody = 65534;
    if (setuid(kNobody) != 0 && unshare(CLONE_NEWUSER) != 0) return "refused";
    try {
      (void)Region::open(address);
    } catch (const Unreachable& error) {
      return error.what();
    } catch (const Error& error) {
      return std::string("another error: ") + error.what();
    }
    return "opened";
  });
  if (seen == "refused") GTEST_SKIP() << "no other user and no user namespace";
  expect_names(seen, {"cannot open the region of process " + std::to_string(getpid()),
                      "one user in one user namespace"});
  EXPECT_EQ(seen.find("has ended"), std::string::npos) << seen;
}

TEST(Region, opened_from_a_neighbour_has_no_address) {
  const Region mine = small();
  const Region theirs = Region::open(mine.address());
  EXPECT_EQ(theirs.fd(), -1);
  EXPECT_THROW(theirs.address(), Error);
}

TEST(Region, is_mapped_a_second_time_until_the_pages_are_made_private) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Region region = Region::create({.what = "test region", .bytes = 3 * page});
  alignas(65536) static std::array<std::byte, 65536> variables;
  ASSERT_LE(page, variables.size());
  const std::span pages = std::span(variables).first(page);
  region.data()[page + 7] = std::byte{5};
  region.map_also(pages, page);
  EXPECT_EQ(pages[7], std::byte{5});
  pages[8] = std::byte{6};
  EXPECT_EQ(region.data()[page + 8], std::byte{6});
  make_private(pages);
  EXPECT_EQ(pages[7], std::byte{5});
  EXPECT_EQ(pages[8], std::byte{6});
  pages[8] = std::byte{9};
  EXPECT_EQ(region.data()[page + 8], std::byte{6});
  EXPECT_EQ(region.data()[2 * page + 8], std::byte{0});
  expect_names(error_of([&] { region.map_also(pages, page / 2); }),
               {"cannot map " + std::to_string(page) + " bytes", "whole pages"});
}

TEST(Descriptors, are_never_those_of_the_standard_streams) {
  EXPECT_EQ(in_child([]() -> std::string {
              for (int fd = 0; fd < 3; ++fd) close(fd);
              const Region region = small();
              const Region opened = Region::open(region.address());
              if (region.fd() < 3) return "a region";
              const int moved = above_standard_streams(open("/dev/null", O_RDONLY | O_CLOEXEC));
              if (moved < 3 || fcntl(moved, F_GETFD) != FD_CLOEXEC) return "what was moved";
              if (above_standard_streams(moved) != moved) return "what need not be moved";
              errno = ENFILE;
              if (above_standard_streams(-1) != -1 || errno != ENFILE) return "an error";
              for (int fd = 0; fd < 3; ++fd) {
                if (fcntl(fd, F_GETFD) != -1) return "one is left open";
              }
              return "never";
            }),
            "never");
}

}  // namespace
}  // namespace shmem
