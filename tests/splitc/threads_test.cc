// Several threads of each process in the global address space at once (docs/threads.md).

#include "tests/splitc/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "splitc/splitc.h"
#include "splitc/world/heap.h"
#include "tests/splitc/error_of.h"
#include "tests/splitc/nodes.h"
#include "tests/support/job_gtest.h"
#include "tests/support/seed.h"

namespace {

using namespace splitc;
using test::in_threads, test::kThreads, test::mark;

TEST(Threads, each_gets_what_it_asks_for_from_everybody) {
  constexpr std::size_t kEach = 512;
  spread_array<std::uint64_t> a(kEach * procs());
  for (std::size_t i = my_proc(); i < a.size(); i += procs()) a[i] = mark(7, 7, i);
  barrier();
  in_threads(kThreads, [&](std::uint32_t thread) {
    std::mt19937_64 random(test::seed() + thread);
    std::vector<std::uint64_t> got(64);
    std::vector<std::size_t> index(got.size());
    for (int round = 0; round < test::times(100, 20); ++round) {
      for (std::size_t k = 0; k < got.size(); ++k) {
        index[k] = random() % a.size();
        get(got[k], &a[index[k]]);
      }
      sync();
      for (std::size_t k = 0; k < got.size(); ++k) ASSERT_EQ(got[k], mark(7, 7, index[k]));
      ASSERT_EQ(static_cast<std::uint64_t>(a[index[0]]), got[0]);
    }
  });
  barrier();
}

TEST(Threads, what_each_puts_and_writes_arrives) {
  constexpr std::size_t kEach = 200;
  // By process that writes, thread, number; at the process after it.
  const auto room = all_spread_malloc<std::uint64_t>(procs() * kThreads * kEach * procs());
  const std::uint32_t to = (my_proc() + 1) % procs();
  in_threads(kThreads, [&](std::uint32_t thread) {
    const auto mine = room.on(to) + static_cast<std::ptrdiff_t>(thread * kEach);
    for (std::size_t i = 0; i < kEach; ++i) {
      const auto at = mine + static_cast<std::ptrdiff_t>(i);
      if (i % 3 == 0) {
        *at = mark(my_proc(), thread, i);
      } else {
        put(at, mark(my_proc(), thread, i));
      }
    }
    sync();
  });
  barrier();
  const std::uint32_t from = (my_proc() + procs() - 1) % procs();
  const std::uint64_t* const here = tolocal(room.on(my_proc()));
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::size_t i = 0; i < kEach; ++i)
      ASSERT_EQ(here[thread * kEach + i], mark(from, thread, i));
  }
  all_spread_free(room);
}

TEST(Threads, blocks_of_any_size_move_in_both_directions) {
  constexpr std::size_t kBytes = 100'000;
  const auto room = all_spread_malloc<std::byte>(kBytes * kThreads * procs());
  in_threads(kThreads, [&](std::uint32_t thread) {
    const std::uint32_t to = (my_proc() + thread) % procs();
    const auto at = room.on(to) + static_cast<std::ptrdiff_t>(thread * kBytes);
    std::vector<std::byte> out(kBytes, static_cast<std::byte>(16 * my_proc() + thread)), in(kBytes);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{65}, std::size_t{4096}, kBytes}) {
      bulk_put(at, out.data(), bytes);
      sync();
      std::ranges::fill(in, std::byte{});
      bulk_get(in.data(), at, bytes);
      sync();
      ASSERT_TRUE(
          std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(bytes), out.begin()));
    }
  });
  all_spread_free(room);
}

TEST(Threads, additions_of_all_give_each_sum_once) {
  const std::uint32_t kAdditions = test::times(500u, 60u);
  const auto counter = all_spread_malloc<std::uint64_t>(procs());
  std::vector<std::uint64_t> seen(kAdditions * kThreads);
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < kAdditions; ++i) {
      seen[thread * kAdditions + i] = fetch_and_add(counter.on(procs() - 1), std::uint64_t{1});
    }
  });
  std::vector<std::uint64_t> all(seen.size() * procs());
  all_gather(std::span(seen), std::span(all));
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  all_spread_free(counter);
}

TEST(Threads, stores_of_all_are_counted_where_they_land) {
  constexpr std::size_t kEach = 300;
  const auto room = all_spread_malloc<std::uint64_t>(procs() * procs() * kThreads * kEach);
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (std::size_t i = 0; i < kEach; ++i) {
      for (std::uint32_t to = 0; to < procs(); ++to) {
        const std::size_t at = (my_proc() * kThreads + thread) * kEach + i;
        store(room.on(to) + static_cast<std::ptrdiff_t>(at), mark(my_proc(), thread, i));
      }
    }
  });
  store_sync(procs() * kThreads * kEach * sizeof(std::uint64_t));
  const std::uint64_t* here = tolocal(room.on(my_proc()));
  for (std::uint32_t from = 0; from < procs(); ++from) {
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      for (std::size_t i = 0; i < kEach; ++i) ASSERT_EQ(*here++, mark(from, thread, i));
    }
  }
  all_store_sync();
  all_spread_free(room);
}

