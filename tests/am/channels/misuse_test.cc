// What becomes of those who break the rules of channels: a checked build names it, to the sender on
// its own node and to the receiver otherwise; a release build counts it (this test runs in both).
// Either way the channel goes on, and so does the one beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/channel/channels.h"
#include "tests/support/job_main.h"

namespace am {
namespace misuse_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::meet_silently;  // an error of poll() shall not come out of a barrier
using ::test::rank;

constexpr Rank kReceiver = 0;
constexpr std::uint64_t kBytes = 64;
constexpr std::uint64_t kFarApart = 4096;  // one channel's buffer from the next

std::byte* segment() { return job().router().segment(); }

// What `call` throws; empty: nothing.
std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}
void expect_says(const std::string& sentence, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(sentence.find(part), std::string::npos)
        << "\"" << sentence << "\" does not say \"" << part << "\"";
  }
}

// A channel of the first process with the last process's other end of it; what is not here is not
// there. In a job of one both are here.
class Channel {
 public:
  explicit Channel(std::uint64_t place, const Strided& shape = Strided::contiguous(kBytes))
      : buffer_(segment() + place), source_(shape.extent()) {
    ChannelHandle mine;
    if (rank() == kReceiver) {
      in.emplace(bundle(), buffer_, shape, [this] { told(); });
      mine = in->handle();
    }
    handle = job().exchange(mine)[kReceiver];
    name = "channel " + std::to_string(handle.number) + " of rank 0 (" +
           std::to_string(shape.bytes()) + " bytes at offset ";
    if (rank() != job().size() - 1) return;
    out.emplace(bundle(), handle);
    out->associate(source_.data(), shape);
  }

  std::byte* source() { return source_.data(); }
  // Puts bytes of that value.
  void put(int value) {
    std::ranges::fill(source_, static_cast<std::byte>(value));
    out->put();
    bundle().wait_until([&] { return out->reusable(); });
  }
  void wait_for(std::uint64_t callbacks) {
    bundle().wait_until([&] { return in->callbacks() >= callbacks; });
    EXPECT_EQ(in->callbacks(), callbacks);
  }
  int value() const { return static_cast<int>(buffer_[0]); }

  ChannelHandle handle;
  std::string name;
  std::function<void()> told = [] {};
  std::optional<ReceiveChannel> in;  // of the first process
  std::optional<SendChannel> out;    // of the last

 private:
  std::byte* buffer_;
  std::vector<std::byte> source_;
};

class Misuse : public testing::Test {
 protected:
  void SetUp() override {
    before_ = channel_stats(bundle());
    beside_.told = [this] { told_beside_ += beside_.value() == 77; };
    meet_silently();
  }
  // Whatever has happened: the channel beside works, and none but the counted things were counted.
  void TearDown() override {
    if (sending()) beside_.put(77);
    if (receiving()) {
      bundle().wait_until([&] { return told_beside_ != 0; });
      for (int i = 0; i < 100; ++i) bundle().poll();
      EXPECT_EQ(told_beside_, 1);
      EXPECT_EQ(beside_.value(), 77);
      const ChannelStats now = channel_stats(bundle());
      EXPECT_EQ(now.early - before_.early, expected_.early);
      EXPECT_EQ(now.lost - before_.lost, expected_.lost);
      EXPECT_EQ(now.ready_twice - before_.ready_twice, expected_.ready_twice);
      EXPECT_EQ(now.stale - before_.stale, expected_.stale);
    }
    barrier();
  }

  static bool receiving() { return rank() == kReceiver; }
  static bool sending() { return rank() == job().size() - 1; }
  // The two are on one node.
  static bool near() {
    const auto node = job().exchange(job().router().options().node);
    return node.front() == node.back();
  }

  // By the receiver: what its next poll throws.
  static std::string error_of_poll() {
    std::string error;
    while ((error = error_of([] { bundle().poll(); })).empty()) {
    }
    return error;
  }
  // Polls until that many have been counted, and expects no more.
  void expect_counted(std::uint64_t ChannelStats::*what, std::uint64_t times) {
    expected_.*what += times;
    bundle().wait_until(
        [&] { return channel_stats(bundle()).*what - before_.*what >= expected_.*what; });
  }

