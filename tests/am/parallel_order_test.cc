// Parallel bundles: which handlers run at the same time, which one after another, and who waits for
// them.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "tests/am/parallel.h"

namespace am {
namespace {

using ::test::job;
using test_parallel::in_threads;
using test_parallel::kThreads;

class ParallelOrder : public test_parallel::Parallel {};

// --- Order.

struct InOrder {
  void on_news(OneWay m, std::uint32_t n) { take(m, n); }
  void on_question(Request r, std::uint32_t n) {
    take(r, n);
    std::move(r).reply<&InOrder::on_answer>(n);
  }
  void on_answer(Reply r, std::uint32_t n) {
    note(answers[r.source()], n);
    answers[r.source()].next += 2;  // to every third
  }
  void take(const Message& m, std::uint32_t n) {
    note(sources[m.source()], n);
    taken += 1;
  }
  struct Of {
    std::atomic<bool> inside{false};
    std::uint32_t next = 0;  // not atomic: handlers of one sender run one after another
  };
  void note(Of& from, std::uint32_t n) {
    wrong += from.inside.exchange(true) || from.next++ != n;
    if (n % 8 == 0) std::this_thread::yield();  // with another thread inside
    from.inside = false;
  }
  std::array<Of, 8> sources;
  std::array<Of, 8> answers;
  std::atomic<std::uint64_t> taken{0};
  std::atomic<std::uint64_t> wrong{0};
};

TEST_F(ParallelOrder, messages_of_a_sender_are_handled_one_after_another_in_their_order) {
  constexpr std::uint32_t kEach = 5000;
  InOrder order;
  endpoint_->add_handlers<&InOrder::on_news, &InOrder::on_question, &InOrder::on_answer>(order);
  job().connect(*endpoint_);
  meet();
  const std::uint64_t expected = std::uint64_t{kEach} * size();
  in_threads(kThreads, [&](unsigned thread) {
    if (thread == 0) {  // the others only poll
      for (std::uint32_t n = 0; n < kEach; ++n) {
        for (Rank to = 0; to < size(); ++to) {
          if (n % 3 != 0) {
            endpoint_->request<&InOrder::on_news>(to, n);
          } else {
            endpoint_->request<&InOrder::on_question>(to, n);
          }
        }
      }
    }
    bundle_->wait_until([&] { return order.taken == expected; });
  });
  endpoint_->flush();
  meet();
  EXPECT_EQ(order.taken, expected);
  EXPECT_EQ(order.wrong, 0u);
  for (Rank from = 0; from < size(); ++from) EXPECT_EQ(order.sources[from].next, kEach);
}

// --- At the same time.

struct Meeting {
  void on_call(OneWay) {
    both.arrive_and_wait();  // for ever, if handlers of different senders ran one after another
    met += 1;
  }
  std::barrier<> both{2};
  std::atomic<int> met{0};
};

TEST_F(ParallelOrder, handlers_of_different_senders_run_at_the_same_time) {
  Meeting meeting;
  endpoint_->add_handlers<&Meeting::on_call>(meeting);
  endpoint_->set_tag(7);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  Bundle senders(job());
  Endpoint one(senders);
  Endpoint other(senders);
  for (Endpoint* const sender : {&one, &other}) {
    sender->add_handlers<&Meeting::on_call>(meeting);
    sender->map(0, names[right()], 7);
    sender->request<&Meeting::on_call>(0);
  }
  in_threads(2, [&](unsigned) { bundle_->wait_until([&] { return meeting.met == 2; }); });
  EXPECT_EQ(meeting.met, 2);
}

// They are as good as two senders.
TEST_F(ParallelOrder, handlers_of_two_translations_of_one_sender_run_at_the_same_time) {
  Meeting meeting;
  endpoint_->add_handlers<&Meeting::on_call>(meeting);
  endpoint_->set_tag(7);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  for (const std::uint32_t to : {0u, 1u}) {
    endpoint_->map(to, names[right()], 7);
    endpoint_->request<&Meeting::on_call>(to);
  }
  in_threads(2, [&](unsigned) { bundle_->wait_until([&] { return meeting.met == 2; }); });
  endpoint_->flush();
  EXPECT_EQ(meeting.met, 2);
}

struct Answered {
  static void on_ask(Request r) { std::move(r).reply<&Answered::on_answer>(); }
  void on_answer(Reply) {
    both.arrive_and_wait();  // for ever, likewise
    met += 1;
  }
  std::barrier<> both{2};
  std::atomic<int> met{0};
};

TEST_F(ParallelOrder, handlers_of_replies_to_two_translations_run_at_the_same_time) {
  Answered answered;
  endpoint_->add_handlers<&Answered::on_ask>();
  endpoint_->add_handlers<&Answered::on_answer>(answered);
  endpoint_->set_tag(7);
  const std::vector<Name> names = job().exchange(endpoint_->name());
  endpoint_->map(0, names[right()], 7);
  endpoint_->map(1, names[right()], 7);
  endpoint_->request<&Answered::on_ask>(0);
  endpoint_->request<&Answered::on_ask>(1);
  in_threads(2, [&](unsigned) { bundle_->wait_until([&] { return answered.met == 2; }); });
  endpoint_->flush();  // waits for the handlers of replies, too
  EXPECT_EQ(answered.met, 2);
}

// Keeps its handler until it is told.
struct Held {
  static void on_ask(Request r) { std::move(r).reply<&Held::on_answer>(); }
  void on_answer(Reply) {
    inside = true;
    inside.notify_all();
    leave.wait(false);
    left = true;
  }
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  std::atomic<bool> left{false};
};

TEST_F(ParallelOrder, flush_and_unmap_wait_for_the_handler_of_a_reply_that_another_thread_runs) {
  for (const bool unmaps : {false, true}) {
    Held held;
    Endpoint endpoint(*bundle_);
    endpoint.add_handlers<&Held::on_ask>();
    endpoint.add_handlers<&Held::on_answer>(held);
    endpoint.set_tag(7);
    const std::vector<Name> names = job().exchange(endpoint.name());
    endpoint.map(0, names[right()], 7);
    endpoint.request<&Held::on_ask>(0);
    in_threads(3, [&](unsigned thread) {
      if (thread == 0) {
        bundle_->wait_until([&] { return held.left.load(); });
      } else if (thread == 1) {
        // The answer comes to whoever polls; this one does not.
        held.inside.wait(false);
        std::jthread later([&] {
          // It has begun to wait, most times.
          for (int i = 0; i < 1000; ++i) std::this_thread::yield();
          held.leave = true;
          held.leave.notify_all();
        });
        if (unmaps) {
          endpoint.unmap(0);
        } else {
          endpoint.flush();
        }
        EXPECT_TRUE(held.left);
      }
    });
    meet();
  }
}

// --- Waiting.

struct Board {
  void on_note(OneWay, std::uint32_t place) { notes[place] += 1; }
  std::array<std::atomic<std::uint32_t>, 8> notes{};
};

TEST_F(ParallelOrder, each_of_several_sleeping_threads_wakes_for_what_another_one_handles) {
  Board board;
  endpoint_->add_handlers<&Board::on_note>(board);
  job().connect(*endpoint_);
  meet();
  constexpr std::uint32_t kRounds = 100;
  in_threads(kThreads, [&](unsigned thread) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      endpoint_->request<&Board::on_note>(right(), thread);
      bundle_->wait_until([&] { return board.notes[thread] >= round; });
    }
  });
  for (unsigned thread = 0; thread < kThreads; ++thread) EXPECT_EQ(board.notes[thread], kRounds);
}

