// get, put and store by requests and replies, on a network that delays, reorders and refuses what
// it may.
#include "am/core/far/plain_requests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "am/core/endpoint.h"
#include "tests/am/sim/simulated.h"

namespace am::sim {
namespace plain_requests_test {

constexpr std::uint64_t kPart = Process::kSegment / 4;  // of a segment, for each writer
constexpr std::uint64_t kCounters = Process::kSegment - 4096;
constexpr std::size_t kPiece = max_medium();

// Which gets and puts are complete.
thread_local std::vector<bool> done;
void is_done(std::uint32_t ticket) {
  EXPECT_FALSE(done.at(ticket)) << "twice";
  done.at(ticket) = true;
}
std::uint32_t new_ticket() {
  done.push_back(false);
  return static_cast<std::uint32_t>(done.size() - 1);
}

// What each process needs for them.
struct Plain {
  explicit Plain(Process& of) : process(of), endpoint(of.bundle()) {
    done.clear();
    of.connect(endpoint);
  }
  void get(Rank from, std::uint64_t offset, std::span<std::byte> to) {
    memory.get(from, offset, to, new_ticket(), "test");
  }
  void put(Rank to, std::uint64_t offset, std::span<const std::byte> from) {
    memory.put(to, offset, from, new_ticket(), "test");
  }
  void store(Rank to, std::uint64_t offset, std::span<const std::byte> from,
             std::uint64_t counter) {
    std::uint64_t sent = 0;
    memory.store(to, offset, from, counter, "test", sent);
    EXPECT_EQ(sent, from.size());
  }
  void wait_for_all() {
    process.bundle().wait_until([] { return std::ranges::all_of(done, std::identity()); });
  }

