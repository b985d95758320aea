// Mailboxes and outboxes that close at any moment, under traffic of both sides: every message is
// accounted for exactly once.
#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "shmem/mailbox.h"
#include "shmem/region.h"
#include "tests/support/seed.h"

namespace shmem {
namespace mailbox_close_test {

#ifdef __SANITIZE_THREAD__
constexpr int kConversations = 300;  // of each sender
#else
constexpr int kConversations = 1'500;
#endif
constexpr std::uint32_t kSenders = 3;
constexpr std::uint32_t kPerSender = 400'000;  // messages, at most

// What became of a message; each is done by one thread.
struct Fate {
  std::atomic<std::uint8_t> handled{0};      // the receiver's
  std::atomic<std::uint8_t> refused{0};      // the receiver returned it
  std::atomic<std::uint8_t> unread{0};       // the receiver's reply was not read
  std::atomic<std::uint8_t> replied{0};      // the sender's
  std::atomic<std::uint8_t> returned{0};     // the sender got it back
  std::atomic<std::uint8_t> undelivered{0};  // the sender got it back from a closed mailbox
  std::uint8_t sent = 0;                     // 1: one way, 2: wants a reply
  bool left = false;                         // the sender closed without having waited for its end
};

void add(std::atomic<std::uint8_t>& count) { count.fetch_add(1, std::memory_order_relaxed); }

constexpr Mark kReply = 7;
constexpr Mark kReturned = 8;
constexpr Mark kRefuse = 2;  // a one-way request that is to be returned

std::uint32_t number_in(const Half& half) {
  std::uint32_t number;
  std::memcpy(&number, half.bytes, sizeof number);
  return number;
}

// Where the mailbox of the moment is, and everything that is counted.
struct World {
  std::unique_ptr<Fate[]> fates = std::make_unique<Fate[]>(kSenders * kPerSender);
  std::unique_ptr<Doorbell[]> bells = std::make_unique<Doorbell[]>(kSenders + 1);
  std::mutex mutex;
  Region::Address address{};
  std::atomic<std::uint32_t> finished{0};
};

class Receiver {
 public:
  explicit Receiver(World& world) : world_(world) {}

  Doorbell& opened(std::uint32_t, std::span<const std::byte> caller) {
    std::uint32_t sender;
    std::memcpy(&sender, caller.data(), sizeof sender);
    return world_.bells[1 + sender];
  }
  template <Lane kLane>
  Mark request(std::uint32_t, const Room& room, Mark) {
    const std::uint32_t number = number_in(room.slot->request);
    add(world_.fates[number].handled);
    std::memcpy(room.slot->reply.bytes, &number, sizeof number);
    return kReply;
  }
  template <Lane kLane>
  Mark one_way(std::uint32_t, const Room& room, Mark mark) {
    Fate& fate = world_.fates[number_in(room.slot->request)];
    if ((mark & ~kOneWay) != kRefuse) {
      add(fate.handled);
      return kNoReply;
    }
    add(fate.refused);
    return kReturned;
  }
  template <Lane kLane>
  void unread(std::uint32_t, const Room& room, Mark) {
    add(world_.fates[number_in(room.slot->reply)].unread);
  }
  void closed(std::uint32_t) {}

  void run() {
    std::mt19937_64 random(::test::seed());
    // pairs with: fetch_add() of each sender; all its conversations are over
    while (world_.finished.load(std::memory_order_acquire) != kSenders) {
      Mailbox mailbox(4, Fence());
      {
        const std::lock_guard lock(world_.mutex);
        world_.address = mailbox.address();
      }
      for (auto polls = random() % 400; polls > 0; --polls) {
        if (mailbox.poll(*this) == 0) sched_yield();
      }
      mailbox.close(*this);
    }
  }

 private:
  World& world_;
};

class Sender {
 public:
  Sender(World& world, std::uint32_t me)
      : world_(world), me_(me), next_(me * kPerSender), random_(::test::seed() + me) {}

  template <Lane kLane>
  void reply(const Room& room, Mark) {
    EXPECT_EQ(number_in(room.slot->reply), number_in(room.slot->request));
    add(world_.fates[number_in(room.slot->reply)].replied);
  }
  template <Lane kLane>
  void returned(const Room& room) {
    add(world_.fates[number_in(room.slot->request)].returned);
  }
  template <Lane kLane>
  void undelivered(const Room& room, Mark) {
    add(world_.fates[number_in(room.slot->request)].undelivered);
  }

  void run() {
    for (int i = 0; i < kConversations; ++i) converse();
    // pairs with: the receiver's load()
    world_.finished.fetch_add(1, std::memory_order_release);
  }

 private:
  std::unique_ptr<Outbox> open() {
    for (;; sched_yield()) {
      Region::Address address;
      {
        const std::lock_guard lock(world_.mutex);
        address = world_.address;
      }
      try {
        auto box =
            Outbox::try_open(address, std::as_bytes(std::span(&me_, 1)), world_.bells[0], Fence());
        if (box) return box;
      } catch (const Error&) {  // closed just now, or nothing is there yet
      }
    }
  }

