// Parallel bundles: what several threads of each process send in one arrives, whole and once.
#include "tests/am/parallel.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace am {
namespace {

using ::test::barrier;
using ::test::job;
using test_parallel::are_equal;
using test_parallel::Bytes;
using test_parallel::in_threads;
using test_parallel::kThreads;
using test_parallel::Parallel;
using test_parallel::payload_of;

TEST(Access, of_a_bundle_is_what_it_was_made_with) {
  EXPECT_EQ(Bundle(job(), Access::kParallel).access(), Access::kParallel);
  EXPECT_EQ(Bundle(job()).access(), Access::kSequential);
  barrier();
}

// --- What arrives.

// Counts what arrives, by the thread that has sent it.
struct Tally {
  struct Of {
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> replies{0};
    std::atomic<std::uint64_t> wrong{0};
  };
  void note(const Message& message, unsigned thread, std::uint32_t n, Bytes payload) {
    of[thread].requests += 1;
    of[thread].sum += n;
    const auto expected = payload_of(message.source(), thread, n, payload.size());
    of[thread].wrong += !are_equal(payload, expected);
  }
  void on_reply(Reply, std::uint32_t thread) { of[thread].replies += 1; }
  void on_short(Request r, std::uint32_t thread, std::uint32_t n) {
    note(r, thread, n, {});
    std::move(r).reply<&Tally::on_reply>(thread);
  }
  void on_medium(Request r, Bytes payload, std::uint32_t thread, std::uint32_t n) {
    note(r, thread, n, payload);
    std::move(r).reply_medium<&Tally::on_medium_reply>(payload, thread, n);
  }
  void on_medium_reply(Reply, Bytes payload, std::uint32_t thread, std::uint32_t n) {
    of[thread].wrong += !are_equal(payload, payload_of(job().rank(), thread, n, payload.size()));
    of[thread].replies += 1;
  }
  void on_long(Request r, std::span<std::byte> payload, std::uint32_t thread, std::uint32_t n) {
    note(r, thread, n, payload);
    std::move(r).reply<&Tally::on_reply>(thread);
  }
  void on_one_way(OneWay m, std::uint32_t thread, std::uint32_t n) { note(m, thread, n, {}); }

  void join(Endpoint& endpoint) {
    endpoint.add_handlers<&Tally::on_reply, &Tally::on_short, &Tally::on_medium,
                          &Tally::on_medium_reply, &Tally::on_long, &Tally::on_one_way>(*this);
    job().connect(endpoint);
  }

  std::array<Of, 8> of;
};

TEST_F(Parallel, threads_send_requests_of_all_kinds_and_each_gets_its_replies) {
  constexpr std::uint32_t kEach = 200;  // of each kind, thread and receiver
  constexpr std::size_t kLong = 3000;
  Tally tally;
  tally.join(*endpoint_);
  meet();
  in_threads(kThreads, [&](unsigned thread) {
    // A place of its own at each receiver; the next long message waits for the last one's reply.
    const std::uint64_t place = (std::uint64_t{me()} * kThreads + thread) * 4096;
    for (std::uint32_t n = 0; n < kEach; ++n) {
      const auto medium = payload_of(me(), thread, n, n % (max_medium() + 1));
      const auto bytes = payload_of(me(), thread, n, kLong);
      for (Rank to = 0; to < size(); ++to) {
        endpoint_->request<&Tally::on_short>(to, thread, n);
        endpoint_->request_medium<&Tally::on_medium>(to, medium, thread, n);
        endpoint_->request<&Tally::on_one_way>(to, thread, n);
        endpoint_->request_long<&Tally::on_long>(to, place, bytes, thread, n);
      }
      const std::uint64_t expected = std::uint64_t{n + 1} * 3 * size();
      bundle_->wait_until([&] { return tally.of[thread].replies == expected; });
    }
  });
  endpoint_->flush();
  meet();
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(tally.of[thread].requests, std::uint64_t{kEach} * 4 * size());
    EXPECT_EQ(tally.of[thread].sum, std::uint64_t{kEach} * (kEach - 1) / 2 * 4 * size());
    EXPECT_EQ(tally.of[thread].wrong, 0u);
  }
  const Stats stats = endpoint_->stats();
  const std::uint64_t each = std::uint64_t{kEach} * kThreads * size();
  EXPECT_EQ(stats[Kind::kShort].requests_sent, each);
  EXPECT_EQ(stats[Kind::kShort].one_way_sent, each);
  EXPECT_EQ(stats[Kind::kMedium].requests_sent, each);
  EXPECT_EQ(stats[Kind::kLong].requests_sent, each);
  EXPECT_EQ(stats[Kind::kShort].requests_received, each);
  EXPECT_EQ(stats[Kind::kShort].one_way_received, each);
  EXPECT_EQ(stats[Kind::kShort].replies_sent, 2 * each);
  EXPECT_EQ(stats[Kind::kShort].replies_received, 2 * each);
  EXPECT_EQ(stats[Kind::kMedium].replies_sent, each);
  EXPECT_EQ(stats[Kind::kMedium].replies_received, each);
}

