// One process that is both ends of a mailbox, step by step.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shmem/mailbox.h"
#include "shmem/region.h"

namespace shmem {
namespace mailbox_rules_test {

constexpr int kEnoughToRest = 15'000;  // empty polls after which idle lanes are not looked at

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
    if (on_request) on_request(mark);
    if (throw_at == mark) throw std::runtime_error("no");
    return 77;
  }
  template <Lane kLane>
  Mark one_way(std::uint32_t, const Room& room, Mark mark) {
    events.push_back("one way " + std::to_string(index(kLane)) + " " +
                     std::to_string(mark & ~kOneWay));
    if (throw_at == (mark & ~kOneWay)) throw std::runtime_error("no");
    if ((mark & ~kOneWay) != return_at) return kNoReply;
    room.slot->reply.bytes[0] = std::byte{99};
    return 55;
  }
  template <Lane kLane>
  void unread(std::uint32_t, const Room&, Mark mark) {
    events.push_back("unread " + std::to_string(index(kLane)) + " " + std::to_string(mark));
  }
  void closed(std::uint32_t) { events.push_back("closed"); }

  Doorbell bell{};
  std::function<void(Mark)> on_request;
  Mark throw_at = 0;
  Mark return_at = 0xffff;  // a one-way request with this mark is returned
  std::vector<std::string> events;
};

struct Replies {
  template <Lane kLane>
  void reply(const Room&, Mark mark) {
    marks.push_back(mark);
    events.push_back("reply " + std::to_string(index(kLane)));
  }
  template <Lane kLane>
  void returned(const Room& room) {
    EXPECT_EQ(room.slot->reply.bytes[0], std::byte{99});
    events.push_back("returned " + std::to_string(index(kLane)) + " " + mark_in(room));
  }
  template <Lane kLane>
  void undelivered(const Room& room, Mark mark) {
    EXPECT_EQ(mark_in(room), std::to_string(mark & ~kOneWay));
    events.push_back("undelivered " + std::to_string(index(kLane)) + " " + mark_in(room));
  }
  static std::string mark_in(const Room& room) {
    const auto head = room.slot->request.head.load(std::memory_order_relaxed);
    return std::to_string(mark_of(head) & ~kOneWay);
  }
  std::vector<Mark> marks;
  std::vector<std::string> events;
};
using Events = std::vector<std::string>;

