// One process that is both ends of a mailbox, step by step.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shmem/error.h"
#include "shmem/mailbox.h"

namespace shmem {
namespace {

constexpr int kEnoughToRest = 10'000;  // empty polls after which idle lanes are not looked at

// Notes what it is given.
struct Notes {
  Doorbell& opened(std::uint32_t, std::span<const std::byte> caller) {
    events.push_back("opened by " +
                     std::string(reinterpret_cast<const char*>(caller.data()), caller.size()));
    return bell;
  }
  template <Lane kLane>
  Mark request(std::uint32_t, const Room&, Mark mark) {
    events.push_back("request " + std::to_string(index(kLane)) + " " + std::to_string(mark));
    if (throw_at == mark) throw std::runtime_error("no");
    return 77;
  }
  template <Lane kLane>
  void one_way(std::uint32_t, const Room&, Mark mark) {
    events.push_back("one way " + std::to_string(index(kLane)) + " " +
                     std::to_string(mark & ~kOneWay));
    if (throw_at == (mark & ~kOneWay)) throw std::runtime_error("no");
  }
  void closed(std::uint32_t) { events.push_back("closed"); }

  Doorbell bell{};
  Mark throw_at = 0;
  std::vector<std::string> events;
};

struct Replies {
  template <Lane kLane>
  void reply(const Room&, Mark mark) {
    marks.push_back(mark);
  }
  std::vector<Mark> marks;
};

class MailboxRules : public testing::Test {
 protected:
  std::unique_ptr<Outbox> open(Mailbox& mailbox, const std::string& name) {
    return std::make_unique<Outbox>(mailbox.address(), std::as_bytes(std::span(name)), bell_,
                                    Fence());
  }
  template <Lane kLane>
  static bool send(Outbox& box, Mark mark) {
    Room room;
    if (!box.try_claim<kLane>(room)) return false;
    box.commit<kLane>(room, mark);
    return true;
  }
  // Polls until `count` things have been noted; a poll may leave a message to the next one.
  void poll_for(std::size_t count) {
    while (notes_.events.size() < count) mailbox_.poll(notes_);
  }
  void reap_for(Outbox& box, std::size_t count) {
    while (replies_.marks.size() < count) box.reap(replies_);
  }
  void expect_refused(const std::function<void()>& work, std::vector<std::string> parts) {
    try {
      work();
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      for (const std::string& part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
      }
    }
  }

