// Bundles of several threads of a process, in jobs of one and of several nodes.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/am/threads/party.h"
#include "tests/support/window.h"

namespace am::test_threads {
namespace bundles_test {

using ::test::barrier;
using ::test::job;

constexpr std::uint32_t kMessages = 150;  // from each party to each

// Runs `body(thread)` in every thread of the process.
void in_threads(const std::function<void(std::uint32_t)>& body) {
  std::vector<std::thread> others;
  for (std::uint32_t thread = 1; thread < kThreads; ++thread) {
    others.emplace_back([&body, thread] {
      try {
        body(thread);
      } catch (const std::exception& error) {
        job().abort(1, error.what());
      }
    });
  }
  body(0);
  for (std::thread& other : others) other.join();
}

TEST(Bundles, of_two_threads_talk_to_everybody_at_once) {
  Meeting meeting;
  in_threads([&](std::uint32_t thread) {
    Party party(meeting, thread);
    party.send(0, kMessages);
    party.bundle().wait_until([&] { return party.complete(kMessages); });
    EXPECT_EQ(party.endpoint().stats().returned_here, 0u);
    meeting.part(thread, party.bundle());
  });
}

TEST(Bundles, of_two_threads_wait_by_polling_alone) {
  Meeting meeting;
  in_threads([&](std::uint32_t thread) {
    Party party(meeting, thread);
    party.send(0, kMessages);
    while (!party.complete(kMessages)) {
      if (party.bundle().poll() == 0) std::this_thread::yield();
    }
    meeting.part(thread, party.bundle());
  });
}

TEST(Bundles, a_bundle_that_changes_its_thread_under_traffic_loses_nothing) {
  Meeting meeting;
  in_threads([&](std::uint32_t thread) {
    Party party(meeting, thread);
    constexpr std::uint32_t kStep = kMessages / 5;
    for (std::uint32_t first = 0; first < kMessages; first += kStep) {
      const auto step = [&] {
        party.send(first, first + kStep);
        party.bundle().poll();
      };
      if (thread == 0) {
        step();
      } else {
        std::thread(step).join();
      }
    }
    party.bundle().wait_until([&] { return party.complete(kMessages); });
    meeting.part(thread, party.bundle());
  });
}

// --- What waits for a bundle that is not polled

// As many short requests as there are credits for, to and from an endpoint of process `rank`.
std::uint32_t flood_of(Rank rank) { return ::test::window(rank, Kind::kShort); }

struct Counter {
  void on_request(Request, std::uint32_t number) { sum += number; }
  std::uint64_t sum = 0;
};

// An endpoint that counts, in a bundle of the thread that makes it.
struct Counting {
  Counting(Meeting& meeting, std::uint32_t thread)
      : bundle(job()), endpoint(std::make_unique<Endpoint>(bundle)) {
    endpoint->add_handlers<&Counter::on_request>(counter);
    endpoint->on_returned([this](const Returned& message) {
      ++returned;
      EXPECT_EQ(message.status, Status::kBadEndpoint);
    });
    meeting.connect(thread, *endpoint);
  }
  // To the second threads of all processes, until there is no credit.
  void flood() {
    for (std::uint32_t to = 1; to < Meeting::parties(); to += kThreads) {
      for (std::uint32_t i = 0; i < flood_of(to / kThreads); ++i) {
        bundle.wait_until([&] { return endpoint->try_request<&Counter::on_request>(to, i); });
      }
      EXPECT_FALSE(endpoint->try_request<&Counter::on_request>(to, 0u));
    }
  }
  // To and from the first threads of all processes, who have then received what came before.
  void round_trips(std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      for (std::uint32_t to = 0; to < Meeting::parties(); to += kThreads) {
        endpoint->request<&Counter::on_request>(to, 0u);
      }
    }
    for (std::uint32_t to = 0; to < Meeting::parties(); to += kThreads) {
      bundle.wait_until([&] { return endpoint->in_flight(to, Kind::kShort) == 0; });
    }
  }

  Bundle bundle;
  Counter counter;
  std::unique_ptr<Endpoint> endpoint;
  std::uint64_t returned = 0;
};

TEST(Bundles, what_comes_for_a_thread_that_does_not_poll_waits_and_delays_nobody) {
  Meeting meeting;
  in_threads([&](std::uint32_t thread) {
    Counting mine(meeting, thread);
    if (thread == 0) {
      mine.flood();
      mine.round_trips(200);
      barrier();
      for (std::uint32_t to = 1; to < Meeting::parties(); to += kThreads) {
        EXPECT_EQ(mine.endpoint->in_flight(to, Kind::kShort), flood_of(to / kThreads));
      }
      barrier();
      meeting.wait();
      mine.endpoint->flush();
    } else {
      meeting.wait();
      EXPECT_EQ(mine.counter.sum, 0u);
      std::uint64_t expected = 0;
      for (Rank rank = 0; rank < ::test::size(); ++rank) {
        expected += flood_of(rank) * (flood_of(rank) - 1) / 2;
      }
      mine.bundle.wait_until([&] { return mine.counter.sum == expected; });
    }
    meeting.part(thread, mine.bundle);
  });
}

TEST(Bundles, what_waits_for_an_endpoint_that_ends_comes_back) {
  Meeting meeting;
  in_threads([&](std::uint32_t thread) {
    Counting mine(meeting, thread);
    if (thread == 0) {
      mine.flood();
      mine.round_trips(1);
      barrier();
      meeting.wait();
      std::uint64_t expected = 0;
      for (Rank rank = 0; rank < ::test::size(); ++rank) expected += flood_of(rank);
      mine.bundle.wait_until([&] { return mine.returned == expected; });
    } else {
      meeting.wait();
      mine.endpoint.reset();
      EXPECT_EQ(mine.counter.sum, 0u);
    }
    meeting.part(thread, mine.bundle);
  });
}

// --- Sleeping

// A ball goes round the second threads of all processes, which sleep until it comes, while the
// first threads poll all the time and so receive it. (Whom nobody wakes looks again by himself
// after up to a second: then this takes minutes.)
TEST(Bundles, a_thread_that_sleeps_is_woken_by_what_a_busy_one_receives) {
  constexpr std::uint64_t kTurns = 300;
  Meeting meeting;
  std::atomic<bool> played{false};
  in_threads([&](std::uint32_t thread) {
    Counting mine(meeting, thread);
    if (thread == 0) {
      // pairs with: the store below
      while (!played.load(std::memory_order_acquire)) {
        if (mine.bundle.poll() == 0) std::this_thread::yield();
      }
    } else {
      const std::uint32_t next = ((::test::rank() + 1) % ::test::size()) * kThreads + 1;
      for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
        if (::test::rank() == 0) mine.endpoint->request<&Counter::on_request>(next, 1u);
        while (mine.counter.sum == turn) {
          mine.bundle.wait(Events::kNotEmpty);
          mine.bundle.poll();
        }
        if (::test::rank() != 0) mine.endpoint->request<&Counter::on_request>(next, 1u);
      }
      played.store(true, std::memory_order_release);  // pairs with: the load above
    }
    meeting.part(thread, mine.bundle);
  });
}

}  // namespace bundles_test
}  // namespace am::test_threads
