// Rendezvous of so many processes that they pass on what rank 0 says.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "am/job/bootstrap/rendezvous/rendezvous.h"
#include "tests/shmem/in_child.h"

namespace am {
namespace {

using shmem::test::in_children;

constexpr std::uint32_t kSize = 90;
static_assert(kSize > Relays::kStar);

TEST(Relays, reach_everybody_once) {
  for (const std::uint32_t size : {1u, 2u, 9u, 10u, 65u, 74u, 1000u}) {
    for (const auto& shape : {Relays::star, Relays::tree}) {
      std::vector<unsigned> served(size, 0);
      for (Rank rank = 0; rank < size; ++rank) {
        const Awaited children = shape(rank, size).children;
        for (std::uint32_t i = 0; i < children.count; ++i) {
          const Rank child = children.first + i;
          ASSERT_LT(child, size);
          EXPECT_GT(child, rank);  // so nobody waits for itself
          EXPECT_EQ(shape(child, size).parent, rank);
          ++served[child];
        }
      }
      for (Rank rank = 1; rank < size; ++rank) EXPECT_EQ(served[rank], 1u);
      EXPECT_EQ(served[0], 0u);
    }
    for (Rank rank = 0; rank < size; ++rank) {
      EXPECT_LE(Relays::tree(rank, size).children.count, Relays::kChildren);
    }
  }
}

Door door_at(int family, const char* address) {
  Door door{static_cast<std::uint16_t>(family), 4711, {}};
  EXPECT_EQ(inet_pton(family, address, door.address.data()), 1);
  return door;
}

TEST(Relays, need_addresses_that_mean_the_same_everywhere) {
  const Door local = door_at(AF_INET, "127.0.0.1");
  const Door other_local = door_at(AF_INET, "127.0.1.1");
  const Door far = door_at(AF_INET, "192.0.2.1");
  const Door local6 = door_at(AF_INET6, "::1");
  const Door far6 = door_at(AF_INET6, "2001:db8::1");
  EXPECT_TRUE(can_meet(std::vector{local, other_local}));
  EXPECT_TRUE(can_meet(std::vector{far, far}));
  EXPECT_TRUE(can_meet(std::vector{far6, far6}));
  EXPECT_FALSE(can_meet(std::vector{far, local}));
  EXPECT_FALSE(can_meet(std::vector{local6, far6}));
  EXPECT_FALSE(can_meet(std::vector{far, far6}));
  EXPECT_FALSE(can_meet(std::vector{far, Door{}}));
  EXPECT_FALSE(can_meet(std::vector{Door{}, Door{}}));
}

Rendezvous free_place() {
  const Connection taken(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  bind(taken.fd(), reinterpret_cast<sockaddr*>(&address), bytes);
  getsockname(taken.fd(), reinterpret_cast<sockaddr*>(&address), &bytes);
  return {"127.0.0.1", std::to_string(ntohs(address.sin_port)), "correct horse battery staple"};
}

std::size_t open_sockets() {
  std::size_t count = 0;
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (std::filesystem::read_symlink(file, gone).string().starts_with("socket:")) ++count;
  }
  return count;
}

std::string said_by(Rank rank, int round) {
  return std::string((rank * 101 + round * 37) % (Bootstrap::kMaxBlob + 1),
                     static_cast<char>('a' + (round + rank) % 26));
}

// Takes part in a job of kSize, and returns how many connections this process had.
std::string take_part(Rank rank, const Rendezvous& where, std::chrono::seconds patience) {
  const std::size_t before = open_sockets();
  BootstrapRendezvous job(rank, kSize, where, patience);
  for (int round = 0; round < 4; ++round) {
    const std::string mine = said_by(rank, round);
    const auto all = job.exchange(std::as_bytes(std::span(mine)));
    for (Rank other = 0; other < kSize; ++other) {
      const auto* text = reinterpret_cast<const char*>(all.at(other).data());
      if (std::string(text, all[other].size()) != said_by(other, round)) return "wrong";
    }
    job.barrier();
  }
  const std::size_t connections = open_sockets() - before;
  job.finished();
  return std::to_string(connections);
}

// In a job of which `hinder` does something to each process first.
void expect_connections(const std::function<void(Rank)>& hinder, std::chrono::seconds patience,
                        const std::function<std::size_t(Rank)>& wanted) {
  const Rendezvous where = free_place();
  const auto results = in_children(kSize, [&](Rank rank) {
    hinder(rank);
    return take_part(rank, where, patience);
  });
  for (Rank rank = 0; rank < kSize; ++rank) {
    EXPECT_EQ(results[rank], std::to_string(wanted(rank))) << "rank " << rank;
  }
}

std::size_t star(Rank rank) { return rank == 0 ? kSize - 1 : 1; }

TEST(BootstrapRendezvousRelays, pass_on_what_rank_0_says) {
  expect_connections(
      [](Rank) {}, std::chrono::seconds(60),
      [](Rank rank) -> std::size_t {
        const std::size_t parent = rank > 8 ? 1 : 0;  // that is not rank 0
        // 1 to 10 have eight children each, 11 one: 89.
        const std::size_t children = rank == 0 ? 0 : rank <= 10 ? 8 : rank == 11 ? 1 : 0;
        return star(rank) + parent + children;
      });
}

TEST(BootstrapRendezvousRelays, are_not_needed) {
  if (!shmem::test::can_refuse_system_calls()) GTEST_SKIP() << "no filters of system calls";
  // One has no door.
  expect_connections(
      [](Rank rank) {
        if (rank == 3) shmem::test::refuse_system_call(SYS_listen, EPERM);
      },
      std::chrono::seconds(60), star);
  // One has a door that nobody comes through.
  expect_connections(
      [](Rank rank) {
        if (rank == 3) shmem::test::refuse_system_call(SYS_accept4, ECONNABORTED);
      },
      std::chrono::seconds(12), star);
}

TEST(BootstrapRendezvousRelays, death_of_any_ends_all) {
  for (const Rank victim : {Rank{0}, Rank{2}, Rank{89}}) {
    const Rendezvous where = free_place();
    const auto results = in_children(kSize, [&](Rank rank) -> std::string {
      BootstrapRendezvous job(rank, kSize, where, std::chrono::seconds(60));
      job.barrier();
      if (rank == victim) _exit(3);
      for (;;) job.barrier();  // which waits for the dead
    });
    for (Rank rank = 0; rank < kSize; ++rank) {
      EXPECT_EQ(results[rank], rank == victim ? "died: exit code 3" : "died: exit code 1");
    }
  }
}

TEST(BootstrapRendezvousRelays, abort_of_any_ends_all_with_its_code) {
  const Rendezvous where = free_place();
  const auto results = in_children(kSize, [&](Rank rank) -> std::string {
    BootstrapRendezvous job(rank, kSize, where, std::chrono::seconds(60));
    job.barrier();
    if (rank == 40) job.abort(7, "no more room");
    while (true) pause();
  });
  for (const std::string& result : results) EXPECT_EQ(result, "died: exit code 7");
}

}  // namespace
}  // namespace am
