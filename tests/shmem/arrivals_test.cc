#include "shmem/arrivals.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shmem/doorbell.h"
#include "shmem/region.h"
#include "tests/shmem/in_child.h"
#include "tests/shmem/longest_sleep.h"
#include "tests/support/seed.h"

namespace shmem {
namespace arrivals_test {

constexpr unsigned kPatience = 60;  // seconds that one side waits for one that has failed
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kTimes = 200;  // each takes ten times as long
#else
constexpr std::uint64_t kTimes = 1'000;
#endif
constexpr std::uint32_t kPerLine = ArrivalBoard::kSeatsPerLine;

// A board in memory of its own, all zero, and what else two sides share.
struct Shared {
  ArrivalBoard board;
  alignas(kCacheLine) std::atomic<std::uint64_t> seen;  // arrivals, by the receiver
  std::atomic<std::int64_t> rest_ns;                    // from an arrival to when it rests
  Doorbell bell;                                        // the receiver's
};

class SharedRegion {
 public:
  Shared* operator->() const noexcept { return reinterpret_cast<Shared*>(region_.data()); }
  Shared& operator*() const noexcept { return *operator->(); }

 private:
  Region region_ = Region::create({.what = "a board", .bytes = sizeof(Shared)});
};

std::vector<Arrival> poll(Arrivals& arrivals) {
  std::vector<Arrival> all;
  const int count = arrivals.poll([&](Arrival arrival) { all.push_back(arrival); });
  EXPECT_EQ(static_cast<std::size_t>(count), all.size());
  return all;
}

// Polls until no line is looked at any more.
void let_rest(Arrivals& arrivals) {
  for (int i = 0; i < 100'000 && arrivals.watched() != 0; ++i) ASSERT_TRUE(poll(arrivals).empty());
  ASSERT_EQ(arrivals.watched(), 0u);
}

TEST(ArrivalWord, holds_all_three) {
  const Arrival arrival{0xfedc, 0xba98, 0x76543210};
  EXPECT_EQ(arrival.word(), 0xfedcba9876543210u);
  EXPECT_EQ(Arrival::of(arrival.word()), arrival);
}

class Board : public testing::Test {
 protected:
  SharedRegion shared_;
  ArrivalBoard& board_ = shared_->board;
  const Fence fence_{false};
  Arrivals arrivals_{board_, fence_};
  ArrivalSeats seats_{board_};
};

TEST_F(Board, tells_each_arrival_once) {
  EXPECT_FALSE(arrivals_.has_arrival());
  EXPECT_TRUE(poll(arrivals_).empty());
  ArrivalSeat seat = seats_.take();
  seat.announce({7, 1, 1}, fence_);
  EXPECT_TRUE(arrivals_.has_arrival());
  EXPECT_EQ(poll(arrivals_), (std::vector<Arrival>{{7, 1, 1}}));
  EXPECT_FALSE(arrivals_.has_arrival());
  EXPECT_TRUE(poll(arrivals_).empty());
}

TEST_F(Board, tells_the_last_of_several) {
  ArrivalSeat seat = seats_.take();
  for (std::uint32_t count = 1; count <= 5; ++count) seat.announce({7, 1, count}, fence_);
  EXPECT_EQ(poll(arrivals_), (std::vector<Arrival>{{7, 1, 5}}));
}

TEST_F(Board, keeps_the_seats_of_two_senders_on_lines_of_their_own) {
  ArrivalSeats others(board_);
  std::set<std::uint32_t> mine;
  std::set<std::uint32_t> theirs;
  for (std::uint32_t i = 0; i < 3 * kPerLine; ++i) {
    mine.insert(seats_.take().seat() / kPerLine);
    theirs.insert(others.take().seat() / kPerLine);
  }
  EXPECT_EQ(mine.size(), 3u);
  EXPECT_EQ(theirs.size(), 3u);
  for (const std::uint32_t line : theirs) EXPECT_FALSE(mine.contains(line));
}

TEST_F(Board, looks_no_longer_at_lines_where_nothing_comes) {
  std::vector<ArrivalSeat> all;
  for (std::uint32_t i = 0; i < 100 * kPerLine; ++i) all.push_back(seats_.take());
  EXPECT_EQ(arrivals_.watched(), 0u) << "a seat alone is nothing to look at";
  for (std::uint16_t i = 0; i < all.size(); ++i) all[i].announce({i, 1, 1}, fence_);
  EXPECT_EQ(poll(arrivals_).size(), all.size());
  EXPECT_EQ(arrivals_.watched(), 100u);
  let_rest(arrivals_);
  all[3 * kPerLine].announce({24, 1, 2}, fence_);
  EXPECT_TRUE(arrivals_.has_arrival());
  EXPECT_EQ(poll(arrivals_), (std::vector<Arrival>{{24, 1, 2}}));
  EXPECT_EQ(arrivals_.watched(), 1u) << "the others rest";
}

TEST_F(Board, goes_on_looking_where_something_comes) {
  ArrivalSeat seat = seats_.take();
  for (std::uint32_t count = 1; count <= 5; ++count) {
    seat.announce({7, 1, count}, fence_);
    EXPECT_EQ(poll(arrivals_).size(), 1u);
    for (int i = 0; i < 4000; ++i) poll(arrivals_);
    EXPECT_EQ(arrivals_.watched(), 1u);
  }
}

TEST_F(Board, keeps_the_rest_for_the_next_poll_when_the_sink_throws) {
  ArrivalSeat first = seats_.take();
  ArrivalSeat second = seats_.take();
  first.announce({1, 1, 1}, fence_);
  second.announce({2, 1, 1}, fence_);
  EXPECT_THROW(arrivals_.poll([](Arrival) { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(poll(arrivals_), (std::vector<Arrival>{{2, 1, 1}}));
}

TEST_F(Board, does_not_repeat_to_a_second_owner_what_it_told_the_first) {
  ArrivalSeat seat = seats_.take();
  ArrivalSeat resting = seats_.take();
  resting.announce({2, 1, 9}, fence_);
  EXPECT_EQ(poll(arrivals_).size(), 1u);
  let_rest(arrivals_);
  seat.announce({1, 1, 5}, fence_);
  Arrivals second(board_, fence_);
  EXPECT_TRUE(poll(second).empty());
  EXPECT_FALSE(second.has_arrival());
  seat.announce({1, 2, 1}, fence_);
  EXPECT_EQ(poll(second), (std::vector<Arrival>{{1, 2, 1}}));
}

TEST_F(Board, lends_seats_until_all_are_taken) {
  ArrivalSeats others(board_);
  const ArrivalSeat one = others.take();
  for (std::uint32_t i = kPerLine; i < ArrivalBoard::kSeats; ++i) seats_.take();
  try {
    seats_.take();
    FAIL() << "there are no more";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("65536 places"), std::string::npos) << error.what();
  }
  others.take();  // of the line it has
  others.give_back(one);
  EXPECT_EQ(others.take().seat(), one.seat());
  constexpr std::uint32_t kLast = ArrivalBoard::kLines - 1;
  ArrivalSeat last(board_, board_.lines[kLast], (ArrivalBoard::kPairs + kLast) * kPerLine);
  last.announce({1, 1, 1}, fence_);
  EXPECT_EQ(poll(arrivals_).size(), 1u);
}

TEST_F(Board, takes_back_lines_whose_seats_are_all_free) {
  ArrivalSeats others(board_);
  for (int round = 0; round < 3; ++round) {
    for (ArrivalSeats* const who : {&seats_, &others}) {  // nearly all lines, by turns
      std::vector<ArrivalSeat> all;
      for (std::uint32_t i = 0; i < ArrivalBoard::kSeats - kPerLine; ++i) {
        all.push_back(who->take());
      }
      for (const ArrivalSeat& seat : all) who->give_back(seat);
    }
  }
}

TEST_F(Board, keeps_lines_of_which_a_seat_is_in_use) {
  std::vector<ArrivalSeat> all;
  for (std::uint32_t i = 0; i < ArrivalBoard::kSeats; ++i) all.push_back(seats_.take());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (i % kPerLine != 3) seats_.give_back(all[i]);
  }
  ArrivalSeats others(board_);
  EXPECT_THROW(others.take(), Error);
  seats_.give_back(all[kPerLine + 3]);
  EXPECT_EQ(others.take().seat() / kPerLine, all[kPerLine].seat() / kPerLine);
}

TEST_F(Board, does_not_repeat_what_an_earlier_sender_of_the_line_has_told) {
  ArrivalSeat first = seats_.take();
  first.announce({1, 1, 1}, fence_);
  EXPECT_EQ(poll(arrivals_).size(), 1u);
  for (std::uint32_t i = 1; i < kPerLine + 1; ++i) seats_.take();  // so that it has another line
  for (std::uint32_t i = 0; i < kPerLine; ++i) {
    seats_.give_back({board_, board_.lines[0], ArrivalBoard::kPairs * kPerLine + i});
  }
  let_rest(arrivals_);
  Arrivals second(board_, fence_);
  ArrivalSeats others(board_);
  others.take();
  ArrivalSeat same_line = others.take();
  EXPECT_EQ(same_line.seat() / kPerLine, first.seat() / kPerLine);
  same_line.announce({2, 1, 1}, fence_);
  EXPECT_EQ(poll(second), (std::vector<Arrival>{{2, 1, 1}}));
}

TEST_F(Board, polls_idle_lines_no_longer_while_another_is_busy) {
  std::vector<ArrivalSeat> all;
  for (std::uint32_t i = 0; i < 100 * kPerLine; ++i) all.push_back(seats_.take());
  for (std::uint16_t i = 0; i < all.size(); ++i) all[i].announce({i, 1, 1}, fence_);
  EXPECT_EQ(poll(arrivals_).size(), all.size());
  for (std::uint32_t count = 2; count < 15'000; ++count) {
    all[5].announce({5, 1, count}, fence_);
    ASSERT_EQ(poll(arrivals_), (std::vector<Arrival>{{5, 1, count}}));
  }
  EXPECT_EQ(arrivals_.watched(), 1u);
  all[800 - 1].announce({799, 1, 2}, fence_);
  EXPECT_EQ(poll(arrivals_), (std::vector<Arrival>{{799, 1, 2}}));
}

TEST_F(Board, shares_a_line_with_who_tells_in_both_directions) {
  SharedRegion others_memory;
  ArrivalBoard& others_board = others_memory->board;
  const ArrivalPair here(board_, 5, others_board, 2);
  const ArrivalPair there(others_board, 2, board_, 5);
  EXPECT_EQ(&here.line(), &there.line());
  Arrivals mine(board_, fence_, {here});
  Arrivals others(others_board, fence_, {there});
  ArrivalSeats to_others(others_board, here);
  ArrivalSeats to_me(board_, there);
  std::set<std::uint32_t> numbers;
  for (std::uint16_t i = 1; i <= 2 * ArrivalPair::kSeats; ++i) {  // more than it has
    ArrivalSeat out = to_others.take();
    ArrivalSeat in = to_me.take();
    EXPECT_EQ(out.seat() / kPerLine == 5, i <= ArrivalPair::kSeats);
    EXPECT_EQ(in.seat() / kPerLine == 2, i <= ArrivalPair::kSeats);
    EXPECT_TRUE(numbers.insert(out.seat()).second);
    out.announce({i, 1, 1}, fence_);
    in.announce({i, 2, 1}, fence_);
    EXPECT_EQ(poll(others), (std::vector<Arrival>{{i, 1, 1}}));
    EXPECT_EQ(poll(mine), (std::vector<Arrival>{{i, 2, 1}}));
  }
  // Who comes later takes no seat in which something was told that may be unseen.
  ArrivalSeats again(others_board, here);
  EXPECT_GE(again.take().seat() / kPerLine, ArrivalBoard::kPairs);
}

// --- Both sides at once

struct Traffic {
  std::uint32_t seats;
  std::uint64_t arrivals;
  Fence fence;
};

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Tells on one seat after the other, the next when the receiver has seen the last, at once or about
// when it comes to rest: to meet it at every moment of that.
std::string tell_all(const Traffic& traffic, Shared& shared) {
  ArrivalSeats seats(shared.board);
  std::vector<ArrivalSeat> all;
  for (std::uint32_t i = 0; i < traffic.seats; ++i) all.push_back(seats.take());
  std::vector<std::uint32_t> told(traffic.seats);
  std::mt19937_64 random(::test::seed());
  for (std::uint64_t n = 0; n < traffic.arrivals; ++n) {
    const auto which = static_cast<std::uint16_t>(random() % traffic.seats);
    all[which].announce({which, 1, ++told[which]}, traffic.fence);
    shared.bell.notify(traffic.fence);
    // pairs with: receive_all()
    while (shared.seen.load(std::memory_order_acquire) <= n) sched_yield();
    std::int64_t rest;
    while ((rest = shared.rest_ns.load(std::memory_order_relaxed)) == 0) sched_yield();
    static constexpr std::int64_t kPercent[] = {0, 40, 50, 60, 60, 90, 100, 200};
    const std::int64_t percent = kPercent[random() % 8] + static_cast<std::int64_t>(random() % 10);
    for (const std::int64_t until = now_ns() + rest * percent / 100; now_ns() < until;) {
    }
  }
  return "fine";
}

std::string receive_all(const Traffic& traffic, Shared& shared, Arrivals& arrivals) {
  std::vector<std::uint32_t> next(traffic.seats);
  std::mt19937_64 random(::test::seed() + 1);
  std::uint64_t seen = 0;
  std::uint64_t rests = 0;
  std::int64_t last = now_ns();
  while (seen < traffic.arrivals) {
    const std::size_t watched = arrivals.watched();
    const int count = arrivals.poll([&](Arrival arrival) {
      if (arrival.count != ++next[arrival.number]) throw std::logic_error("another count");
    });
    if (watched != 0 && arrivals.watched() == 0) {
      ++rests;
      shared.rest_ns.store(now_ns() - last, std::memory_order_relaxed);
    }
    if (count != 0) last = now_ns();
    seen += static_cast<std::uint64_t>(count);
    // pairs with: tell_all()
    if (count != 0) shared.seen.store(seen, std::memory_order_release);
    const bool known = shared.rest_ns.load(std::memory_order_relaxed) != 0;
    if (count != 0 || !known || random() % 32'768 != 0) continue;
    last = now_ns();
    const std::uint32_t ticket = shared.bell.about_to_sleep();
    traffic.fence.heavy();
    if (!arrivals.has_arrival()) shared.bell.sleep(ticket, test::longest_sleep_ns(traffic.fence));
  }
  if (arrivals.has_arrival()) return "something is left";
  return rests != 0 ? "fine" : "the receiver never came to rest";
}

class TwoSides : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Fence::enroll()) GTEST_SKIP() << "the kernel has no such membarrier";
  }
  SharedRegion shared_;
};
INSTANTIATE_TEST_SUITE_P(Fences, TwoSides, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_the_kernel" : "by_both_sides");
});

TEST_P(TwoSides, lose_nothing_as_threads) {
  alarm(kPatience);
  const Traffic traffic{20, kTimes, Fence(GetParam())};
  Arrivals arrivals(shared_->board, traffic.fence);  // before anything is told
  std::string told;
  std::thread sender([&] { told = tell_all(traffic, *shared_); });
  EXPECT_EQ(receive_all(traffic, *shared_, arrivals), "fine");
  sender.join();
  EXPECT_EQ(told, "fine");
  alarm(0);
}

TEST_P(TwoSides, lose_nothing_as_processes) {
  const Traffic traffic{20, kTimes, Fence(GetParam())};
  Arrivals arrivals(shared_->board, traffic.fence);  // of the child that receives
  const auto results = test::in_children(2, [&](unsigned me) {
    alarm(kPatience);
    if (GetParam() && !Fence::enroll()) return std::string("refused");
    return me == 0 ? receive_all(traffic, *shared_, arrivals) : tell_all(traffic, *shared_);
  });
  for (const std::string& result : results) EXPECT_EQ(result, "fine");
}

// --- Two that tell one another

struct SharedPair {
  ArrivalBoard boards[2];
  struct alignas(kCacheLine) {
    std::atomic<std::uint64_t> seen;  // of what the other has told
  } sides[2];
};

class PairRegion {
 public:
  SharedPair& operator*() const noexcept { return *reinterpret_cast<SharedPair*>(region_.data()); }

