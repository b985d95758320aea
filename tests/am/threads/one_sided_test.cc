// One-sided accesses and channels of one thread, while another thread of the process sends and
// receives messages and so receives, as well, what is for the first.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "am/channel/channel.h"
#include "am/core/far/remote_memory.h"
#include "tests/am/threads/party.h"

namespace am::test_threads {
namespace one_sided_test {

using ::test::job;
using ::test::rank;
using ::test::size;

constexpr std::uint32_t kRounds = 60;
constexpr std::size_t kMost = 20'000;  // bytes of an access: more than a packet
// Of the segment, behind the areas of the messages; of every process that accesses it.
constexpr std::uint64_t kAreas = 4 << 20;
constexpr std::uint64_t kArea = 64 << 10;
constexpr std::uint64_t kStored = 32 << 10;  // in its area
constexpr std::uint64_t kCounters = 3 << 20;

std::uint64_t finished = 0;  // accesses, of the first thread

std::vector<std::byte> random_bytes(std::mt19937_64& random) {
  std::vector<std::byte> bytes(1 + random() % (random() % 2 == 0 ? 64 : kMost));
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// What a process does to the memory of others, and they to its own.
class Accesses {
 public:
  explicit Accesses(Bundle& bundle)
      : bundle_(bundle),
        memory_(bundle, [](std::uint32_t) { ++finished; }),
        random_(::test::seed() + rank()) {}

  // To all processes of other nodes.
  void round() {
    for (Rank to = 0; to < size(); ++to) {
      if (job().router().is_near(to)) continue;
      put_and_get(to);
      store(to);
    }
  }
  // All stores that were made to this process have been counted.
  void expect_counts() {
    for (Rank from = 0; from < size(); ++from) {
      if (job().router().is_near(from)) continue;
      bundle_.wait_until(
          [&] { return counted(from) == std::uint64_t{kRounds} * stored_bytes(from); });
    }
  }

 private:
  static std::uint64_t area() { return kAreas + rank() * kArea; }
  static std::uint64_t stored_bytes(Rank from) { return 5000 + from * 8; }
  static std::uint64_t counted(Rank from) {
    auto* const word = reinterpret_cast<std::uint64_t*>(job().router().segment() + kCounters);
    return std::atomic_ref(word[from]).load(std::memory_order_acquire);  // pairs with: the library
  }

  void put_and_get(Rank to) {
    const std::vector<std::byte> bytes = random_bytes(random_);
    std::vector<std::byte> back(bytes.size());
    finished = 0;
    memory_.put(to, area(), bytes, 0, "put");
    bundle_.wait_until([] { return finished == 1; });
    memory_.get(to, area(), back, 0, "get");
    bundle_.wait_until([] { return finished == 2; });
    EXPECT_EQ(back, bytes);
  }
  // Repeats, so that it is learned.
  void store(Rank to) {
    const std::vector<std::byte> bytes(stored_bytes(rank()), std::byte{1});
    std::uint64_t sent = 0;
    memory_.store(to, area() + kStored, bytes, kCounters + rank() * sizeof(std::uint64_t), "store",
                  sent);
  }

  Bundle& bundle_;
  RemoteMemory memory_;
  std::mt19937_64 random_;
};

// A channel from each process to the next, on which a put follows the callback for the one before.
class Ring {
 public:
  explicit Ring(Bundle& bundle)
      : bundle_(bundle),
        buffer_(job().router().segment() + kAreas - kArea, kBytes),
        in_(bundle, buffer_, [this] { ++arrived_; }) {
    const auto handles = job().exchange(in_.handle());
    out_.emplace(bundle, handles[(rank() + 1) % size()]);
    out_->associate(std::span<const std::byte>(source_));
  }
  // Everybody has called ready() for the last one.
  void put(std::uint32_t round) {
    std::ranges::fill(source_, value(rank(), round));
    out_->put();
    bundle_.wait_until([&] { return arrived_ == round + 1 && out_->reusable(); });
    const Rank left = (rank() + size() - 1) % size();
    EXPECT_EQ(std::ranges::count(buffer_, value(left, round)), kBytes);
    in_.ready();
  }

 private:
  static constexpr std::size_t kBytes = 9000;
  static std::byte value(Rank from, std::uint32_t round) {
    return static_cast<std::byte>(from * 31 + round + 1);
  }

  Bundle& bundle_;
  std::span<std::byte> buffer_;
  std::vector<std::byte> source_ = std::vector<std::byte>(kBytes);
  std::uint32_t arrived_ = 0;
  ReceiveChannel in_;
  std::optional<SendChannel> out_;
};

void access(Party& party) {
  Accesses accesses(party.bundle());
  Ring ring(party.bundle());
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    party.send(round, round + 1);
    accesses.round();
    ring.put(round);
    party.bundle().wait_until([&] { return party.complete(round + 1); });
    job().barrier(party.bundle());
  }
  accesses.expect_counts();
  job().barrier(party.bundle());
}

TEST(OneSided, accesses_of_one_thread_go_on_beside_messages_of_another) {
  Meeting meeting;
  auto* const counters = job().router().segment() + kCounters;
  std::memset(counters, 0, size() * sizeof(std::uint64_t));
  ::test::barrier();
  std::thread other([&] {
    try {
      Party party(meeting, 1);
      party.send(0, kRounds);
      party.bundle().wait_until([&] { return party.complete(kRounds); });
      meeting.part(1, party.bundle());
    } catch (const std::exception& error) {
      job().abort(1, error.what());
    }
  });
  {
    Party party(meeting, 0);
    access(party);
    meeting.part(0, party.bundle());
  }
  other.join();
}

}  // namespace one_sided_test
}  // namespace am::test_threads