class MailboxRules : public testing::Test {
 protected:
  std::unique_ptr<Outbox> open(Mailbox& mailbox, const std::string& name) {
    return Outbox::try_open(mailbox.address(), std::as_bytes(std::span(name)), bell_, Fence());
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

// The next handler may take long.
TEST_F(MailboxRules, sender_that_sleeps_is_woken_before_the_next_message_is_handled) {
  const auto box = open(mailbox_, "a");
  for (const Mark mark : {1, 2, 3}) ASSERT_TRUE(send<Lane::kShort>(*box, mark));
  const std::uint32_t ticket = notes_.bell.about_to_sleep();
  notes_.on_request = [&](Mark mark) { EXPECT_EQ(notes_.bell.rung_since(ticket), mark != 1); };
  poll_for(1 + 3);
  EXPECT_TRUE(notes_.bell.rung_since(ticket));
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

TEST_F(MailboxRules, senders_that_are_idle_are_polled_no_longer_while_another_is_busy) {
  Mailbox wide(40, Fence());
  std::vector<std::unique_ptr<Outbox>> boxes;
  for (int i = 0; i < 40; ++i) {
    boxes.push_back(open(wide, std::to_string(i)));
    ASSERT_TRUE(send<Lane::kShort>(*boxes.back(), 1 | kOneWay));
    ASSERT_TRUE(send<Lane::kLong>(*boxes.back(), 1 | kOneWay));
  }
  const auto poll_for = [&](std::size_t count) {
    while (notes_.events.size() < count) wide.poll(notes_);
  };
  poll_for(40 * 3);
  EXPECT_EQ(wide.active(), 80u);
  for (std::size_t i = 0; i < kEnoughToRest; ++i) {
    ASSERT_TRUE(send<Lane::kShort>(*boxes[7], 1 | kOneWay));
    poll_for(40 * 3 + i + 1);
  }
  EXPECT_EQ(wide.active(), 1u);
  notes_.events.clear();
  for (const auto& box : boxes) ASSERT_TRUE(send<Lane::kLong>(*box, 1 | kOneWay));
  EXPECT_TRUE(wide.has_message());
  poll_for(40);
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
  EXPECT_EQ(replies_.marks, (std::vector<Mark>{77, kNoReply, 77}));
  EXPECT_EQ(box->in_flight<Lane::kShort>(), 0u);
}

// --- One-way requests that come back

TEST_F(MailboxRules, a_returned_request_is_the_senders_again_and_raises_an_alert) {
  const auto box = open(mailbox_, "a");
  notes_.return_at = 2;
  for (const Mark mark : {1, 2, 3, 2}) ASSERT_TRUE(send<Lane::kMedium>(*box, mark | kOneWay));
  EXPECT_FALSE(box->has_returned());
  EXPECT_EQ(notes_.bell.alerts(), 0u);
  poll_for(1 + 4);
  EXPECT_EQ(notes_.bell.alerts(), 2u);
  EXPECT_TRUE(box->has_returned());
  EXPECT_EQ(box->take_returned(replies_), 2);
  EXPECT_EQ(replies_.events, (Events{"returned 1 2", "returned 1 2"}));
  EXPECT_FALSE(box->has_returned());
  EXPECT_EQ(box->in_flight<Lane::kMedium>(), 0u);
}

TEST_F(MailboxRules, who_does_not_take_what_was_returned_cannot_send_beyond_the_window) {
  const auto box = open(mailbox_, "a");
  notes_.return_at = 2;
  std::size_t sent = 0;
  for (int i = 0; i < 1'000; ++i) {
    sent += send<Lane::kMedium>(*box, 2 | kOneWay);
    mailbox_.poll(notes_);
  }
  EXPECT_EQ(sent, 16u);
  EXPECT_TRUE(send<Lane::kShort>(*box, 1)) << "another lane";
  EXPECT_EQ(box->take_returned(replies_), 16);
  EXPECT_TRUE(send<Lane::kMedium>(*box, 2 | kOneWay));
}

TEST_F(MailboxRules, returned_requests_and_replies_come_in_the_order_of_their_requests) {
  const auto box = open(mailbox_, "a");
  notes_.return_at = 2;
  for (const Mark mark : {2 | kOneWay, 1, 3 | kOneWay, 2 | kOneWay, 1, 2 | kOneWay}) {
    ASSERT_TRUE(send<Lane::kShort>(*box, mark));
  }
  poll_for(1 + 6);
  box->reap(replies_);
  EXPECT_EQ(replies_.events, (Events{"returned 0 2", "reply 0", "returned 0 2", "reply 0"}));
  EXPECT_TRUE(box->has_returned());
  box->take_returned(replies_);
  EXPECT_EQ(replies_.events.back(), "returned 0 2");
  EXPECT_EQ(box->in_flight<Lane::kShort>(), 0u);
}

// --- Ends that go

TEST_F(MailboxRules, a_sender_may_close_with_everything_in_flight) {
  Mailbox one(1, Fence());
  auto box = open(one, "a");
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(send<Lane::kShort>(*box, i % 2 == 0 ? 1 : 3 | kOneWay));
  ASSERT_TRUE(send<Lane::kMedium>(*box, 4));
  ASSERT_TRUE(send<Lane::kLong>(*box, 5 | kOneWay));
  box->close();
  box.reset();
  EXPECT_TRUE(one.has_message());
  while (notes_.events.empty() || notes_.events.back() != "closed") one.poll(notes_);
  const auto count = [&](const std::string& event) {
    return std::count(notes_.events.begin(), notes_.events.end(), event);
  };
  EXPECT_EQ(count("request 0 1"), 32);
  EXPECT_EQ(count("one way 0 3"), 32);
  EXPECT_EQ(count("request 1 4"), 1);
  EXPECT_EQ(count("one way 2 5"), 1);
  EXPECT_EQ(count("unread 0 77"), 32);
  EXPECT_EQ(count("unread 1 77"), 1);
  EXPECT_EQ(notes_.events.size(), 1u + 66 + 33 + 1);
  EXPECT_FALSE(one.has_message());
  notes_.events.clear();
  box = open(one, "b");  // among the slots of the other
  ASSERT_TRUE(send<Lane::kShort>(*box, 6));
  while (replies_.marks.empty()) {
    one.poll(notes_);
    box->reap(replies_);
  }
  EXPECT_EQ(notes_.events, (Events{"opened by b", "request 0 6"}));
  EXPECT_EQ(box->in_flight(), 0u);
}

TEST_F(MailboxRules, replies_that_the_sender_has_read_are_not_unread) {
  auto box = open(mailbox_, "a");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send<Lane::kShort>(*box, 1));
  poll_for(4);
  reap_for(*box, 3);
  ASSERT_TRUE(send<Lane::kShort>(*box, 2));
  poll_for(5);
  box->close();
  notes_.events.clear();
  while (notes_.events.empty() || notes_.events.back() != "closed") mailbox_.poll(notes_);
  EXPECT_EQ(notes_.events, (Events{"unread 0 77", "closed"}));
}

TEST_F(MailboxRules, a_mailbox_that_closes_gives_back_what_it_has_not_read) {
  auto mailbox = std::make_unique<Mailbox>(2, Fence());
  const auto box = open(*mailbox, "a");
  notes_.return_at = 2;
  for (const Mark mark : {1, 3 | kOneWay, 2 | kOneWay, 1}) {
    ASSERT_TRUE(send<Lane::kShort>(*box, mark));
  }
  while (notes_.events.size() < 5) mailbox->poll(notes_);
  for (const Mark mark : {4, 5 | kOneWay, 6}) ASSERT_TRUE(send<Lane::kShort>(*box, mark));
  ASSERT_TRUE(send<Lane::kLong>(*box, 7));
  EXPECT_FALSE(box->gone());
  const std::uint64_t alerts = notes_.bell.alerts();
  mailbox->close(notes_);
  mailbox.reset();
  EXPECT_GT(notes_.bell.alerts(), alerts);
  EXPECT_TRUE(box->gone());
  ASSERT_TRUE(send<Lane::kShort>(*box, 8 | kOneWay)) << "it need not know yet";
  EXPECT_EQ(box->abandon(replies_), 3 + 5);
  EXPECT_EQ(replies_.events,
            (Events{"reply 0", "returned 0 2", "reply 0", "undelivered 0 4", "undelivered 0 5",
                    "undelivered 0 6", "undelivered 0 8", "undelivered 2 7"}));
  EXPECT_EQ(box->in_flight(), 0u);
  EXPECT_EQ(box->awaited(), 0u);
  EXPECT_EQ(box->abandon(replies_), 0);
  ASSERT_TRUE(send<Lane::kMedium>(*box, 9));
  EXPECT_EQ(box->abandon(replies_), 1);
  EXPECT_EQ(replies_.events.back(), "undelivered 1 9");
  box->close();
}

TEST_F(MailboxRules, a_mailbox_that_closes_alerts_senders_it_has_not_heard_of) {
  auto mailbox = std::make_unique<Mailbox>(3, Fence());
  const auto silent = open(*mailbox, "silent");
  const auto unread = open(*mailbox, "unread");
  ASSERT_TRUE(send<Lane::kShort>(*unread, 1));
  const auto left = open(*mailbox, "left");
  left->close();
  mailbox->close(notes_);
  EXPECT_EQ(notes_.bell.alerts(), 2u);
  mailbox.reset();
  EXPECT_TRUE(silent->gone());
  EXPECT_EQ(unread->abandon(replies_), 1);
  EXPECT_EQ(replies_.events, Events{"undelivered 0 1"});
}

TEST_F(MailboxRules, an_outbox_to_nobody_gives_everything_back) {
  const auto box = Outbox::to_nobody(bell_, Fence());
  EXPECT_TRUE(box->gone());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 64; ++i)
      ASSERT_TRUE(send<Lane::kShort>(*box, i % 2 == 0 ? 1 : 1 | kOneWay));
    EXPECT_FALSE(send<Lane::kShort>(*box, 1));
    EXPECT_EQ(box->abandon(replies_), 64);
  }
  EXPECT_EQ(replies_.events, Events(192, "undelivered 0 1"));
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
    EXPECT_EQ(open(one, "another"), nullptr) << "not free before the next poll";
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
  expect_refused(
      [&] { open(mailbox_, "fifth"); },
      {"all 4 inboxes of the mailbox are taken by other senders", "at most 1024", "unmap"});
}

