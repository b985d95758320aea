// A sender, or a receiver, that is killed in the middle of a step leaves nothing that others
// stumble over: the other end is told that it is dead.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "shmem/mailbox.h"
#include "shmem/region.h"

namespace shmem {
namespace mailbox_dead_test {

constexpr Mark kReply = 7;

std::uint64_t number_in(const Half& half) {
  std::uint64_t number;
  std::memcpy(&number, half.bytes, sizeof number);
  return number;
}

// What has come to a mailbox.
struct Handled {
  Doorbell& opened(std::uint32_t, std::span<const std::byte>) { return *bell; }
  template <Lane kLane>
  Mark request(std::uint32_t, const Room& room, Mark) {
    numbers.push_back(number_in(room.slot->request));
    return kReply;
  }
  template <Lane kLane>
  Mark one_way(std::uint32_t inbox, const Room& room, Mark mark) {
    request<kLane>(inbox, room, mark);
    return kNoReply;
  }
  template <Lane kLane>
  void unread(std::uint32_t, const Room&, Mark) {
    ++unread_replies;
  }
  void closed(std::uint32_t) { ++closed_senders; }

  Doorbell* bell;
  std::vector<std::uint64_t> numbers = {};
  int unread_replies = 0;
  int closed_senders = 0;
};

// The same of a receiver that dies in the eleventh.
struct HandledTen : Handled {
  template <Lane kLane>
  Mark request(std::uint32_t inbox, const Room& room, Mark mark) {
    if (numbers.size() == 10) raise(SIGKILL);
    return Handled::request<kLane>(inbox, room, mark);
  }
};

// ... and to a sender.
struct Back {
  template <Lane kLane>
  void reply(const Room& room, Mark) {
    replies.push_back(number_in(room.slot->request));
  }
  template <Lane kLane>
  void returned(const Room&) {
    FAIL() << "nothing was returned";
  }
  template <Lane kLane>
  void undelivered(const Room& room, Mark) {
    undelivered_requests.push_back(number_in(room.slot->request));
  }