  Process& process;
  Endpoint endpoint;
  PlainRequests memory{endpoint, process.bundle(), &is_done};
};

// Around one piece, two and many.
std::uint64_t any_size(Process& process) {
  const std::uint64_t pieces[] = {0, 1, 2, 3};
  const std::uint64_t near = pieces[process.any(4)] * kPiece + process.any(3);
  return process.any(2) == 0 ? 1 + process.any(80) : std::max<std::uint64_t>(near, 1);
}

class PlainAccesses : public Simulated {};

// Each process writes into its part of another's segment, and reads back what is complete. The
// oracle is what it has put.
TEST_P(PlainAccesses, read_what_was_put_before_them) {
  run_all([](Process& process) {
    Plain plain(process);
    const Rank to = process.right();
    const std::uint64_t base = process.rank() * kPart;
    std::vector<std::byte> model(kPart);
    for (int round = 0; round < 3; ++round) {
      std::uint64_t offset = process.any(100);
      for (std::uint64_t bytes = any_size(process); offset + bytes <= kPart;
           bytes = any_size(process)) {
        std::vector<std::byte> source = content(process.random()(), bytes);
        std::memcpy(model.data() + offset, source.data(), bytes);
        plain.put(to, base + offset, source);
        source.assign(bytes, std::byte{0xee});  // it may be reused on return
        offset += bytes + process.any(5000);
      }
      plain.wait_for_all();
      std::vector<std::byte> back(kPart);
      for (std::uint64_t at = 0; at < kPart;) {
        const std::uint64_t bytes = std::min(any_size(process), kPart - at);
        plain.get(to, base + at, std::span(back).subspan(at, bytes));
        at += bytes;
      }
      plain.wait_for_all();
      ASSERT_EQ(back, model) << "round " << round;
    }
    process.barrier();
  });
}

TEST_P(PlainAccesses, write_nothing_beside_their_target) {
  run_all([](Process& process) {
    Plain plain(process);
    const std::uint64_t base = process.rank() * kPart;
    const std::uint64_t bytes = any_size(process);
    const std::uint64_t offset = 1 + process.any(kPart - bytes - 2);
    plain.put(process.right(), base + offset, content(7, bytes));
    plain.wait_for_all();
    std::vector<std::byte> local(bytes + 2, std::byte{0xaa});
    plain.get(process.right(), base + offset, std::span(local).subspan(1, bytes));
    plain.wait_for_all();
    EXPECT_EQ(local.front(), std::byte{0xaa});
    EXPECT_EQ(local.back(), std::byte{0xaa});
    EXPECT_EQ(soak::difference(std::span(local).subspan(1, bytes), 7), "");
    process.barrier();  // so that nobody is asked for anything while it exchanges
    const auto put = process.exchange(std::array{offset, bytes})[process.left()];
    std::span<std::byte> part = process.segment().subspan(process.left() * kPart, kPart);
    const auto is_zero = [](std::byte b) { return b == std::byte{0}; };
    EXPECT_TRUE(std::ranges::all_of(part.first(put[0]), is_zero));
    EXPECT_TRUE(std::ranges::all_of(part.subspan(put[0] + put[1]), is_zero));
    process.barrier();
  });
}

TEST_P(PlainAccesses, store_bytes_that_are_there_when_they_are_counted) {
  run_all([](Process& process) {
    Plain plain(process);
    const std::uint64_t counter = kCounters + process.rank() * 64;
    const auto counted = [&] {
      std::uint64_t count = 0;
      std::memcpy(&count, process.segment().data() + kCounters + process.left() * 64, sizeof count);
      return count;
    };
    std::uint64_t expected = 0;
    for (std::uint64_t round = 1; round <= 6; ++round) {
      const std::uint64_t bytes = any_size(process);
      std::vector<std::byte> source = content(round * 10 + process.rank(), bytes);
      const auto sizes = process.exchange(bytes);
      plain.store(process.right(), process.rank() * kPart, source, counter);
      source.assign(bytes, std::byte{0xee});
      expected += sizes[process.left()];
      process.bundle().wait_until([&] { return counted() >= expected; });
      EXPECT_EQ(counted(), expected);
      const std::span<std::byte> part =
          process.segment().subspan(process.left() * kPart, sizes[process.left()]);
      ASSERT_EQ(soak::difference(part, round * 10 + process.left()), "");
      process.barrier();
    }
    EXPECT_TRUE(done.empty()) << "a store has no completion";
    process.barrier();
  });
}

// Many more than there are credits: each call waits for one, and all complete.
TEST_P(PlainAccesses, wait_for_credit) {
  run_all([](Process& process) {
    Plain plain(process);
    constexpr std::uint64_t kMany = 600;
    std::vector<std::uint64_t> back(kMany);
    for (std::uint64_t i = 0; i < kMany; ++i) {
      const std::uint64_t value = i * 31 + process.rank();
      plain.put(process.right(), process.rank() * kPart + i * sizeof value,
                std::as_bytes(std::span(&value, 1)));
    }
    plain.wait_for_all();
    for (std::uint64_t i = 0; i < kMany; ++i) {
      plain.get(process.right(), process.rank() * kPart + i * sizeof(std::uint64_t),
                std::as_writable_bytes(std::span(back).subspan(i, 1)));
    }
    plain.wait_for_all();
    for (std::uint64_t i = 0; i < kMany; ++i) EXPECT_EQ(back[i], i * 31 + process.rank());
    process.barrier();
  });
}

// What an access outside throws at its target, once for each.
TEST_P(PlainAccesses, outside_the_segment_are_errors_of_their_target_that_say_so) {
  run_all([](Process& process) {
    Plain plain(process);
    std::vector<std::byte> bytes(64);
    constexpr std::uint64_t kEnd = Process::kSegment;
    if (process.rank() == 1) {
      plain.get(0, kEnd - 63, bytes);
      plain.put(0, kEnd, bytes);
      plain.store(0, ~std::uint64_t{0} - 10, bytes, kCounters);
      plain.store(0, 0, bytes, kEnd);           // a counter outside
      plain.store(0, 0, bytes, kCounters + 4);  // and one that is not aligned
    } else if (process.rank() == 0) {
      int thrown = 0;
      while (thrown < 5) {
        try {
          process.poll();
        } catch (const Error& error) {
          ++thrown;
          EXPECT_NE(std::string(error.what()).find("segment"), std::string::npos) << error.what();
        }
      }
    }
    plain.endpoint.flush();
    process.barrier();
    EXPECT_TRUE(std::ranges::none_of(done, std::identity())) << "an access that was refused";
    process.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Over, PlainAccesses, testing::ValuesIn(kKinds), Kind::name_of);

}  // namespace plain_requests_test
}  // namespace am::sim