  // A put that breaks a rule. The sender hears of it on its node, the receiver otherwise. Returns
  // whether it has arrived nevertheless.
  bool put_wrongly(Channel& channel, int value, const std::string& at_sender,
                   const std::string& at_receiver, std::uint64_t ChannelStats::*counted) {
    const bool by_sender = kChecked && near_;
    if (sending()) {
      const std::string error = error_of([&] { channel.put(value); });
      if (by_sender) {
        expect_says(error, {"rank " + std::to_string(rank()) + ": put: " + channel.name, at_sender,
                            " (at tests/am/channels/misuse_test.cc:"});
      } else {
        EXPECT_EQ(error, "");
      }
    }
    if (by_sender) meet_silently();  // it has been tried when the receiver goes on
    if (!receiving() || by_sender) return !by_sender;
    if constexpr (kChecked) {
      expect_says(error_of_poll(), {"rank 0: poll: " + channel.name, at_receiver});
    } else {
      expect_counted(counted, 1);
    }
    return true;
  }

  const bool near_ = near();
  Channel channel_{0};
  Channel beside_{kFarApart};
  ChannelStats before_;
  ChannelStats expected_;
  int told_beside_ = 0;
};

TEST_F(Misuse, put_before_associate) {
  if (sending()) {
    channel_.out.reset();
    SendChannel bare(bundle(), channel_.handle);
    expect_says(error_of([&] { bare.put(); }),
                {"put: " + channel_.name, "nothing has been associated", "associate()"});
    expect_says(error_of([&] { bare.alternate(std::span(channel_.source(), kBytes)); }),
                {"alternate: " + channel_.name, "associate() comes first"});
  }
}

TEST_F(Misuse, another_size) {
  if (!sending()) return;
  for (const std::uint64_t bytes : {kBytes - 1, kBytes + 1, std::uint64_t{0}, 5 * kBytes}) {
    const std::vector<std::byte> other(bytes);
    const std::string said = "the source has " + std::to_string(bytes) + " bytes";
    expect_says(error_of([&] { channel_.out->associate(other); }),
                {"associate: " + channel_.name, said, "as many as the receiver's buffer"});
    expect_says(error_of([&] { channel_.out->alternate(other); }),
                {"alternate: " + channel_.name, said});
  }
}

TEST_F(Misuse, put_while_the_buffer_is_in_use) {
  if (sending()) channel_.put(1);
  if (receiving()) channel_.wait_for(1);
  meet_silently();
  const bool came =
      put_wrongly(channel_, 2, "has not called ready() since the last one",
                  "a put came before ready(), while the buffer was in use", &ChannelStats::early);
  if (receiving()) {
    EXPECT_EQ(channel_.in->callbacks(), 1u);
    EXPECT_TRUE(channel_.in->in_use());
    EXPECT_EQ(channel_.value(), came ? 2 : 1);
    channel_.in->ready();
    if (came) {
      channel_.wait_for(2);
      channel_.in->ready();
    }
  }
  meet_silently();
  if (sending()) channel_.put(3);
  if (receiving()) {
    channel_.wait_for(came ? 3 : 2);
    EXPECT_EQ(channel_.value(), 3);
  }
}

TEST_F(Misuse, put_before_the_last_one_was_told) {
  if (sending()) {
    channel_.put(1);
    if (near_ && kChecked) {
      expect_says(error_of([&] { channel_.put(2); }),
                  {"put: " + channel_.name, "has not been told of the last one yet"});
    } else {
      channel_.put(2);
    }
  }
  meet_silently();
  if (receiving()) {
    if (kChecked && !near_) {
      expect_says(error_of_poll(), {"poll: " + channel_.name, "a put came before ready()"});
    } else if (!kChecked) {
      // Far ones are told one by one.
      expect_counted(near_ ? &ChannelStats::lost : &ChannelStats::early, 1);
    }
    bundle().wait_until([&] { return channel_.in->in_use(); });
    EXPECT_EQ(channel_.value(), near_ && kChecked ? 1 : 2);
    channel_.in->ready();
    const std::uint64_t callbacks = near_ ? 1 : 2;
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(channel_.in->callbacks(), callbacks);
    if (!near_) channel_.in->ready();
  }
  meet_silently();
  if (sending()) channel_.put(3);
  if (receiving()) {
    channel_.wait_for(near_ ? 2 : 3);
    EXPECT_EQ(channel_.value(), 3);
  }
}