TEST(Threads, calls_return_to_the_thread_that_made_them) {
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(test::times(200, 30)); ++i) {
      const std::uint32_t to = (my_proc() + i) % procs();
      const std::uint64_t sent = mark(my_proc(), thread, i);
      auto word = rpc(
          to, [](std::uint64_t x) { return x + my_proc(); }, sent);
      auto longer = rpc(
          to,
          [](std::uint64_t x, std::uint32_t n) {
            std::vector<std::uint64_t> all(n);
            std::iota(all.begin(), all.end(), x);
            return all;
          },
          sent, i % 10 == 0 ? 5000u : 30u);
      ASSERT_EQ(word.result(), sent + to);
      const std::vector<std::uint64_t> all = longer.result();
      ASSERT_EQ(all.size(), i % 10 == 0 ? 5000u : 30u);
      for (std::size_t k = 0; k < all.size(); ++k) ASSERT_EQ(all[k], sent + k);
    }
  });
  barrier();
}

TEST(Threads, long_arguments_of_several_at_once_are_not_mixed_up) {
  dist_object<std::atomic<std::uint64_t>> wrong(0u);
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      const std::vector<std::uint64_t> sent(3000 + i, mark(my_proc(), thread, i));
      rpc_ff((my_proc() + i) % procs(),
             [](std::atomic<std::uint64_t>& bad, std::span<const std::uint64_t> all,
                std::uint64_t value, std::uint64_t count) {
               if (all.size() != count || std::ranges::count(all, value) != std::ssize(all)) ++bad;
             },
             wrong, std::span<const std::uint64_t>(sent), sent[0], std::uint64_t{sent.size()});
    }
  });
  quiesce();
  EXPECT_EQ(wrong->load(), 0u);
}

TEST(Threads, quiet_completes_the_calls_of_the_thread_that_says_so) {
  struct Counts {
    std::atomic<std::uint32_t> of[8 * kThreads];  // by the caller
  };
  dist_object<Counts> counts;
  in_threads(kThreads, [&](std::uint32_t thread) {
    const std::uint32_t mine = my_proc() * kThreads + thread;
    for (std::uint32_t round = 1; round <= 5; ++round) {
      for (std::uint32_t to = 0; to < procs(); ++to)
        rpc_ff(
            to, [](Counts& here, std::uint32_t from) { ++here.of[from]; }, counts, mine);
      quiet();
      const auto count = [](Counts& here, std::uint32_t from) { return here.of[from].load(); };
      for (std::uint32_t to = 0; to < procs(); ++to)
        ASSERT_EQ(rpc(to, count, counts, mine).result(), round);
    }
  });
  barrier();
}

TEST(Threads, one_that_waits_serves_for_one_that_computes) {
  if (procs() == 1) GTEST_SKIP() << "there is nobody who could ask";
  std::atomic<bool> done{false};
  dist_object<std::atomic<std::uint32_t>> asked(0u);
  const std::uint32_t left = (my_proc() + procs() - 1) % procs();
  // The test's own thread makes no call until all have been answered.
  std::jthread other([&] {
    const std::uint64_t answer = rpc(
                                     left,
                                     [](std::atomic<std::uint32_t>& count) {
                                       ++count;
                                       return std::uint64_t{my_proc()};
                                     },
                                     asked)
                                     .result();
    EXPECT_EQ(answer, left);
    wait_until([&] { return asked->load() == 1; });
    done = true;
    done.notify_all();
  });
  done.wait(false);
  EXPECT_EQ(asked->load(), 1u);
}

TEST(Threads, a_wait_ends_by_what_another_thread_has_handled) {
  dist_object<std::atomic<std::uint32_t>> come(0u);
  const std::uint32_t rounds = static_cast<std::uint32_t>(test::times(300, 50));
  in_threads(kThreads, [&](std::uint32_t thread) {
    if (thread == 0) {
      for (std::uint32_t i = 0; i < rounds; ++i) {
        rpc_ff((my_proc() + 1) % procs(), [](std::atomic<std::uint32_t>& count) { ++count; }, come);
      }
    }
    wait_until([&] { return come->load() == rounds; });
  });
  quiesce();
}

