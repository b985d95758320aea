// The network under pressure, three processes on three nodes: receivers that do not poll, senders
// that stop in the middle of a message, floods that do not end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "am/route/port.h"
#include "am/route/router.h"
#include "splitc/splitc.h"
#include "tests/support/side_channel.h"

namespace pressure_test {

using namespace splitc;
using test::SideChannel;

constexpr std::size_t kBlock = 512;  // words: one packet
constexpr std::size_t kBlockBytes = 8 * kBlock;

// Block `i` of what process `from` stores.
std::vector<std::uint64_t> block(std::uint64_t from, std::uint64_t i) {
  std::vector<std::uint64_t> words(kBlock);
  for (std::size_t k = 0; k < kBlock; ++k) words[k] = from << 56 | i << 16 | k;
  return words;
}

void store_block(global_ptr<std::uint64_t> to, std::uint64_t from, std::uint64_t i) {
  bulk_store(to + static_cast<std::ptrdiff_t>(i * kBlock), block(from, i).data(), kBlockBytes);
}

std::uint64_t wrong_words(const std::uint64_t* first, std::uint64_t from, std::uint64_t blocks) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const std::vector<std::uint64_t> expected = block(from, i);
    for (std::size_t k = 0; k < kBlock; ++k) wrong += first[i * kBlock + k] != expected[k];
  }
  return wrong;
}

// A barrier after which every process may stop polling: all have left it.
void barrier_left_by_all(const std::string& name) {
  SideChannel left(name);
  barrier();
  left.add(1);
  while (!left.reached(procs())) poll();
}

// The next store to process `to` has to wait.
bool congested(std::uint32_t to) {
  return world().router().port()->link().queue(to) == am::link::Queue::kFull;
}

// Polls until nothing has come for a while.
void drain() {
  for (int idle = 0; idle < 2000; ++idle) {
    if (world().bundle().poll() != 0) idle = 0;
  }
}

// Process 1 stops in the middle of a message to process 0; what process 2 sends there then must not
// land in the buffer of the unfinished message.
TEST(Pressure, a_message_half_received_keeps_its_buffer_while_others_arrive) {
  constexpr std::uint64_t kFirst = 1800, kSecond = 3000;
  SideChannel turn("half_received");
  const auto first = all_spread_malloc<std::uint64_t>(procs() * kBlock * kFirst);
  const auto second = all_spread_malloc<std::uint64_t>(procs() * kBlock * kSecond);
  barrier_left_by_all("half_begins");
  if (my_proc() == 0) {
    turn.await(1);  // without polling, so that process 1 fills all buffers between the two
    drain();
    turn.advance_to(2);
  } else if (my_proc() == 1) {
    for (std::uint64_t i = 0; i < kFirst; ++i) {
      if (i == kFirst / 2 || congested(0)) turn.advance_to(1);
      store_block(first.on(0), 1, i);
    }
    turn.await(3);  // without polling: some of it has not left
  } else {
    turn.await(2);
    for (std::uint64_t i = 0; i < kSecond; ++i) store_block(second.on(0), 2, i);
    turn.advance_to(3);
  }
  all_store_sync();
  if (my_proc() == 0) {
    EXPECT_EQ(wrong_words(first.mine(), 1, kFirst), 0u);
    EXPECT_EQ(wrong_words(second.mine(), 2, kSecond), 0u);
  }
  barrier();
  all_spread_free(second);
  all_spread_free(first);
}

// Process 1 does not poll before process 2 has got all its answers from process 0, which stores to
// process 1 all the while.
TEST(Pressure, a_process_that_does_not_poll_delays_nobody_else) {
  constexpr std::uint64_t kQuestions = 500;
  SideChannel turn("silent");
  const auto inbox = all_spread_malloc<std::uint64_t>(procs() * kBlock);
  const auto cell = all_spread_malloc<std::uint64_t>(procs());
  *cell.mine() = 0;
  barrier_left_by_all("silent_begins");
  if (my_proc() == 0) {
    const std::vector<std::uint64_t> words = block(0, 0);
    while (!turn.reached(1)) bulk_store(inbox.on(1), words.data(), kBlockBytes);
  } else if (my_proc() == 1) {
    turn.await(1);
  } else {
    for (std::uint64_t i = 0; i < kQuestions; ++i) {
      ASSERT_EQ(fetch_and_add(cell.on(0), std::uint64_t{1}), i);
    }
    turn.advance_to(1);
  }
  all_store_sync();
  EXPECT_EQ(*cell.mine(), my_proc() == 0 ? kQuestions : 0);
  barrier();
  all_spread_free(cell);
  all_spread_free(inbox);
}

std::uint64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  ADD_FAILURE() << "/proc/self/status has no VmHWM";
  return 0;
}

// Two processes ask process 1 for 32 MB each, by messages, and then do not take it.
TEST(Pressure, what_a_process_holds_for_others_that_read_its_memory_is_bounded) {
  constexpr std::size_t kBytes = 65536, kGets = 500, kPlaces = 50;
  if (world().router().port()->link().can().rma) GTEST_SKIP() << "the network reads it";
  SideChannel asked("asked"), answered("answered");
  const auto source = all_spread_malloc<std::byte>(procs() * kBytes);
  std::memset(source.mine(), 7 + static_cast<int>(my_proc()), kBytes);
  std::vector<std::byte> places(kPlaces * kBytes, std::byte{8});
  barrier_left_by_all("held_begins");
  if (my_proc() == 1) {
    const std::uint64_t before = peak_kib();
    asked.await(2);
    drain();
    EXPECT_LT(peak_kib(), before + (std::uint64_t{16} << 10));  // the kernel counts in batches
    answered.advance_to(1);
  } else {
    std::ranges::fill(places, std::byte{0});
    if (my_proc() == 2) asked.await(1);
    std::size_t gets = 0;
    for (; gets < kGets && (gets < kPlaces || !congested(1)); ++gets) {
      bulk_get(places.data() + gets % kPlaces * kBytes, source.on(1), kBytes);
    }
    asked.advance_to(my_proc() == 0 ? 1 : 2);
    answered.await(1);  // without polling
    sync();
  }
  EXPECT_EQ(places, std::vector<std::byte>(places.size(), std::byte{8}));
  barrier();
  all_spread_free(source);
}

// The condition of a wait is evaluated while others send without end: they stop when it has been
// evaluated often enough.
void wait_in_a_flood(const std::string& name, std::size_t words) {
  constexpr int kEvaluations = 1000;
  SideChannel turn(name);
  const auto inbox = all_spread_malloc<std::uint64_t>(procs() * kBlock * 8);
  const std::vector<std::uint64_t> data(words);
  barrier();
  if (my_proc() == 0) {
    int evaluations = 0;
    wait_until([&] { return ++evaluations == kEvaluations; });
    turn.advance_to(1);
  } else {
    while (!turn.reached(1)) bulk_store(inbox.on(0), data.data(), 8 * words);
  }
  all_store_sync();
  all_spread_free(inbox);
}

TEST(Pressure, a_flood_of_small_stores_does_not_keep_a_wait_from_its_condition) {
  wait_in_a_flood("small", 8);
}

TEST(Pressure, a_flood_of_large_stores_does_not_keep_a_wait_from_its_condition) {
  wait_in_a_flood("large", 4096);
}

}  // namespace pressure_test