TEST_F(MailboxRules, memory_that_is_no_mailbox_is_refused) {
  const Region region = Region::create({.what = "a test", .bytes = 1 << 20});
  const auto sentence = {std::string("is not a mailbox of this version"),
                         "process " + std::to_string(getpid())};
  expect_refused([&] { (void)Outbox::try_open(region.address(), {}, bell_, Fence()); }, sentence);
  const Region tiny = Region::create({.what = "a test", .bytes = 100});
  expect_refused([&] { (void)Outbox::try_open(tiny.address(), {}, bell_, Fence()); }, sentence);
}

TEST_F(MailboxRules, a_caller_with_too_long_a_name_is_refused) {
  expect_refused([&] { open(mailbox_, std::string(1025, 'x')); }, {"1025 bytes", "at most 1024"});
  open(mailbox_, std::string(1024, 'x'));
}

TEST_F(MailboxRules, a_mailbox_that_is_gone_is_refused) {
  Region::Address address = mailbox_.address();
  {
    const Mailbox gone(2, Fence());
    address = gone.address();
  }
  EXPECT_THROW((void)Outbox::try_open(address, {}, bell_, Fence()), Gone);
  expect_refused([&] { (void)Outbox::try_open(address, {}, bell_, Fence()); },
                 {std::to_string(getpid())});
}

TEST_F(MailboxRules, what_its_owner_publishes_is_seen_by_all_senders) {
  const auto box = open(mailbox_, "a");
  EXPECT_EQ(box->owner_page()[4095], std::byte{0});
  mailbox_.owner_page()[4095] = std::byte{42};
  EXPECT_EQ(box->owner_page()[4095], std::byte{42});
}

}  // namespace mailbox_rules_test
}  // namespace shmem
