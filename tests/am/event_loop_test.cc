// Processes that sleep in an event loop of their own, on the bundle's descriptor alone: whatever
// gets lost leaves one asleep, and the test does not end.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "am/core/poller.h"
#include "am/route/port.h"
#include "am/types/clock.h"
#include "shmem/descriptor.h"
#include "tests/support/job_main.h"

namespace am {
namespace event_loop_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

// A program's loop: the descriptors of some bundles in one epoll set.
class Loop {
 public:
  explicit Loop(std::vector<Bundle*> bundles) : bundles_(std::move(bundles)) {
    for (Bundle* const one : bundles_) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      wanted.data.ptr = one;
      EXPECT_EQ(epoll_ctl(set_.fd(), EPOLL_CTL_ADD, one->event_fd(), &wanted), 0) << errno;
    }
  }

  // Sleeps as long as there is nothing to do. Nothing else makes the caller wait.
  template <class Condition>
  void until(Condition&& condition) {
    while (!condition()) {
      if (armed()) sleep();
      for (Bundle* const one : bundles_) one->poll();
    }
  }
  bool armed() {
    for (Bundle* const one : bundles_) {
      if (!one->arm()) return false;
    }
    return true;
  }
  void sleep() {
    epoll_event found[2];
    const int count = epoll_wait(set_.fd(), found, 2, -1);
    ASSERT_TRUE(count > 0 || errno == EINTR) << errno;
    ++sleeps_;
  }
  std::uint64_t sleeps() const noexcept { return sleeps_; }

 private:
  std::vector<Bundle*> bundles_;
  shmem::OwnFd set_{epoll_create1(EPOLL_CLOEXEC)};
  std::uint64_t sleeps_ = 0;
};

template <class Call>
std::string sentence_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool is_readable(Bundle& bundle) {
  pollfd watched{.fd = bundle.event_fd(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) == 1;
}
void wait_until_readable(Bundle& bundle) {
  pollfd watched{.fd = bundle.event_fd(), .events = POLLIN, .revents = 0};
  while (::poll(&watched, 1, -1) != 1) {
  }
}

thread_local std::uint64_t token = 0;
void on_token(OneWay, std::uint64_t n) { token = n; }
std::uint64_t answers = 0;
void on_answer(Reply) { ++answers; }
void on_question(Request r) { std::move(r).reply<&on_answer>(); }

class EventLoop : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_token, &on_answer, &on_question>();
    job().connect(endpoint_);
    token = answers = 0;
    barrier();
    job().exchange(0);  // nobody polls any more
  }
  void TearDown() override { barrier(); }

  static Rank me() { return job().rank(); }
  static Rank right() { return (me() + 1) % job().size(); }

  // Sends a token around all processes; each waits for its turn in `loop`.
  static void pass_around(std::uint64_t laps, Endpoint& by, Loop& loop) {
    for (std::uint64_t lap = 1; lap <= laps; ++lap) {
      if (me() != 0) loop.until([&] { return token == lap; });
      by.request<&on_token>(right(), lap + (right() == 0));  // the first is one lap ahead
      if (me() == 0) loop.until([&] { return token == lap + 1; });
    }
  }
  static std::uint64_t rounds() { return job().size() > 2 ? 200 : 1000; }

  Endpoint endpoint_{bundle()};
};

TEST_F(EventLoop, is_not_armed_while_a_message_is_there) {
  endpoint_.request<&on_token>(me(), 7u);
  EXPECT_FALSE(bundle().arm());
  EXPECT_FALSE(bundle().arm());
  EXPECT_EQ(token, 0u) << "arm() runs no handler";
  bundle().poll();
  EXPECT_EQ(token, 7u);
}

TEST_F(EventLoop, is_woken_by_a_message_that_comes_when_it_is_armed) {
  Loop loop({&bundle()});
  if (me() != 0) {
    loop.until([] { return token == 1; });
  } else {
    for (Rank to = 1; to < job().size(); ++to) endpoint_.request<&on_token>(to, 1u);
    bundle().flush();
  }
}

TEST_F(EventLoop, loses_no_wake_up_in_a_ping_pong_of_sleepers) {
  Loop loop({&bundle()});
  pass_around(rounds(), endpoint_, loop);
}

TEST_F(EventLoop, is_woken_by_replies_and_serves_requests) {
  Loop loop({&bundle()});
  for (std::uint64_t i = 1; i <= rounds() / 4; ++i) {
    endpoint_.request<&on_question>(right());
    loop.until([&] { return answers == i; });
  }
  loop.until([&] { return endpoint_.stats()[Kind::kShort].requests_received == rounds() / 4; });
}

// The longest sleep is a second, and the first ones are shorter: so there are some for each
// doubling, and with a network that has no descriptor at most one in 0.1 ms.
TEST_F(EventLoop, sleeps_while_nothing_comes) {
  Loop loop({&bundle()});
  const std::int64_t begin = now_ns();
  std::int64_t now = begin;
  for (; now < begin + 300'000'000; now = now_ns()) {
    if (loop.armed()) loop.sleep();
    bundle().poll();
  }
  const auto milliseconds = static_cast<std::uint64_t>((now - begin) / 1'000'000);
  Port* const port = job().router().port();
  const bool blind = port != nullptr && port->link().can().wait_fd < 0;
  EXPECT_LE(loop.sleeps(), 100 + milliseconds / 4 + (blind ? 10 * milliseconds : 0));
}