TEST_F(Misuse, second_put_between_mark_and_poll) {
  if (sending()) channel_.put(1);
  if (receiving()) {
    channel_.wait_for(1);
    channel_.in->ready_mark();
    EXPECT_FALSE(channel_.in->in_use());
  }
  meet_silently();
  if (sending()) channel_.put(2);
  meet_silently();
  if (receiving()) bundle().poll();  // what is of its node is seen now
  meet_silently();
  const bool came = put_wrongly(channel_, 3, "has not called ready() since the last one",
                                "several puts came where one was to come", &ChannelStats::lost);
  if (receiving()) {
    EXPECT_EQ(channel_.in->callbacks(), 1u) << "ready_poll() has not been called";
    channel_.in->ready_poll();
    EXPECT_EQ(channel_.in->callbacks(), 1u) << "the next poll tells";
    channel_.wait_for(2);
    EXPECT_EQ(channel_.value(), came ? 3 : 2);
    channel_.in->ready();
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(channel_.in->callbacks(), 2u);
  }
}

TEST_F(Misuse, second_put_when_a_remembered_one_is_about_to_be_told) {
  if (!near_) return;  // there one cannot say when a put has come
  if (sending()) channel_.put(1);
  if (receiving()) {
    channel_.wait_for(1);
    channel_.in->ready_mark();
  }
  meet_silently();
  if (sending()) channel_.put(2);
  meet_silently();
  if (receiving()) {
    bundle().poll();
    channel_.told = [this] { channel_.in->ready(); };
    channel_.in->ready_poll();
  }
  meet_silently();
  put_wrongly(channel_, 3, "has not called ready() since the last one", "", &ChannelStats::lost);
  if (receiving()) {
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(channel_.in->callbacks(), 2u) << "one for both, and none for nothing";
  }
}

TEST_F(Misuse, ready_twice) {
  if (sending()) channel_.put(1);
  if (receiving()) {
    channel_.wait_for(1);
    channel_.in->ready();
    const auto again = [&](const char* call, const std::function<void()>& make,
                           std::uint64_t times) {
      const std::string error = error_of(make);
      if constexpr (kChecked) {
        expect_says(error,
                    {std::string("rank 0: ") + call + ": " + channel_.name, "is ready already",
                     "once after each callback", " (at tests/am/channels/misuse_test.cc:"});
      } else {
        EXPECT_EQ(error, "");
        expect_counted(&ChannelStats::ready_twice, times);
      }
    };
    again(
        "ready", [&] { channel_.in->ready(); }, 2);  // of both parts
    again(
        "ready_mark", [&] { channel_.in->ready_mark(); }, 1);
    again(
        "ready_poll", [&] { channel_.in->ready_poll(); }, 1);
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(channel_.in->callbacks(), 1u);
  }
  meet_silently();
  if (sending()) channel_.put(2);
  if (receiving()) {
    channel_.wait_for(2);
    EXPECT_EQ(channel_.value(), 2);
  }
}

TEST_F(Misuse, ready_poll_without_ready_mark) {
  if (sending()) channel_.put(1);
  if (receiving()) {
    channel_.wait_for(1);
    const std::string error = error_of([&] { channel_.in->ready_poll(); });
    if constexpr (kChecked) {
      expect_says(error, {"rank 0: ready_poll: " + channel_.name, "ready_mark() comes first"});
    } else {
      expect_counted(&ChannelStats::ready_twice, 1);
    }
    EXPECT_TRUE(channel_.in->in_use());
    channel_.in->ready();
  }
  meet_silently();
  if (sending()) channel_.put(2);
  if (receiving()) channel_.wait_for(2);
}