  Doorbell bell_{};
  Mailbox mailbox_{4, Fence()};
  Notes notes_;
  Replies replies_;
};

TEST_F(MailboxRules, each_lane_has_a_window_of_its_own) {
  const auto box = open(mailbox_, "a");
  for (Mark i = 0; i < 64; ++i) ASSERT_TRUE(send<Lane::kShort>(*box, 1));
  EXPECT_FALSE(send<Lane::kShort>(*box, 1));
  for (Mark i = 0; i < 16; ++i) ASSERT_TRUE(send<Lane::kMedium>(*box, 1));
  EXPECT_FALSE(send<Lane::kMedium>(*box, 1));
  for (Mark i = 0; i < 16; ++i) ASSERT_TRUE(send<Lane::kLong>(*box, 1 | kOneWay));
  EXPECT_FALSE(send<Lane::kLong>(*box, 1));
  EXPECT_EQ(box->awaited(), 80u);
  poll_for(1 + 64 + 16 + 16);
  EXPECT_TRUE(send<Lane::kLong>(*box, 1 | kOneWay));
  EXPECT_FALSE(send<Lane::kShort>(*box, 1)) << "only its reply gives the room back";
  reap_for(*box, 80);
  EXPECT_TRUE(send<Lane::kShort>(*box, 1));
}

TEST_F(MailboxRules, opened_comes_before_the_first_message_and_closed_after_the_last) {
  auto box = open(mailbox_, "first");
  ASSERT_TRUE(send<Lane::kMedium>(*box, 3));
  ASSERT_TRUE(send<Lane::kMedium>(*box, 4 | kOneWay));
  ASSERT_TRUE(send<Lane::kMedium>(*box, 5));
  poll_for(4);
  reap_for(*box, 2);
  box->close();
  poll_for(5);
  EXPECT_EQ(notes_.events, (std::vector<std::string>{"opened by first", "request 1 3",
                                                     "one way 1 4", "request 1 5", "closed"}));
}

TEST_F(MailboxRules, has_message_sees_everything_also_after_a_rest) {
  const auto box = open(mailbox_, "a");
  std::size_t expected = 1;
  for (int round = 0; round < 3; ++round) {
    const auto arrives = [&](auto&& send_one) {
      EXPECT_FALSE(mailbox_.has_message());
      ASSERT_TRUE(send_one());
      EXPECT_TRUE(mailbox_.has_message());
      poll_for(++expected);
    };
    arrives([&] { return send<Lane::kShort>(*box, 1 | kOneWay); });
    arrives([&] { return send<Lane::kLong>(*box, 1 | kOneWay); });
    for (int i = 0; i < kEnoughToRest; ++i) ASSERT_EQ(mailbox_.poll(notes_), 0);
    arrives([&] { return send<Lane::kMedium>(*box, 1 | kOneWay); });
    arrives([&] { return send<Lane::kShort>(*box, 1 | kOneWay); });
  }
}

TEST_F(MailboxRules, a_reply_is_seen_before_it_is_taken) {
  const auto box = open(mailbox_, "a");
  ASSERT_TRUE(send<Lane::kLong>(*box, 9));
  EXPECT_FALSE(box->has_reply());
  poll_for(2);
  EXPECT_TRUE(box->has_reply());
  reap_for(*box, 1);
  EXPECT_FALSE(box->has_reply());
  EXPECT_EQ(replies_.marks, std::vector<Mark>{77});
  EXPECT_EQ(box->in_flight<Lane::kLong>(), 0u);
}

TEST_F(MailboxRules, an_exception_of_the_sink_finishes_its_message_only) {
  const auto box = open(mailbox_, "a");
  ASSERT_TRUE(send<Lane::kShort>(*box, 1));
  ASSERT_TRUE(send<Lane::kShort>(*box, 2));
  ASSERT_TRUE(send<Lane::kShort>(*box, 3 | kOneWay));
  ASSERT_TRUE(send<Lane::kShort>(*box, 4));
  const auto poll_into_exception = [&](Mark at) {
    notes_.throw_at = at;
    for (;;) mailbox_.poll(notes_);
  };
  EXPECT_THROW(poll_into_exception(2), std::runtime_error);
  EXPECT_THROW(poll_into_exception(3), std::runtime_error);
  poll_for(5);
  EXPECT_EQ(notes_.events, (std::vector<std::string>{"opened by a", "request 0 1", "request 0 2",
                                                     "one way 0 3", "request 0 4"}));
  reap_for(*box, 3);
  EXPECT_EQ(replies_.marks, (std::vector<Mark>{77, Mailbox::kNoReply, 77}));
  EXPECT_EQ(box->in_flight<Lane::kShort>(), 0u);
}

TEST_F(MailboxRules, an_inbox_goes_to_another_sender_with_its_sequence) {
  Mailbox one(1, Fence());
  for (int generation = 0; generation < 20; ++generation) {
    const auto box = open(one, std::to_string(generation));
    for (int i = 0; i <= generation; ++i) ASSERT_TRUE(send<Lane::kShort>(*box, 5));
    notes_.events.clear();
    replies_.marks.clear();
    while (notes_.events.size() < static_cast<std::size_t>(generation) + 2) one.poll(notes_);
    EXPECT_EQ(notes_.events.front(), "opened by " + std::to_string(generation));
    reap_for(*box, static_cast<std::size_t>(generation) + 1);
    expect_refused([&] { open(one, "another"); }, {"all 1 inboxes", "taken"});
    box->close();
    expect_refused([&] { open(one, "another"); }, {"all 1 inboxes"});
    while (notes_.events.back() != "closed") one.poll(notes_);
  }
}

TEST_F(MailboxRules, a_sender_that_sent_nothing_leaves_without_a_word) {
  Mailbox one(1, Fence());
  open(one, "silent")->close();
  EXPECT_TRUE(one.has_message());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one.poll(notes_), 0);
  EXPECT_TRUE(notes_.events.empty());
  open(one, "next")->close();
}

TEST_F(MailboxRules, too_many_senders_are_told_how_many_there_may_be) {
  std::vector<std::unique_ptr<Outbox>> boxes;
  for (int i = 0; i < 4; ++i) boxes.push_back(open(mailbox_, std::to_string(i)));
  expect_refused([&] { open(mailbox_, "fifth"); },
                 {"all 4 inboxes of the mailbox are taken by other senders", "unmap"});
}

TEST_F(MailboxRules, memory_that_is_no_mailbox_is_refused) {
  const Region region = Region::create({.what = "a test", .bytes = 1 << 20});
  const auto sentence = {std::string("is not a mailbox of this version"),
                         "process " + std::to_string(getpid())};
  expect_refused([&] { Outbox(region.address(), {}, bell_, Fence()); }, sentence);
  const Region tiny = Region::create({.what = "a test", .bytes = 100});
  expect_refused([&] { Outbox(tiny.address(), {}, bell_, Fence()); }, sentence);
}

TEST_F(MailboxRules, a_caller_with_too_long_a_name_is_refused) {
  expect_refused([&] { open(mailbox_, std::string(121, 'x')); }, {"121 bytes", "at most 120"});
  open(mailbox_, std::string(120, 'x'));
}

TEST_F(MailboxRules, a_mailbox_that_is_gone_is_refused) {
  Region::Address address = mailbox_.address();
  {
    const Mailbox gone(2, Fence());
    address = gone.address();
  }
  expect_refused([&] { Outbox(address, {}, bell_, Fence()); }, {std::to_string(getpid())});
}

TEST_F(MailboxRules, what_its_owner_publishes_is_seen_by_all_senders) {
  const auto box = open(mailbox_, "a");
  EXPECT_EQ(box->owner_page()[4095], std::byte{0});
  mailbox_.owner_page()[4095] = std::byte{42};
  EXPECT_EQ(box->owner_page()[4095], std::byte{42});
}

}  // namespace
}  // namespace shmem
