// Channels and grids of several threads of each process (docs/threads.md); main() is that of
// threads_test.cc.

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "splitc/splitc.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"
#include "tests/splitc/threads.h"
#include "tests/support/job_gtest.h"

namespace {

using namespace splitc;
using test::in_threads, test::kThreads, test::mark;

// Of each thread in turn: what make() calls is collective.
class InTurn {
 public:
  void operator()(std::uint32_t thread, const std::function<void()>& make) {
    for (std::uint32_t turn = 0; turn < kThreads; ++turn) {
      if (turn == thread) make();
      all_.arrive_and_wait();
    }
  }

 private:
  std::barrier<> all_{kThreads};
};

// A ring in which each process waits for the left one, and lets it know that it has read.
void go_round(std::uint32_t thread, std::size_t count, InTurn& in_turn, int rounds) {
  const std::uint32_t right = (my_proc() + 1) % procs(), left = (my_proc() + procs() - 1) % procs();
  std::vector<std::uint64_t> source(count);
  std::uint64_t done = 0;
  spread_ptr<std::uint64_t> room, back;
  std::optional<put_channel<std::uint64_t>> put, reply;
  in_turn(thread, [&] {
    room = all_spread_malloc<std::uint64_t>(count * procs());
    back = all_spread_malloc<std::uint64_t>(procs());
    put.emplace(room.on(right), std::span<const std::uint64_t>(source));
    reply.emplace(back.on(left), std::span<const std::uint64_t>(&done, 1));
  });
  const std::uint64_t* const here = tolocal(room.on(my_proc()));
  for (int round = 0; round < rounds; ++round) {
    put->wait_reusable();
    for (std::size_t i = 0; i < count; ++i) source[i] = mark(my_proc(), thread, round * count + i);
    put->put();
    put->wait();
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(here[i], mark(left, thread, round * count + i)) << "round " << round;
    put->ready();
    reply->wait_reusable();
    done = mark(my_proc(), thread, round);
    reply->put();
    reply->wait();
    ASSERT_EQ(*tolocal(back.on(my_proc())), mark(right, thread, round));
    reply->ready();
  }
  in_turn(thread, [&] {
    barrier();
    put.reset();
    reply.reset();
    all_spread_free(room);
    all_spread_free(back);
  });
}

TEST(Threads, channels_of_each_deliver_to_the_thread_that_has_made_them) {
  InTurn in_turn;
  for (const std::size_t count : {std::size_t{1}, std::size_t{600}, std::size_t{20'000}}) {
    in_threads(kThreads, [&](std::uint32_t thread) {
      go_round(thread, count, in_turn, test::times(count > 1000 ? 20 : 200, 10));
    });
  }
}

TEST(Threads, multicast_and_reduce_channels_of_each_serve_it_alone) {
  InTurn in_turn;
  in_threads(kThreads, [&](std::uint32_t thread) {
    std::uint64_t* shared = nullptr;
    std::uint64_t mine = 0, sum = 0;
    std::optional<multicast_channel<std::uint64_t>> all;
    std::optional<reduce_channel<std::uint64_t>> one;
    in_turn(thread, [&] {
      shared = local_malloc<std::uint64_t>(1);
      all.emplace(std::span(shared, 1));
      one.emplace(std::span<const std::uint64_t>(&mine, 1), std::span(&sum, 1));
    });
    for (std::uint64_t round = 1; round <= 50; ++round) {
      if (my_proc() == 0) *shared = mark(0, thread, round);
      if (my_proc() == 0) all->put();
      all->wait();
      ASSERT_EQ(*shared, mark(0, thread, round));
      all->ready();
      wait_until([&] { return one->reusable(); });
      mine = thread * round;
      one->put();
      one->wait();
      if (my_proc() == 0) {
        ASSERT_EQ(sum, thread * round * procs());
      }
      one->ready();
      wait_until([&] { return all->reusable(); });
    }
    in_turn(thread, [&] {
      barrier();
      all.reset();
      one.reset();
      local_free(shared);
    });
  });
}

TEST(Threads, a_grid_of_each_exchanges_its_ghosts) {
  InTurn in_turn;
  in_threads(kThreads, [&](std::uint32_t thread) {
    std::optional<grid<std::uint64_t, 1>> cells;
    in_turn(thread, [&] {
      cells.emplace(std::array<std::size_t, 1>{4 * procs()},
                    grid_options<1>{.ghosts = 1, .periodic = {true}});
    });
    const auto size = static_cast<std::ptrdiff_t>(4);
    for (std::uint64_t round = 0; round < 50; ++round) {
      (*cells)(0) = mark(my_proc(), thread, round);
      (*cells)(size - 1) = mark(my_proc(), thread, round + 1000);
      cells->exchange();
      ASSERT_EQ((*cells)(-1), mark((my_proc() + procs() - 1) % procs(), thread, round + 1000));
      ASSERT_EQ((*cells)(size), mark((my_proc() + 1) % procs(), thread, round));
    }
    in_turn(thread, [&] { cells.reset(); });
  });
}

TEST(Threads, another_than_its_maker_is_refused_by_a_channel) {
  int word = 0;
  const auto room = all_spread_malloc<int>(procs());
  put_channel<int> channel(room.on(my_proc()), std::span<const int>(&word, 1));
  std::string said;
  std::jthread([&] { said = test::error_of([&] { channel.wait(); }); }).join();
  EXPECT_NE(said.find("put_channel::wait: a channel is for the thread that has made it, which is "
                      "number 0 of this process"),
            std::string::npos)
      << said;
  barrier();
  if constexpr (am::kChecked) {
    multicast_channel<int> all(std::span(tolocal(room.on(my_proc())), 1));
    std::jthread([&] { said = test::error_of([&] { all.put(); }); }).join();
    EXPECT_NE(said.find("multicast_channel::put: a channel is for the thread"), std::string::npos)
        << said;
    barrier();
  }
}

}  // namespace