TEST_F(EventLoop, stays_readable_until_it_is_armed_again) {
  bundle().event_fd();
  while (!bundle().arm()) bundle().poll();
  job().router().notify(me());  // as a neighbour does
  wait_until_readable(bundle());
  bundle().poll();
  EXPECT_TRUE(is_readable(bundle()));
  while (!bundle().arm()) bundle().poll();
}

TEST_F(EventLoop, may_be_armed_again_and_again) {
  for (int i = 0; i < 3; ++i) {
    while (!bundle().arm()) bundle().poll();
  }
  Loop loop({&bundle()});
  pass_around(3, endpoint_, loop);
}

struct Work final : Poller {
  int poll() override { return there.exchange(0) != 0 ? (++done, 1) : 0; }
  bool has_work() noexcept override { return there != 0; }
  std::atomic<int> there{0};
  int done = 0;
};

TEST_F(EventLoop, knows_of_what_pollers_have_to_do) {
  Work work;
  bundle().add(work);
  work.there = 1;
  EXPECT_FALSE(bundle().arm());
  Loop loop({&bundle()});
  loop.until([&] { return work.done == 1; });
  std::thread other([&] {
    work.there = 1;
    job().router().notify(me());
  });
  loop.until([&] { return work.done == 2; });
  other.join();
  bundle().remove(work);
}

TEST_F(EventLoop, waits_for_several_bundles_of_one_thread) {
  Bundle second(job());
  Endpoint other(second);
  other.add_handlers<&on_token>();
  job().connect(other);
  {
    Loop loop({&bundle(), &second});
    for (int turn = 0; turn < 50; ++turn) {
      token = 0;
      pass_around(2, turn % 2 == 0 ? endpoint_ : other, loop);
    }
  }
  barrier();
}

// A bundle for another thread, which passes a token around in it while this one does in its own.
template <class PassAround>
void beside_another_thread(const PassAround& in_thread, const std::function<void()>& meanwhile) {
  Bundle second(job());
  Endpoint other(second);
  other.add_handlers<&on_token>();
  job().connect(other);
  std::atomic<bool> taken_over{false};
  std::thread thread([&] {
    second.poll();
    taken_over.store(true, std::memory_order_release);  // pairs with: the load below
    in_thread(second, other);
  });
  // pairs with: the store above
  while (!taken_over.load(std::memory_order_acquire)) sched_yield();
  meanwhile();
  thread.join();
  second.poll();  // it is this thread's again
  barrier();
}

// A ring wakes both.
TEST_F(EventLoop, beside_a_thread_that_waits_in_the_library) {
  const auto in_thread = [](Bundle& second, Endpoint& other) {
    for (std::uint64_t lap = 1; lap <= rounds() / 4; ++lap) {
      if (me() != 0) second.wait_until([&] { return token == lap; });
      other.request<&on_token>(right(), lap + (right() == 0));
      if (me() == 0) second.wait_until([&] { return token == lap + 1; });
    }
  };
  beside_another_thread(in_thread, [&] {
    Loop loop({&bundle()});
    pass_around(rounds() / 4, endpoint_, loop);
  });
}

TEST_F(EventLoop, in_two_threads_with_a_bundle_each) {
  const auto in_thread = [](Bundle& second, Endpoint& other) {
    Loop loop({&second});
    pass_around(rounds() / 4, other, loop);
  };
  beside_another_thread(in_thread, [&] {
    Loop loop({&bundle()});
    pass_around(rounds() / 4, endpoint_, loop);
  });
}

TEST_F(EventLoop, ends_with_its_bundle_while_armed) {
  {
    Bundle brief(job());
    while (!brief.arm()) brief.poll();
  }
  Bundle again(job());
  Endpoint moved(again);
  while (!again.arm()) again.poll();
  bundle().adopt(moved);
  EXPECT_EQ(&moved.bundle(), &bundle());
  Loop loop({&bundle()});
  pass_around(3, endpoint_, loop);
}

TEST_F(EventLoop, is_refused_in_a_handler) {
  struct Asks final : Poller {
    int poll() override {
      said = sentence_of([] { bundle().arm(); });
      return 0;
    }
    bool has_work() noexcept override { return false; }
    std::string said;
  } asks;
  bundle().add(asks);
  bundle().poll();
  bundle().remove(asks);
  EXPECT_NE(asks.said.find("Bundle::arm: a handler may not wait"), std::string::npos) << asks.said;
}

TEST_F(EventLoop, is_refused_of_a_parallel_bundle) {
  Bundle parallel(job(), Access::kParallel);
  const auto refused = [](const std::string& said) {
    return said.find("Bundle::event_fd: a parallel bundle has none") != std::string::npos;
  };
  EXPECT_TRUE(refused(sentence_of([&] { parallel.event_fd(); })));
  EXPECT_TRUE(refused(sentence_of([&] { parallel.arm(); })));
}

}  // namespace event_loop_test
}  // namespace am