TEST(Threads, teams_of_two_threads_make_their_calls_at_the_same_time) {
  const team one = team::world().split(0);
  const team other = team::world().split(0);
  in_threads(2, [&](std::uint32_t thread) {
    const team& mine = thread == 0 ? one : other;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(test::times(200, 30)); ++i) {
      const std::uint64_t sum =
          mine.all_reduce(i + thread, [](std::uint64_t a, std::uint64_t b) { return a + b; });
      ASSERT_EQ(sum, (i + thread) * procs());
      std::vector<std::uint64_t> all(procs() * 700), part(700, mark(my_proc(), thread, i));
      mine.all_gather(std::span(part), std::span(all));
      for (std::uint32_t from = 0; from < procs(); ++from)
        ASSERT_EQ(all[from * 700 + 699], mark(from, thread, i));
      mine.barrier();
    }
  });
}

TEST(Threads, an_operation_of_one_team_may_wait_for_a_call_of_another) {
  const team one = team::world().split(0);
  const team other = team::world().split(0);
  std::atomic<bool> passed{false};
  in_threads(2, [&](std::uint32_t thread) {
    if (thread == 1) {
      other.barrier();
      passed = true;
      passed.notify_all();
      return;
    }
    const int sum = one.all_reduce(1, [&passed](int a, int b) {
      passed.wait(false);
      return a + b;
    });
    EXPECT_EQ(sum, static_cast<int>(procs()));
  });
}

TEST(Threads, that_end_unseen_make_room_for_others) {
  for (int round = 0; round < 10; ++round) {
    const auto done = std::make_shared<std::latch>(kThreads - 1);
    for (std::uint32_t i = 1; i < kThreads; ++i) {
      // What it has started is completed when nobody looks any more.
      std::thread([done] {
        rpc_ff((my_proc() + 1) % procs(), [] {});
        done->count_down();
      }).detach();
    }
    done->wait();
  }
  quiesce();
}

TEST(Threads, take_turns_at_the_calls_of_all_processes) {
  std::barrier<> turn(kThreads);
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < kThreads * 3; ++i) {
      if (i % kThreads == thread) {
        barrier();
        const auto block = all_spread_malloc<std::uint64_t>(64 * procs());
        ASSERT_EQ(all_reduce(std::uint64_t{i}, std::plus<>()), std::uint64_t{i} * procs());
        all_store_sync();
        all_spread_free(block);
      }
      turn.arrive_and_wait();
    }
  });
}

TEST(Threads, allocate_at_the_same_time) {
  const std::uint64_t before = world().heap().used();
  in_threads(kThreads, [&](std::uint32_t thread) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::uint64_t*> blocks;
      for (std::uint64_t i = 0; i < 20; ++i) {
        blocks.push_back(local_malloc<std::uint64_t>(i + 1));
        std::fill_n(blocks.back(), i + 1, mark(1, thread, i));
      }
      for (std::uint64_t i = 0; i < 20; ++i) {
        ASSERT_EQ(std::count(blocks[i], blocks[i] + i + 1, mark(1, thread, i)),
                  static_cast<std::ptrdiff_t>(i + 1));
        local_free(blocks[i]);
      }
    }
  });
  EXPECT_EQ(world().heap().used(), before);
}

TEST(Threads, one_that_has_ended_makes_room_for_another) {
  for (int round = 0; round < 3; ++round) {
    in_threads(kThreads, [](std::uint32_t) {
      // Nobody waits for it: the end of the thread does.
      rpc_ff((my_proc() + 1) % procs(), [] {});
      poll();
    });
  }
  quiesce();
}

// Its destructor runs behind the library's end of the thread, if the object was made before.
struct Late {
  ~Late() {
    if (calls)
      rpc_ff((my_proc() + 1) % procs(), [](std::atomic<std::uint32_t>& n) { ++n; }, *calls);
  }
  dist_object<std::atomic<std::uint32_t>>* calls = nullptr;
};
thread_local Late late;

TEST(Threads, one_that_ends_may_call_while_it_does) {
  dist_object<std::atomic<std::uint32_t>> calls(0u);
  for (int round = 0; round < 5; ++round) {
    in_threads(kThreads, [&](std::uint32_t thread) {
      if (thread != 0) late.calls = &calls;
      poll();
    });
  }
  quiesce();
  EXPECT_EQ(calls->load(), 5 * (kThreads - 1));
}

TEST(Threads, store_while_another_waits_for_the_stores_of_all) {
  const auto room = all_spread_malloc<std::uint64_t>(procs() * kThreads);
  for (int round = 0; round < 5; ++round) {
    store_counter counter;
    in_threads(kThreads, [&](std::uint32_t thread) {
      for (std::uint32_t i = 0; i < 40; ++i) {
        const auto at = room.on((thread + i) % procs()) + static_cast<std::ptrdiff_t>(thread);
        if (thread != 0) store(at, std::uint64_t{i}, counter);
        if (thread == 0 && i % 10 == 0) counter.wait_all();
      }
    });
    counter.wait_all();
    EXPECT_EQ(counter.available(), 0u);
  }
  all_spread_free(room);
}