TEST_F(Misuse, put_on_a_closed_channel) {
  if (receiving()) channel_.in->close();
  meet_silently();
  const std::string number = "channel " + std::to_string(channel_.handle.number) + ", generation " +
                             std::to_string(channel_.handle.generation);
  const bool by_sender = kChecked && near_;
  if (sending()) {
    const std::string error = error_of([&] { channel_.put(1); });
    if (by_sender) expect_says(error, {"put: " + channel_.name, "the receiver has closed it"});
    EXPECT_EQ(error.empty(), !by_sender);
    // Even those who are new to it.
    const std::string stale = error_of([&] { SendChannel(bundle(), channel_.handle); });
    if (near_) expect_says(stale, {"SendChannel: " + channel_.name, "the receiver has closed it"});
    EXPECT_EQ(stale.empty(), !near_);
  }
  if (receiving() && !by_sender) {
    expected_.stale = 1;
    if constexpr (kChecked) {
      expect_says(error_of_poll(),
                  {"rank 0: poll: a put came for " + number, "has been closed here"});
    } else {
      expected_.stale = 0;
      expect_counted(&ChannelStats::stale, 1);
    }
  }
}

TEST_F(Misuse, close_with_a_put_that_was_not_told) {
  if (sending()) channel_.put(1);
  meet_silently();
  if (receiving()) {
    channel_.in->close();
    if constexpr (kChecked) {
      expected_.stale = 1;
      expect_says(error_of_poll(),
                  {"rank 0: poll: a put came for channel", "has been closed here"});
    } else {
      expect_counted(&ChannelStats::stale, 1);
    }
  }
}

TEST_F(Misuse, old_handle_of_a_number_that_is_in_use_again) {
  if (!receiving() || !sending()) return;  // takes all numbers of the process
  channel_.out.reset();
  channel_.in->close();
  std::vector<ReceiveChannel> all;
  while (all.empty() || all.back().handle().number != channel_.handle.number) {
    all.emplace_back(bundle(), std::span(segment(), kBytes), [] {});
  }
  EXPECT_NE(all.back().handle().generation, channel_.handle.generation);
  expect_says(error_of([&] { SendChannel(bundle(), channel_.handle); }),
              {"SendChannel: " + channel_.name, "the receiver has closed it"});
  expect_says(error_of([&] {
                for (;;) all.emplace_back(bundle(), std::span(segment(), kBytes), [] {});
              }),
              {"ReceiveChannel: this process has 65536 channels", "close some"});
  all.pop_back();
  all.emplace_back(bundle(), std::span(segment(), kBytes), [] {});
}

TEST_F(Misuse, no_handle) {
  ChannelHandle handle;
  const auto opening = [&] { return error_of([&] { SendChannel(bundle(), handle); }); };
  expect_says(opening(), {"SendChannel: this is no handle"});
  handle = channel_.handle;
  handle.magic ^= 1;
  expect_says(opening(), {"SendChannel: this is no handle"});
  handle = channel_.handle;
  handle.generation = 0;
  expect_says(opening(), {"SendChannel: this is no handle"});
  handle = channel_.handle;
  handle.rank = job().size();
  expect_says(opening(), {"SendChannel: channel", "damaged, or of another job"});
  handle = channel_.handle;
  handle.offset = job().router().segment_bytes() - kBytes + 1;
  expect_says(opening(), {"SendChannel: channel", "damaged, or of another job"});
}

TEST_F(Misuse, buffer_outside_the_segment) {
  const std::uint64_t all = job().router().segment_bytes();
  std::vector<std::byte> elsewhere(kBytes);
  const auto opening = [&](std::byte* first, const Strided& shape) {
    return error_of([&] { ReceiveChannel(bundle(), first, shape, [] {}); });
  };
  const auto expect_refused = [&](std::byte* first, const Strided& shape) {
    expect_says(opening(first, shape),
                {"rank " + std::to_string(rank()) + ": ReceiveChannel: the buffer is not, or not",
                 "in this process's segment"});
  };
  expect_refused(elsewhere.data(), Strided::contiguous(kBytes));
  expect_refused(segment() + all - kBytes + 1, Strided::contiguous(kBytes));
  expect_refused(segment() - 1, Strided::contiguous(kBytes));
  expect_refused(segment(), Strided::contiguous(all + 1));
  expect_refused(segment(), Strided::contiguous(std::numeric_limits<std::uint64_t>::max()));
  expect_refused(segment(), {.run = 8, .rows = 2, .row_stride = all - 7});
  expect_refused(segment(), {.run = 8,
                             .rows = 1u << 31,
                             .planes = 1u << 31,
                             .row_stride = std::uint64_t{1} << 33,
                             .plane_stride = std::uint64_t{1} << 33});
  EXPECT_EQ(opening(segment() + all - kBytes, Strided::contiguous(kBytes)), "");
  EXPECT_EQ(opening(segment(), {.run = 8, .rows = 2, .row_stride = all - 8}), "");
}