// --- Long messages.

struct Blocks {
  static constexpr std::size_t kPlace = 32768;  // of a thread of a process
  static constexpr std::size_t kMost = 20000;   // bytes: pieces, or an RMA write

  void on_block(Request r, std::span<std::byte> block, std::uint32_t thread, std::uint32_t n) {
    wrong += !are_equal(block, payload_of(r.source(), thread, n, block.size()));
    const auto answer = payload_of(r.source(), thread, n + 1, block.size());
    // To where the requester has sent from: its own place.
    const std::uint64_t place = (std::uint64_t{r.source()} * kThreads + thread) * kPlace;
    std::move(r).reply_long<&Blocks::on_answer>(place, answer, thread, n + 1);
  }
  void on_answer(Reply, std::span<std::byte> block, std::uint32_t thread, std::uint32_t n) {
    wrong += !are_equal(block, payload_of(job().rank(), thread, n, block.size()));
    answers[thread] += 1;
  }
  std::array<std::atomic<std::uint64_t>, 8> answers{};
  std::atomic<std::uint64_t> wrong{0};
};

TEST_F(Parallel, long_messages_of_any_size_go_to_their_places_and_so_do_long_replies) {
  constexpr std::uint32_t kEach = 40;
  std::vector<std::byte> outside(std::size_t{size()} * kThreads * Blocks::kPlace);
  const std::span<std::byte> inside = endpoint_->segment().first(outside.size());
  for (const std::span<std::byte> segment : {inside, std::span<std::byte>(outside)}) {
    Blocks blocks;
    Endpoint endpoint(*bundle_);
    endpoint.add_handlers<&Blocks::on_block, &Blocks::on_answer>(blocks);
    endpoint.set_segment(segment);
    job().connect(endpoint);
    meet();
    in_threads(kThreads, [&](unsigned thread) {
      const std::uint64_t place = (std::uint64_t{me()} * kThreads + thread) * Blocks::kPlace;
      for (std::uint32_t n = 0; n < kEach; ++n) {
        const Rank to = (me() + n) % size();
        const std::size_t bytes = n * 997 % (Blocks::kMost + 1);
        endpoint.request_long<&Blocks::on_block>(to, place, payload_of(me(), thread, n, bytes),
                                                 thread, n);
        bundle_->wait_until([&] { return blocks.answers[thread] == n + 1; });
      }
    });
    job().quiesce(*bundle_);
    EXPECT_EQ(blocks.wrong, 0u);
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      EXPECT_EQ(blocks.answers[thread], kEach);
    }
  }
}

TEST_F(Parallel, long_messages_that_do_not_fit_come_back_to_every_thread_that_sends_some) {
  constexpr std::uint32_t kEach = 100;
  constexpr std::size_t kLong = 6000;
  Blocks blocks;
  std::atomic<std::uint64_t> returned{0};
  std::atomic<std::uint64_t> wrong{0};
  endpoint_->add_handlers<&Blocks::on_block, &Blocks::on_answer>(blocks);
  endpoint_->on_returned([&](const Returned& message) {
    wrong += message.status != Status::kBadLength || message.segment_bytes != kLong;
    returned += 1;
  });
  endpoint_->set_segment(endpoint_->segment().first(8000));
  job().connect(*endpoint_);
  meet();
  in_threads(kThreads, [&](unsigned thread) {
    const std::vector<std::byte> payload(kLong);
    for (std::uint32_t n = 0; n < kEach; ++n) {
      endpoint_->request_long<&Blocks::on_block>(right(), 4000 + thread * 10 + n, payload, thread,
                                                 n);
    }
  });
  job().quiesce(*bundle_);
  EXPECT_EQ(returned, std::uint64_t{kEach} * kThreads);
  EXPECT_EQ(wrong, 0u);
}