TEST_F(ParallelOrder, several_threads_wait_for_events_of_their_own_bundle_only) {
  Board board;
  Board elsewhere;
  endpoint_->add_handlers<&Board::on_note>(board);
  endpoint_->set_tag(7);
  Bundle other(job(), Access::kParallel);
  Endpoint target(other);
  target.add_handlers<&Board::on_note>(elsewhere);
  target.set_tag(7);
  Bundle senders(job());
  Endpoint sender(senders);
  sender.add_handlers<&Board::on_note>(board);
  sender.map(0, target.name(), 7);
  sender.map(1, endpoint_->name(), 7);
  sender.request<&Board::on_note>(0, 0u);
  EXPECT_TRUE(other.wait(Events::kNotEmpty));
  EXPECT_FALSE(bundle_->wait(Events::kNotEmpty, 1'000'000));
  std::barrier<> woken{4};
  in_threads(4, [&](unsigned thread) {
    if (thread == 3) {
      sender.request<&Board::on_note>(1, 0u);
    } else {
      EXPECT_TRUE(bundle_->wait(Events::kNotEmpty));
    }
    woken.arrive_and_wait();  // nobody has polled until here
    bundle_->wait_until([&] { return board.notes[0] == 1; });
  });
  other.poll();
  EXPECT_EQ(elsewhere.notes[0], 1u);
}

}  // namespace
}  // namespace am
