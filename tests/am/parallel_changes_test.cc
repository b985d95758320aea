// Parallel bundles whose endpoints come, go, move and change while threads use them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/am/parallel.h"

namespace am {
namespace {

using ::test::job;
using test_parallel::in_threads;
using test_parallel::kThreads;

class ParallelChanges : public test_parallel::Parallel {};

// --- Changes under traffic.

struct Echo {
  void on_call(Request r, std::uint32_t thread) {
    calls += 1;
    std::move(r).reply<&Echo::on_answer>(thread);
  }
  void on_answer(Reply, std::uint32_t thread) { answers[thread] += 1; }
  void on_one_way(OneWay) { one_way += 1; }
  void join(Endpoint& endpoint) {
    endpoint.add_handlers<&Echo::on_call, &Echo::on_answer, &Echo::on_one_way>(*this);
    endpoint.set_tag(7);
  }
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> one_way{0};
  std::array<std::atomic<std::uint64_t>, 8> answers{};
};

TEST_F(ParallelChanges, threads_map_and_unmap_while_others_send) {
  constexpr std::uint32_t kTimes = 100;
  Echo echo;
  echo.join(*endpoint_);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  meet();
  in_threads(kThreads, [&](unsigned thread) {
    for (std::uint32_t n = 0; n < kTimes; ++n) {
      const Name& name = names[(me() + n) % size()];
      const std::uint32_t to = endpoint_->map_any(name, 7);
      for (int i = 0; i < 20; ++i) endpoint_->request<&Echo::on_one_way>(to);
      endpoint_->request<&Echo::on_call>(to, thread);
      endpoint_->unmap(to);  // has waited for the answer
      EXPECT_EQ(echo.answers[thread], n + 1);
    }
  });
  job().quiesce(*bundle_);
  const std::vector<std::uint64_t> calls = job().exchange(echo.calls.load());
  const std::vector<std::uint64_t> one_way = job().exchange(echo.one_way.load());
  const std::uint64_t all = std::uint64_t{kTimes} * kThreads * size();
  EXPECT_EQ(std::reduce(calls.begin(), calls.end()), all);
  EXPECT_EQ(std::reduce(one_way.begin(), one_way.end()), 20 * all);
  for (std::uint32_t index = 0; index < endpoint_->translations(); ++index) {
    EXPECT_FALSE(endpoint_->mapped(index));
  }
}

TEST_F(ParallelChanges, an_endpoint_goes_from_bundle_to_bundle_while_threads_use_it) {
  constexpr std::uint32_t kEach = 2000;
  Echo echo;
  echo.join(*endpoint_);
  job().connect(*endpoint_);
  Bundle other(job(), Access::kParallel);
  meet();
  std::atomic<unsigned> running{kThreads};
  in_threads(kThreads + 1, [&](unsigned thread) {
    if (thread == kThreads) {
      while (running != 0) {
        other.adopt(*endpoint_);
        other.poll();
        bundle_->adopt(*endpoint_);
        bundle_->poll();
      }
      return;
    }
    for (std::uint32_t n = 0; n < kEach; ++n) {
      endpoint_->request<&Echo::on_call>(n % size(), thread);
    }
    endpoint_->flush();
    EXPECT_EQ(echo.answers[thread], kEach);
    running -= 1;
  });
  job().quiesce(*bundle_);
  const std::vector<std::uint64_t> calls = job().exchange(echo.calls.load());
  EXPECT_EQ(std::reduce(calls.begin(), calls.end()), std::uint64_t{kEach} * kThreads * size());
}

// To the next process, whose threads end it meanwhile.
TEST_F(ParallelChanges, what_is_sent_to_an_endpoint_that_ends_is_handled_or_comes_back) {
  constexpr std::uint32_t kEach = 300;
  constexpr std::uint32_t kTimes = 20;
  Echo sender;
  Echo target;
  std::atomic<std::uint64_t> returned{0};
  sender.join(*endpoint_);
  endpoint_->on_returned([&](const Returned& message) {
    EXPECT_EQ(message.status, Status::kBadEndpoint);
    returned += 1;
  });
  for (std::uint32_t times = 0; times < kTimes; ++times) {
    auto mortal = std::make_unique<Endpoint>(*bundle_);
    target.join(*mortal);
    const std::vector<Name> names = job().exchange(mortal->name());
    const std::uint32_t to = endpoint_->map_any(names[right()], 7);
    in_threads(kThreads, [&](unsigned thread) {
      for (std::uint32_t n = 0; n < kEach; ++n) {
        if (thread == 0 && n == kEach / 2) mortal.reset();
        if (n % 2 == 0) {
          endpoint_->request<&Echo::on_call>(to, thread);
        } else {
          endpoint_->request<&Echo::on_one_way>(to);
        }
      }
    });
    endpoint_->unmap(to);
  }
  job().quiesce(*bundle_);
  EXPECT_EQ(sum(target.calls + target.one_way + returned),
            std::uint64_t{kTimes} * kEach * kThreads * size());
  std::uint64_t answers = 0;
  for (const auto& one : sender.answers) answers += one;
  EXPECT_EQ(sum(answers), sum(target.calls));
}

TEST_F(ParallelChanges, a_tag_changes_while_threads_send) {
  constexpr std::uint32_t kEach = 2000;
  Echo echo;
  std::atomic<std::uint64_t> returned{0};
  echo.join(*endpoint_);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  endpoint_->map(0, names[right()], 7);
  endpoint_->on_returned([&](const Returned& message) {
    EXPECT_EQ(message.status, Status::kBadTag);
    returned += 1;
  });
  meet();
  std::atomic<unsigned> running{kThreads};
  in_threads(kThreads + 1, [&](unsigned thread) {
    if (thread == kThreads) {
      // Each change is announced to other nodes, which nothing holds back: so not too many.
      for (Tag change = 0; running != 0 && change < 500; ++change) {
        endpoint_->set_tag(7 + change % 2);
        bundle_->poll();
      }
      return;
    }
    for (std::uint32_t n = 0; n < kEach; ++n) endpoint_->request<&Echo::on_one_way>(0);
    running -= 1;
  });
  job().quiesce(*bundle_);
  EXPECT_EQ(sum(echo.one_way + returned), std::uint64_t{kEach} * kThreads * size());
}

// --- Beside sequential bundles.

TEST_F(ParallelChanges, threads_that_wait_in_a_bundle_of_their_own_poll_the_parallel_one) {
  constexpr std::uint32_t kEach = 500;
  Echo echo;
  echo.join(*endpoint_);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  meet();
  in_threads(kThreads, [&](unsigned thread) {
    Bundle own(job());
    Endpoint sender(own);
    sender.add_handlers<&Echo::on_call, &Echo::on_answer>(echo);
    sender.set_tag(8);
    sender.map(0, names[right()], 7);
    for (std::uint32_t n = 0; n < kEach; ++n) sender.request<&Echo::on_call>(0, thread);
    sender.flush();  // nobody polls the parallel bundles but who waits in others
    EXPECT_EQ(echo.answers[thread], kEach);
  });
  meet();
  EXPECT_EQ(echo.calls, std::uint64_t{kEach} * kThreads);
}

TEST_F(ParallelChanges, moves_to_a_sequential_bundle_and_back_when_only_one_thread_is_there) {
  Echo echo;
  echo.join(*endpoint_);
  job().connect(*endpoint_);
  Bundle own(job());
  const auto call = [&](Bundle& bundle) {
    const std::uint64_t before = echo.answers[0];
    meet();
    endpoint_->request<&Echo::on_call>(right(), 0u);
    bundle.wait_until([&] { return echo.answers[0] == before + 1; });
    meet();
  };
  call(*bundle_);
  own.adopt(*endpoint_);
  call(own);
  bundle_->adopt(*endpoint_);
  call(*bundle_);
}

}  // namespace
}  // namespace am