  std::vector<std::uint64_t> replies = {};
  std::vector<std::uint64_t> undelivered_requests = {};
};

class DeadProcess : public testing::Test {
 protected:
  std::unique_ptr<Outbox> open(const Region::Address& address) {
    const std::uint64_t caller = 0;
    return Outbox::try_open(address, std::as_bytes(std::span(&caller, 1)), *bell_, Fence());
  }
  static Room claim(Outbox& box, std::uint64_t number) {
    Room room{};
    EXPECT_TRUE(box.try_claim<Lane::kShort>(room));
    std::memcpy(room.slot->request.bytes, &number, sizeof number);
    return room;
  }
  static void send(Outbox& box, std::uint64_t number, Mark mark) {
    box.commit<Lane::kShort>(claim(box, number), mark);
  }
  // Runs `work` in a process that is killed at its end; returns the pid, once the process is gone.
  static pid_t kill_after(const std::function<void()>& work) {
    const pid_t pid = fork();
    if (pid == 0) {
      work();
      raise(SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return pid;
  }

  std::unique_ptr<Doorbell> bell_ = std::make_unique<Doorbell>();
};

TEST_F(DeadProcess, has_sent_what_it_committed_and_no_more) {
  Mailbox mailbox(1, Fence());
  const Region::Address address = mailbox.address();
  const pid_t pid = kill_after([&] {
    const auto box = open(address);
    send(*box, 1, 1);
    send(*box, 2, 1 | kOneWay);
    claim(*box, 3);  // filled, and not committed
  });
  Handled handled{bell_.get()};
  int count = 0;
  EXPECT_TRUE(mailbox.bury(pid, count, handled));
  EXPECT_EQ(handled.numbers, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(handled.closed_senders, 1);
  EXPECT_EQ(handled.unread_replies, 0);  // which it has read nobody knows
}

// The only inbox, again and again, whatever the last one had filled.
TEST_F(DeadProcess, leaves_its_inbox_to_others) {
  Mailbox mailbox(1, Fence());
  const Region::Address address = mailbox.address();
  Handled handled{bell_.get()};
  std::uint64_t sent = 0;
  for (int round = 0; round < 20; ++round) {
    const int messages = round * 7 % 65;
    const pid_t pid = kill_after([&] {
      const auto box = open(address);
      for (int i = 0; i < messages; ++i) send(*box, sent + static_cast<std::uint64_t>(i), 1);
      if (messages < 64) claim(*box, 999'999);
    });
    sent += static_cast<std::uint64_t>(messages);
    int count = 0;
    EXPECT_TRUE(mailbox.bury(pid, count, handled));
    EXPECT_EQ(count, messages);
  }
  const auto box = open(address);
  send(*box, sent, 1);
  EXPECT_EQ(mailbox.poll(handled), 1);
  Back back;
  EXPECT_EQ(box->reap(back), 1);
  EXPECT_EQ(back.replies, (std::vector<std::uint64_t>{sent}));
  ASSERT_EQ(handled.numbers.size(), sent + 1);
  for (std::uint64_t i = 0; i <= sent; ++i) EXPECT_EQ(handled.numbers[i], i);
  box->close();
}

// It has said good-bye, and died before the receiver was notified of that.
TEST_F(DeadProcess, leaves_an_inbox_that_it_had_closed) {
  Mailbox mailbox(1, Fence());
  const Region::Address address = mailbox.address();
  const pid_t pid = kill_after([&] {
    const auto box = open(address);
    for (std::uint64_t i = 0; i < window(Lane::kShort); ++i) send(*box, i, 1);
    box->close();
  });
  Handled handled{bell_.get()};
  int count = 0;
  EXPECT_TRUE(mailbox.bury(pid + 1, count, handled));  // of another
  EXPECT_EQ(count, 0);
  EXPECT_TRUE(mailbox.bury(pid, count, handled));
  EXPECT_EQ(handled.numbers.size(), window(Lane::kShort));
  EXPECT_EQ(handled.closed_senders, 1);
  const auto box = open(address);
  ASSERT_NE(box, nullptr);
  box->close();
}

// It has claimed the inbox, and died before it has written who it is.
TEST_F(DeadProcess, leaves_an_inbox_that_it_had_only_claimed) {
  Mailbox mailbox(1, Fence());
  const Region::Address address = mailbox.address();
  const pid_t pid = kill_after([&] {
    const Region region = Region::open(address);
    auto& header = *reinterpret_cast<MailboxHeader*>(region.data());
    header.states[0].store(claimed_by(getpid()), std::memory_order_relaxed);
  });
  Handled handled{bell_.get()};
  int count = 0;
  EXPECT_TRUE(mailbox.bury(pid + 1, count, handled));  // of another
  EXPECT_THROW(static_cast<void>(open(address)), Error);
  EXPECT_TRUE(mailbox.bury(pid, count, handled));
  EXPECT_EQ(count, 0);
  const auto box = open(address);
  ASSERT_NE(box, nullptr);
  box->close();
}

// The receiver handles some of a full lane, answers fewer, and dies.
TEST_F(DeadProcess, gives_back_all_that_it_has_not_answered) {
  int ready[2];
  int go[2];
  ASSERT_EQ(pipe(ready) | pipe(go), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    Mailbox mailbox(1, Fence());
    const Region::Address address = mailbox.address();
    char byte = 0;
    if (write(ready[1], &address, sizeof address) < 0 || read(go[0], &byte, 1) < 0) _exit(1);
    HandledTen few{{bell_.get()}};
    mailbox.poll(few);
    _exit(1);
  }
  Region::Address address{};
  ASSERT_EQ(read(ready[0], &address, sizeof address), static_cast<ssize_t>(sizeof address));
  const auto box = open(address);
  for (std::uint64_t i = 0; i < window(Lane::kShort); ++i) send(*box, i, 1);
  Room room{};
  EXPECT_FALSE(box->try_claim<Lane::kShort>(room));
  ASSERT_EQ(write(go[1], "g", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(box->gone());
  box->owner_died();
  EXPECT_TRUE(box->gone());
  Back back;
  EXPECT_EQ(box->abandon(back), static_cast<int>(window(Lane::kShort)));
  ASSERT_EQ(back.replies.size(), 10u);
  ASSERT_EQ(back.undelivered_requests.size(), window(Lane::kShort) - 10);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(back.replies[i], i);
  EXPECT_EQ(back.undelivered_requests.front(), 10u);
  EXPECT_EQ(back.undelivered_requests.back(), window(Lane::kShort) - 1);
  EXPECT_TRUE(box->try_claim<Lane::kShort>(room));  // and what is sent now comes back likewise
  box->close();
  for (const int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
}

}  // namespace mailbox_dead_test
}  // namespace shmem
