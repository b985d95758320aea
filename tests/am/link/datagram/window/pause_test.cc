// How fast a flood is after a process has done nothing for long, in virtual time: its pause is not
// the network's, and must not be taken for the time that datagrams need.
#include <gtest/gtest.h>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "tests/am/link/datagram/window/end.h"

namespace am::link::window {
namespace {

constexpr std::int64_t kMicrosecond = 1'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kSender = 0;
constexpr int kReceiver = 1;

// Two processes that poll each microsecond, and a network that loses nothing.
class Two {
 public:
  // `at_once`: so many datagrams a poll reads.
  explicit Two(int at_once) : at_once_(at_once) {}

  void send(int packets, std::uint32_t bytes) {
    for (int i = 0; i < packets; ++i) ends_[kSender].put(bytes);
    submit(kSender);
  }
  // Both poll.
  void run(std::int64_t for_ns) {
    for (const std::int64_t end = now_ + for_ns; now_ < end;) step(kMicrosecond, true, true);
  }
  // The other one polls, more seldom.
  void pause(int who, std::int64_t for_ns) {
    for (const std::int64_t end = now_ + for_ns; now_ < end;) {
      step(100 * kMicrosecond, who != kSender, who != kReceiver);
    }
    ends_[who].resume(now_);
  }
  // Until so many bytes have come; returns how long that took.
  std::int64_t deliver(std::size_t bytes) {
    const std::int64_t begun = now_;
    while (delivered_ < bytes && now_ < begun + 600 * kSecond) step(kMicrosecond, true, true);
    return now_ - begun;
  }
  std::size_t delivered() const { return delivered_; }

 private:
  static constexpr std::int64_t kDelay = 20 * kMicrosecond;

  struct Carried {
    std::int64_t at_ns;
    std::vector<std::byte> bytes;
  };

  void step(std::int64_t ns, bool sender, bool receiver) {
    now_ += ns;
    if (sender) poll(kSender);
    if (receiver) poll(kReceiver);
  }
  void poll(int me) {
    for (int i = 0; i < at_once_ && !way_[me].empty() && way_[me].front().at_ns <= now_; ++i) {
      const std::size_t some = ends_[me].receive(way_[me].front().bytes, now_);
      if (me == kReceiver) delivered_ += some;
      way_[me].pop_front();
    }
    submit(me);
  }
  void submit(int me) {
    while (const Outgoing next = ends_[me].peer().prepare(now_)) {
      way_[1 - me].push_back({now_ + kDelay, {next.bytes.begin(), next.bytes.end()}});
      ends_[me].peer().sent(next, false);
    }
  }

  const int at_once_;
  End ends_[2] = {End(kSender), End(kReceiver)};
  std::deque<Carried> way_[2];  // to each end
  std::int64_t now_ = kSecond;
  std::size_t delivered_ = 0;
};

struct Case {
  int who;
  std::int64_t pause_ns;
  int before;  // exchanges before it
  int at_once;
};

// 200 full datagrams after a pause, with one that was sent before on its way.
std::int64_t flood_after(const Case& one) {
  Two two(one.at_once);
  for (int i = 0; i < one.before; ++i) {
    two.send(1, 64);
    two.run(1'000 * kMicrosecond);
  }
  two.send(1, 64);
  if (one.pause_ns != 0) two.pause(one.who, one.pause_ns);
  two.send(200, 1408);
  return two.deliver(static_cast<std::size_t>(one.before + 1) * 64 + std::size_t{200} * 1408);
}

class Pause : public testing::TestWithParam<Case> {};

TEST_P(Pause, is_not_paid_for_again_when_it_is_over) {
  Case none = GetParam();
  none.pause_ns = 0;
  none.before = 20;
  const std::int64_t usual = flood_after(none);
  const std::int64_t after = flood_after(GetParam());
  std::printf("200 datagrams: %.1f ms, after the pause %.1f ms\n", static_cast<double>(usual) / 1e6,
              static_cast<double>(after) / 1e6);
  // The window has to grow again, which takes some round trips.
  EXPECT_LT(after, 4 * usual + 2'000 * kMicrosecond);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int who : {kSender, kReceiver}) {
    for (const std::int64_t ms : {2, 20, 300, 10'000, 60'000}) {
      for (const int before : {0, 20}) {
        for (const int at_once : {1, 64}) all.push_back({who, ms * 1'000'000, before, at_once});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Pauses, Pause, testing::ValuesIn(cases()), [](const auto& info) {
  const Case& one = info.param;
  return std::string(one.who == kSender ? "of_the_sender" : "of_the_receiver") + "_for_" +
         std::to_string(one.pause_ns / 1'000'000) + "_ms_after_" + std::to_string(one.before) +
         "_exchanges_" + std::to_string(one.at_once) + "_a_poll";
});

}  // namespace
}  // namespace am::link::window