TEST_F(Misuse, impossible_shape) {
  const auto refused = [&](const Strided& shape) {
    return error_of([&] { ReceiveChannel(bundle(), segment(), shape, [] {}); });
  };
  expect_says(refused({.run = 8, .rows = 0}), {"ReceiveChannel: the shape has 0 rows"});
  expect_says(refused({.run = 8, .planes = 0}), {"ReceiveChannel: the shape has 1 rows and 0"});
  expect_says(refused({.run = 8, .rows = 2, .row_stride = 7}), {"runs do not overlap"});
  expect_says(refused({.run = 8, .planes = 2, .plane_stride = 7}), {"runs do not overlap"});
  expect_says(error_of([&] {
                ReceiveChannel(bundle(), std::span(segment(), kBytes), std::function<void()>());
              }),
              {"ReceiveChannel: the callback is empty"});
}

TEST_F(Misuse, one_bundle_too_many) {
  channels_of(bundle());
  std::deque<Bundle> others;
  for (int i = 0; i < 255; ++i) channels_of(others.emplace_back(job()));
  Bundle last(job());
  expect_says(error_of([&] { channels_of(last); }),
              {"channels_of: 256 bundles of this process have channels"});
  EXPECT_EQ(channel_stats(last), ChannelStats{});
}

TEST_F(Misuse, source_that_has_not_been_left) {
  if (near_) return;  // there a put leaves its source at once
  constexpr std::uint64_t kMuch = 8 << 20;
  Channel large(2 * kFarApart, Strided::contiguous(kMuch));
  if (sending()) {
    large.out->put();
    ASSERT_FALSE(large.out->reusable());
    const std::vector<std::byte> other(kMuch);
    expect_says(error_of([&] { large.out->associate(other); }),
                {"associate: " + large.name, "a put has not left its source yet", "reusable()"});
    bundle().wait_until([&] { return large.out->reusable(); });
    large.out->associate(other);
  }
  if (receiving()) large.wait_for(1);
  meet_silently();
  large.out.reset();
}

TEST_F(Misuse, waiting_in_a_callback) {
  if (!receiving()) {
    if (sending()) channel_.put(1);
    return;
  }
  std::vector<std::string> errors;
  channel_.told = [&] {
    errors.push_back(error_of([] { bundle().poll(); }));
    errors.push_back(error_of([] { bundle().wait(Events::kNotEmpty); }));
  };
  if (sending()) channel_.put(1);
  channel_.wait_for(1);
  ASSERT_EQ(errors.size(), 2u);
  expect_says(errors[0], {"Bundle::poll: a handler may not poll"});
  expect_says(errors[1], {"Bundle::wait: a handler may not wait"});
}

TEST_F(Misuse, exception_in_a_callback_comes_out_of_poll_and_loses_nothing) {
  channel_.told = [] { throw Error("my own"); };
  if (sending()) {
    channel_.put(1);
    beside_.put(2);
  }
  if (receiving()) {
    EXPECT_EQ(error_of_poll(), "my own");
    EXPECT_TRUE(channel_.in->in_use());
    beside_.wait_for(1);
    beside_.in->ready();
    for (int i = 0; i < 100; ++i) bundle().poll();
    EXPECT_EQ(channel_.in->callbacks(), 1u);
  }
  meet_silently();
}

}  // namespace misuse_test
}  // namespace am