// --- Exceptions.

struct Thrower {
  void on_call(Request r, std::uint32_t n) {
    handled += 1;
    if (n % 5 == 0) throw std::runtime_error("call " + std::to_string(n));
    std::move(r).reply<&Thrower::on_answer>();
  }
  void on_answer(Reply) { answered += 1; }
  std::atomic<std::uint32_t> handled{0};
  std::atomic<std::uint32_t> answered{0};
};

TEST_F(Parallel, what_a_handler_throws_comes_out_once_and_stops_no_other_thread) {
  constexpr std::uint32_t kEach = 500;
  Thrower thrower;
  endpoint_->add_handlers<&Thrower::on_call, &Thrower::on_answer>(thrower);
  job().connect(*endpoint_);
  std::atomic<std::uint32_t> thrown{0};
  const auto again_if_thrown = [&](auto&& call) {
    for (;;) {
      try {
        return call();
      } catch (const std::runtime_error&) {
        thrown += 1;
      }
    }
  };
  in_threads(kThreads, [&](unsigned) {
    for (std::uint32_t n = 0; n < kEach; ++n) {
      const Rank to = n % size();
      again_if_thrown([&] {
        bundle_->wait_until([&] { return endpoint_->try_request<&Thrower::on_call>(to, n); });
      });
    }
    again_if_thrown([&] { endpoint_->flush(); });
  });
  again_if_thrown([&] { job().quiesce(*bundle_); });
  const std::vector<std::uint32_t> all_thrown = job().exchange(thrown.load());
  const std::vector<std::uint32_t> all_handled = job().exchange(thrower.handled.load());
  EXPECT_EQ(std::reduce(all_handled.begin(), all_handled.end()), kEach * kThreads * size());
  EXPECT_EQ(std::reduce(all_thrown.begin(), all_thrown.end()), kEach / 5 * kThreads * size());
  EXPECT_EQ(thrower.answered, kEach / 5 * 4 * kThreads);
}

struct Forbidden {
  void on_call(OneWay m) {
    Endpoint& endpoint = m.endpoint();
    const auto refuses = [&](auto&& call) {
      try {
        call();
      } catch (const Error&) {
        refused += 1;
      }
    };
    refuses([&] { endpoint.set_tag(9); });
    refuses([&] { endpoint.set_segment({}); });
    refuses([&] { endpoint.on_returned({}); });
    refuses([&] { endpoint.set_untyped_handler(0, [](UntypedMessage, void*) {}); });
    refuses([&] { endpoint.unmap(0); });
    refuses([&] { endpoint.bundle().poll(); });
    refuses([&] { endpoint.bundle().wait(Events::kNotEmpty); });
    refuses([&] { endpoint.request<&Forbidden::on_call>(0); });
    refuses([&] { (void)endpoint.try_request_index(0, {.handler = 1}); });
    refuses([&] { endpoint.flush(); });
    if (job().router().far_peers()) refuses([&] { Bundle(job(), Access::kParallel); });
    done = true;
  }
  std::atomic<int> refused{0};
  std::atomic<bool> done{false};
};

TEST_F(Parallel, a_handler_may_not_do_what_waits_for_handlers) {
  Forbidden forbidden;
  endpoint_->add_handlers<&Forbidden::on_call>(forbidden);
  endpoint_->set_tag(7);
  endpoint_->map(0, endpoint_->name(), 7);
  endpoint_->request<&Forbidden::on_call>(0);
  bundle_->wait_until([&] { return forbidden.done.load(); });
  EXPECT_EQ(forbidden.refused, job().router().far_peers() ? 11 : 10);
}

}  // namespace
}  // namespace am