 private:
  Region region_ = Region::create({.what = "two boards", .bytes = sizeof(SharedPair)});
};

// One of the two: tells on some seats, of the line that they share and of lines of its own.
class Side {
 public:
  static constexpr std::uint32_t kSeats = 2 * ArrivalPair::kSeats;

  Side(SharedPair& shared, std::uint32_t me, Fence fence)
      : shared_(shared),
        me_(me),
        fence_(fence),
        pair_(shared.boards[me], kIndex[me], shared.boards[1 - me], kIndex[1 - me]),
        arrivals_(shared.boards[me], fence, {pair_}),
        seats_(shared.boards[1 - me], pair_),
        random_(::test::seed() + me) {
    for (std::uint32_t i = 0; i < kSeats; ++i) seat_.push_back(seats_.take());
  }

  void tell(std::uint32_t which) {
    seat_[which].announce({static_cast<std::uint16_t>(which), 1, ++told_[which]}, fence_);
    ++told_all_;
  }
  // Returns how many have come, each of which is the next of its seat.
  int poll() {
    return arrivals_.poll([this](Arrival arrival) {
      if (arrival.count != ++seen_[arrival.number]) throw std::logic_error("another count");
      ++seen_all_;
    });
  }
  std::size_t watched() const { return arrivals_.watched(); }
  bool has_arrival() { return arrivals_.has_arrival(); }
  std::uint32_t line_of(std::uint32_t which) const {
    return seat_[which].seat() / ArrivalBoard::kSeatsPerLine;
  }