TEST(Threads, one_too_many_is_refused_and_told_what_to_do) {
  std::barrier<> all_in(kThreads);
  std::barrier<> go(kThreads);
  std::string said;
  in_threads(kThreads, [&](std::uint32_t thread) {
    poll();
    all_in.arrive_and_wait();
    if (thread == 0) {
      std::jthread([&] { said = test::error_of([] { poll(); }); }).join();
    }
    go.arrive_and_wait();
  });
  EXPECT_NE(said.find("poll: called by one thread more than the 4 that run() was told of"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("{.threads = 5}"), std::string::npos) << said;
}

TEST(Threads, have_no_descriptor_for_event_loops) {
  const std::string arms = ::test::error_of([] { static_cast<void>(arm()); });
  EXPECT_NE(arms.find("arm: run() was told of several threads"), std::string::npos) << arms;
  const std::string asks = ::test::error_of([] { static_cast<void>(event_fd()); });
  EXPECT_NE(asks.find("event_fd: run() was told of several threads"), std::string::npos) << asks;
}

TEST(Threads, started_calls_are_for_the_first_one) {
  const std::function<void()> calls[] = {[] { start_barrier(); }, [] { barrier_notify(); }};
  for (const auto& call : calls) {
    std::string said;
    std::jthread([&] { said = test::error_of(call); }).join();
    EXPECT_NE(said.find("called by another thread than the one that called run()"),
              std::string::npos)
        << said;
  }
}

struct Tally {
  std::uint64_t count;  // changed without an atomic instruction
  std::uint64_t inside;
};
std::uint64_t add_alone(Tally& tally, std::uint64_t n) {
  EXPECT_EQ(++tally.inside, 1u);
  tally.count += n;
  --tally.inside;
  return tally.count;
}

TEST(Threads, functions_of_atomic_run_one_at_a_time_whichever_thread_runs_them) {
  const std::uint32_t kCalls = test::times(300u, 40u);
  const auto tally = all_spread_malloc<Tally>(procs());
  in_threads(kThreads, [&](std::uint32_t) {
    for (std::uint32_t i = 0; i < kCalls; ++i) atomic<&add_alone>(tally.on(i % procs()), 1u);
  });
  barrier();
  const std::uint64_t all = all_reduce(tolocal(tally.on(my_proc()))->count, std::plus<>());
  EXPECT_EQ(all, std::uint64_t{kCalls} * kThreads * procs());
  all_spread_free(tally);
}

TEST(Threads, what_is_handed_over_to_a_thread_runs_there_in_order) {
  constexpr std::uint32_t kEach = 100;
  struct Seen {
    std::vector<std::uint32_t> from[8];  // owned by thread 0
  };
  dist_object<Seen> seen;
  in_threads(kThreads, [&](std::uint32_t thread) {
    if (thread != 1) return;
    for (std::uint32_t i = 0; i < kEach; ++i) {
      rpc((my_proc() + 1) % procs(),
          [](Seen& here, std::uint32_t source, std::uint32_t number) {
            run_in_thread(0, [&here, source, number] {
              EXPECT_EQ(my_thread(), 0u);
              here.from[source].push_back(number);
            });
          },
          seen, my_proc(), i)
          .wait();
    }
  });
  std::vector<std::uint32_t> expected(kEach);
  std::iota(expected.begin(), expected.end(), 0u);
  const std::uint32_t left = (my_proc() + procs() - 1) % procs();
  wait_until([&] { return seen->from[left].size() == kEach; });
  EXPECT_EQ(seen->from[left], expected);
  test::expect_error([] { run_in_thread(99, [] {}); }, {"run_in_thread: there is no thread 99"});
  quiesce();
}

task<std::uint64_t> sum_of(global_ptr<std::uint64_t> first, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += co_await get(first + static_cast<std::ptrdiff_t>(i));
  co_return sum;
}

TEST(Threads, tasks_go_on_where_they_were_started) {
  const auto room = all_spread_malloc<std::uint64_t>(100 * procs());
  std::iota(tolocal(room.on(my_proc())), tolocal(room.on(my_proc())) + 100, std::uint64_t{0});
  barrier();
  in_threads(kThreads, [&](std::uint32_t) {
    std::vector<task<std::uint64_t>> tasks;
    for (std::uint32_t proc = 0; proc < procs(); ++proc)
      tasks.push_back(sum_of(room.on(proc), 100));
    for (auto& one : tasks) ASSERT_EQ(one.result(), 4950u);
  });
  barrier();
  all_spread_free(room);
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, {.threads = kThreads}, [](Args args) {
    return test::run_cases(args.argc(), args.argv(),
                           {.rank = my_proc(),
                            .share = [](std::uint64_t n) { return all_bcast(n); },
                            .meet = [] { barrier(); }});
  });
}