  template <Lane kLane>
  void send(Outbox& box) {
    Room room;
    if (next_ == (me_ + 1) * kPerSender || !box.try_claim<kLane>(room)) return;
    Fate& fate = world_.fates[next_];
    const bool one_way = random_() % 2 == 0;
    fate.sent = one_way ? 1 : 2;
    std::memcpy(room.slot->request.bytes, &next_, sizeof next_);
    ++next_;
    const Mark mark = one_way && random_() % 4 == 0 ? kRefuse : 1;
    box.commit<kLane>(room, one_way ? mark | kOneWay : mark);
  }

  // As an endpoint does at every poll.
  void poll(Outbox& box) {
    const std::uint64_t alerts = world_.bells[1 + me_].alerts();
    if (alerts != alerts_seen_) {
      alerts_seen_ = alerts;
      gone_ = box.gone();
      box.take_returned(*this);
    }
    if (gone_) box.abandon(*this);
    box.reap(*this);
  }

  void converse() {
    const std::uint32_t first = next_;
    const std::unique_ptr<Outbox> box = open();
    gone_ = box->gone();
    alerts_seen_ = ~std::uint64_t{0};
    const bool waits = random_() % 3 != 0;
    for (auto steps = random_() % 60; steps > 0; --steps) {
      switch (random_() % 6) {
        case 0: poll(*box); break;
        case 1: send<Lane::kMedium>(*box); break;
        case 2: send<Lane::kLong>(*box); break;
        case 3: sched_yield(); break;
        default: send<Lane::kShort>(*box);
      }
    }
    if (waits) wait_for_all(*box);
    for (std::uint32_t i = first; i < next_; ++i) world_.fates[i].left = !waits;
    box->close();
  }

  // One last request in each lane, as its reply, or its return, says that all before were read.
  void wait_for_all(Outbox& box) {
    const auto last = [&]<Lane kLane>() {
      Room room;
      while (!box.try_claim<kLane>(room)) poll(box);
      world_.fates[next_].sent = 2;
      std::memcpy(room.slot->request.bytes, &next_, sizeof next_);
      ++next_;
      box.commit<kLane>(room, 1);
    };
    last.template operator()<Lane::kShort>();
    last.template operator()<Lane::kMedium>();
    last.template operator()<Lane::kLong>();
    while (box.awaited() != 0) {
      poll(box);
      sched_yield();
    }
    EXPECT_EQ(box.in_flight(), 0u);
  }

  World& world_;
  const std::uint32_t me_;
  std::uint32_t next_;
  std::mt19937_64 random_;
  std::uint64_t alerts_seen_ = 0;
  bool gone_ = false;
};

// What may have become of a message, as one number for each combination.
std::string wrong(const Fate& fate) {
  const int handled = fate.handled, refused = fate.refused, unread = fate.unread;
  const int replied = fate.replied, returned = fate.returned, undelivered = fate.undelivered;
  const std::string text =
      "handled " + std::to_string(handled) + ", refused " + std::to_string(refused) + ", unread " +
      std::to_string(unread) + ", replied " + std::to_string(replied) + ", returned " +
      std::to_string(returned) + ", undelivered " + std::to_string(undelivered) + ", sent " +
      std::to_string(fate.sent) + (fate.left ? ", left" : "");
  if (handled + refused + undelivered > 1) return text;
  if (replied + unread > handled || returned > refused) return text;
  if (fate.left) return "";  // its sender waits for nothing
  const bool settled = handled + refused + undelivered == 1 && returned == refused &&
                       (fate.sent == 1 || replied == handled) && unread == 0;
  return settled ? "" : text;
}

TEST(MailboxClose, accounts_for_every_message_at_any_moment) {
  World world;
  std::vector<std::thread> threads;
  threads.emplace_back([&] { Receiver(world).run(); });
  for (std::uint32_t me = 0; me < kSenders; ++me) {
    threads.emplace_back([&, me] { Sender(world, me).run(); });
  }
  for (std::thread& thread : threads) thread.join();
  std::array<std::uint64_t, 6> seen{};
  for (std::uint32_t i = 0; i < kSenders * kPerSender; ++i) {
    const Fate& fate = world.fates[i];
    if (fate.sent == 0) continue;
    ASSERT_EQ(wrong(fate), "") << "message " << i;
    seen[0] += fate.handled;
    seen[1] += fate.refused;
    seen[2] += fate.unread;
    seen[3] += fate.replied;
    seen[4] += fate.returned;
    seen[5] += fate.undelivered;
  }
  for (std::size_t what = 0; what < seen.size(); ++what) {
    EXPECT_GT(seen[what], 20u) << "this kind of fate did not occur: " << what;
  }
}

}  // namespace mailbox_close_test
}  // namespace shmem