  // Tells so often, and sees as much: the next when the last has been seen, at once or after some
  // looks in vain, so that both come to rest again and again.
  std::string run(std::uint64_t times) {
    std::uint64_t rests = 0;
    std::uint64_t quiet = 0;  // looks before the next
    while (told_all_ < times || seen_all_ < times || seen_by_other() < times) {
      const std::size_t before = watched();
      if (poll() != 0) {
        // pairs with: seen_by_other()
        shared_.sides[me_].seen.store(seen_all_, std::memory_order_release);
      }
      rests += before != 0 && watched() == 0;
      if (quiet > 0 && --quiet > 0) continue;
      if (seen_by_other() < told_all_) {
        sched_yield();
      } else if (told_all_ < times) {
        tell(static_cast<std::uint32_t>(random_() % kSeats));
        quiet = random_() % 2 * (random_() % 20'000);
      }
    }
    return rests != 0 ? "fine" : "it never came to rest";
  }

 private:
  static constexpr std::uint32_t kIndex[] = {3, 7};  // among the processes of the node

  std::uint64_t seen_by_other() const {
    // pairs with: run()
    return shared_.sides[1 - me_].seen.load(std::memory_order_acquire);
  }

  SharedPair& shared_;
  const std::uint32_t me_;
  const Fence fence_;
  const ArrivalPair pair_;
  Arrivals arrivals_;
  ArrivalSeats seats_;
  std::mt19937_64 random_;
  std::vector<ArrivalSeat> seat_;
  std::uint32_t told_[kSeats]{};
  std::uint32_t seen_[kSeats]{};
  std::uint64_t told_all_ = 0;
  std::uint64_t seen_all_ = 0;
};

TEST(Pair, shares_one_line_for_the_first_seats_of_each) {
  PairRegion shared;
  Side one(*shared, 0, Fence(false));
  Side two(*shared, 1, Fence(false));
  for (std::uint32_t i = 0; i < Side::kSeats; ++i) {
    EXPECT_EQ(one.line_of(i) < ArrivalBoard::kPairs, i < ArrivalPair::kSeats);
    one.tell(i);
    two.tell(i);
  }
  EXPECT_EQ(one.poll(), static_cast<int>(Side::kSeats)) << "what the other has told, and no more";
  EXPECT_EQ(two.poll(), static_cast<int>(Side::kSeats));
  for (int i = 0; i < 100'000 && one.watched() != 0; ++i) EXPECT_EQ(one.poll(), 0);
  EXPECT_EQ(one.watched(), 0u);
  one.tell(0);
  EXPECT_FALSE(one.has_arrival()) << "its own words are no news";
  EXPECT_EQ(one.watched(), 0u);
  EXPECT_EQ(two.poll(), 1);
  two.tell(0);
  EXPECT_TRUE(one.has_arrival());
  EXPECT_EQ(one.poll(), 1);
  EXPECT_EQ(one.watched(), 1u);
}

TEST(Pair, is_not_taken_again_by_who_comes_later) {
  PairRegion shared;
  {
    Side earlier(*shared, 0, Fence(false));
    earlier.tell(0);
  }
  Side later(*shared, 0, Fence(false));
  EXPECT_GE(later.line_of(0), ArrivalBoard::kPairs) << "the other may not have seen that yet";
}

class PairOfSides : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Fence::enroll()) GTEST_SKIP() << "the kernel has no such membarrier";
    alarm(kPatience);
  }
  void TearDown() override { alarm(0); }

  PairRegion shared_;
  Side one_{*shared_, 0, Fence(GetParam())};
  Side two_{*shared_, 1, Fence(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Fences, PairOfSides, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_the_kernel" : "by_both_sides");
});

TEST_P(PairOfSides, lose_nothing_as_threads) {
  std::string other;
  std::thread thread([&] { other = two_.run(kTimes); });
  EXPECT_EQ(one_.run(kTimes), "fine");
  thread.join();
  EXPECT_EQ(other, "fine");
}

TEST_P(PairOfSides, lose_nothing_as_processes) {
  const auto results = test::in_children(2, [&](unsigned me) {
    alarm(kPatience);
    if (GetParam() && !Fence::enroll()) return std::string("refused");
    return (me == 0 ? one_ : two_).run(kTimes);
  });
  for (const std::string& result : results) EXPECT_EQ(result, "fine");
}

}  // namespace arrivals_test
}  // namespace shmem
