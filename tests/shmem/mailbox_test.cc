#include "shmem/mailbox.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "shmem/region.h"
#include "tests/shmem/in_child.h"
#include "tests/shmem/longest_sleep.h"
#include "tests/support/seed.h"

namespace shmem {
namespace mailbox_test {

constexpr unsigned kPatience = 30;  // seconds that a process waits for one that has failed
constexpr Lane kAllLanes[] = {Lane::kShort, Lane::kMedium, Lane::kLong};

// Calls f.template operator()<lane>() for a lane known at run time.
template <class F>
auto with_lane(Lane lane, F&& f) {
  switch (lane) {
    case Lane::kShort: return f.template operator()<Lane::kShort>();
    case Lane::kMedium: return f.template operator()<Lane::kMedium>();
    default: return f.template operator()<Lane::kLong>();
  }
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9u;
}

// All bytes of one direction of a message, made from one number.
// Of a request in that lane; nullptr: there is none.
std::byte* request_payload(Room room, Lane lane) {
  return lane == Lane::kMedium ? room.request_payload() : nullptr;
}
void fill(std::byte (&words)[24], std::byte* extension, std::byte* payload, std::uint64_t number) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t word = i == 0 ? number : mix(number, i);
    std::memcpy(words + 8 * i, &word, 8);
  }
  for (unsigned i = 0; i < 64; ++i) extension[i] = static_cast<std::byte>(number + i);
  if (payload == nullptr) return;
  for (std::size_t i = 0; i < kPayloadBytes; i += 64) {
    payload[i] = static_cast<std::byte>(number * 31 + i / 64);
  }
}

bool holds(const std::byte (&words)[24], const std::byte* extension, const std::byte* payload,
           std::uint64_t number) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    std::uint64_t word;
    std::memcpy(&word, words + 8 * i, 8);
    if (word != (i == 0 ? number : mix(number, i))) return false;
  }
  for (int i = 0; i < 64; ++i) {
    if (extension[i] != static_cast<std::byte>(number + static_cast<unsigned>(i))) return false;
  }
  for (std::size_t i = 0; payload != nullptr && i < kPayloadBytes; i += 64) {
    if (payload[i] != static_cast<std::byte>(number * 31 + i / 64)) return false;
  }
  return true;
}

std::uint64_t number_in(const std::byte (&words)[24]) {
  std::uint64_t number;
  std::memcpy(&number, words, 8);
  return number;
}

// What a sender tells about itself, and how its messages are numbered.
struct Card {
  std::uint32_t sender;
  std::uint32_t generation;
};
std::uint64_t first_number(const Card& card, Lane lane) {
  return mix(mix(card.sender, card.generation), index(lane)) << 20;
}

std::span<const std::byte> bytes_of(const Card& card) { return std::as_bytes(std::span(&card, 1)); }

// Checks everything a mailbox hands over against what each sender has to say next.
class Receiver {
 public:
  explicit Receiver(Doorbell* bells) : bells_(bells) {}

  Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller) {
    Conversation& with = conversations_[inbox];
    if (with.open) throw std::logic_error("an inbox was opened twice");
    if (caller.size() != sizeof(Card)) throw std::logic_error("another caller");
    with.open = true;
    std::memcpy(&with.card, caller.data(), sizeof(Card));
    for (const Lane lane : kAllLanes) with.next[index(lane)] = first_number(with.card, lane);
    return bells_[with.card.sender];
  }
  void closed(std::uint32_t inbox) {
    if (!conversations_[inbox].open) throw std::logic_error("an inbox was closed twice");
    conversations_[inbox].open = false;
    ++goodbyes;
  }
  template <Lane kLane>
  Mark request(std::uint32_t inbox, const Room& room, Mark mark) {
    const std::uint64_t number = take(inbox, kLane, room, mark);
    fill(room.slot->reply.bytes, room.extension().reply, room.reply_payload(), ~number);
    return static_cast<Mark>(number % 0x7fff + 1);
  }
  template <Lane kLane>
  Mark one_way(std::uint32_t inbox, const Room& room, Mark mark) {
    take(inbox, kLane, room, mark);
    return kNoReply;
  }
  template <Lane kLane>
  void unread(std::uint32_t, const Room&, Mark) {
    throw std::logic_error("a sender did not read its reply");
  }

  int goodbyes = 0;
  std::uint64_t messages = 0;

 private:
  struct Conversation {
    bool open = false;
    Card card{};
    std::uint64_t next[kLanes]{};
  };

  std::uint64_t take(std::uint32_t inbox, Lane lane, const Room& room, Mark mark) {
    Conversation& from = conversations_[inbox];
    if (!from.open) throw std::logic_error("a message before its sender was opened");
    const std::uint64_t number = from.next[index(lane)]++;
    if (!holds(room.slot->request.bytes, room.extension().request, request_payload(room, lane),
               number)) {
      throw std::logic_error("message " + std::to_string(number_in(room.slot->request.bytes)) +
                             " instead of " + std::to_string(number));
    }
    if ((mark & 0x7fff) != number % 0x7fff) throw std::logic_error("another mark");
    ++messages;
    return number;
  }

  Doorbell* bells_;
  std::array<Conversation, kMaxInboxes> conversations_{};
};

// What `work` returns, or what was wrong, which is also printed: others may now wait for ever.
std::string guarded(const std::function<std::string()>& work) {
  std::string result;
  try {
    result = work();
  } catch (const std::exception& error) {
    result = error.what();
  }
  if (result != "fine") std::fprintf(stderr, "%s\n", result.c_str());
  return result;
}

// Sleeps on a doorbell until `look` says true. It looks again, instead of sleeping, where `stirs`.
template <class Look, class Stirs>
void sleep_until(Doorbell& bell, const Fence& fence, Look&& look, Stirs&& stirs) {
  while (!look()) {
    const std::uint32_t ticket = bell.about_to_sleep();
    fence.heavy();
    const bool seen = look();
    if (!seen && !stirs()) bell.sleep(ticket, test::longest_sleep_ns(fence));
    if (seen) return;
  }
}

// Sends numbered messages of all kinds through one outbox, and checks what comes back.
class Sender {
 public:
  Sender(const Region::Address& to, const Card& card, Doorbell* bells, Fence fence)
      : bell_(bells[card.sender]),
        fence_(fence),
        box_(Outbox::try_open(to, bytes_of(card), bells[0], fence)) {
    if (!box_) throw Error("every inbox is being given back");
    for (const Lane lane : kAllLanes) next_[index(lane)] = first_number(card, lane);
  }

  void send(Lane lane, bool one_way) {
    with_lane(lane, [&]<Lane kLane>() {
      Room room;
      wait_until([&] { return box_->try_claim<kLane>(room); });
      const std::uint64_t number = next_[index(kLane)]++;
      fill(room.slot->request.bytes, room.extension().request, request_payload(room, lane), number);
      if (!one_way) awaited_[index(kLane)].push_back(number);
      box_->commit<kLane>(room, static_cast<Mark>(number % 0x7fff | (one_way ? kOneWay : 0)));
      if (box_->in_flight<kLane>() > window(kLane)) throw std::logic_error("beyond the window");
    });
  }

  // Waits until everything has been read, and gives the inbox back.
  void close() {
    for (const Lane lane : kAllLanes) send(lane, false);
    wait_until([&] { return box_->awaited() == 0; });
    for (const Lane lane : kAllLanes) {
      with_lane(lane, [&]<Lane kLane>() {
        if (box_->in_flight<kLane>() != 0) throw std::logic_error("a credit was lost");
        if (!awaited_[index(kLane)].empty()) throw std::logic_error("a reply was lost");
      });
    }
    box_->close();
  }

  template <Lane kLane>
  void returned(const Room&) {
    throw std::logic_error("a message came back");
  }
  template <Lane kLane>
  void reply(const Room& room, Mark mark) {
    auto& awaited = awaited_[index(kLane)];
    if (awaited.empty()) throw std::logic_error("a reply too many");
    const std::uint64_t number = awaited.front();
    awaited.pop_front();
    if (!holds(room.slot->reply.bytes, room.extension().reply, room.reply_payload(), ~number) ||
        mark != number % 0x7fff + 1) {
      throw std::logic_error("another reply than that to " + std::to_string(number));
    }
  }

 private:
  template <class Condition>
  void wait_until(Condition&& condition) {
    const auto look = [&] {
      box_->reap(*this);
      return condition();
    };
    sleep_until(bell_, fence_, look, [&] { return box_->has_reply(); });
  }

  Doorbell& bell_;
  Fence fence_;
  std::unique_ptr<Outbox> box_;
  std::uint64_t next_[kLanes];
  std::deque<std::uint64_t> awaited_[kLanes];
};

struct Traffic {
  unsigned senders;
  int generations;
  int messages;  // of each sender and generation
  bool kernel_fence;
};

// Sender `me`, from 1: in each generation it claims an inbox, sends, and gives the inbox back.
std::string send_all(const Traffic& traffic, const Region::Address& to, Doorbell* bells,
                     unsigned me) {
  const Fence fence(traffic.kernel_fence);
  if (traffic.kernel_fence && !Fence::enroll()) return "refused";
  std::mt19937_64 random(::test::seed() + me);
  for (int generation = 0; generation < traffic.generations; ++generation) {
    std::unique_ptr<Sender> sender;
    while (!sender) {
      try {
        const Card card{me, static_cast<std::uint32_t>(generation)};
        sender = std::make_unique<Sender>(to, card, bells, fence);
      } catch (const Error&) {
        sched_yield();  // every inbox is taken until the receiver has seen a goodbye
      }
    }
    for (int i = 0; i < traffic.messages; ++i) {
      sender->send(kAllLanes[random() % 4 % 3], random() % 2 == 0);
      if (random() % 64 == 0) sched_yield();
    }
    sender->close();
  }
  return "fine";
}

// Receives until all have said their last goodbye, sleeping whenever nothing is there.
std::string receive_all(const Traffic& traffic, Mailbox& mailbox, Doorbell* bells) {
  const Fence fence(traffic.kernel_fence);
  if (traffic.kernel_fence && !Fence::enroll()) return "refused";
  Receiver receiver(bells);
  std::mt19937_64 random(::test::seed());
  const int goodbyes = static_cast<int>(traffic.senders) * traffic.generations;
  while (receiver.goodbyes < goodbyes) {
    // Now and then long enough for lanes to be put to rest.
    for (int i = random() % 16 == 0 ? 13'000 : 20; i > 0; --i) mailbox.poll(receiver);
    if (receiver.goodbyes == goodbyes) break;
    sleep_until(
        bells[0], fence, [&] { return mailbox.has_message(); }, [] { return false; });
  }
  const auto expected =
      static_cast<std::uint64_t>(goodbyes) * static_cast<std::uint64_t>(traffic.messages + 3);
  if (receiver.messages != expected) return std::to_string(receiver.messages) + " messages";
  return mailbox.has_message() ? "something is left" : "fine";
}

class MailboxWithFence : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !Fence::enroll()) GTEST_SKIP() << "the kernel has no such membarrier";
  }
  // Fewer inboxes than senders: they are given back and claimed by others all the time.
  void run_in_processes(unsigned senders, std::uint32_t inboxes) {
    const Traffic traffic{senders, 3, 1'500, GetParam()};
    const Region region = Region::create({.what = "bells", .bytes = 64 * sizeof(Doorbell)});
    auto* const bells = reinterpret_cast<Doorbell*>(region.data());
    Mailbox mailbox(inboxes, Fence(GetParam()));
    const auto results = test::in_children(senders + 1, [&](unsigned me) {
      alarm(kPatience);
      return guarded([&] {
        return me == 0 ? receive_all(traffic, mailbox, bells)
                       : send_all(traffic, mailbox.address(), bells, me);
      });
    });
    for (const std::string& result : results) EXPECT_EQ(result, "fine");
  }
};
INSTANTIATE_TEST_SUITE_P(Fences, MailboxWithFence, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "by_the_kernel" : "by_both_sides");
});

TEST_P(MailboxWithFence, takes_all_messages_of_one_process) { run_in_processes(1, 1); }
TEST_P(MailboxWithFence, takes_all_messages_of_six_processes) { run_in_processes(6, 6); }
TEST_P(MailboxWithFence, lends_few_inboxes_to_many_processes) { run_in_processes(5, 2); }
TEST_P(MailboxWithFence, spreads_its_inboxes_over_several_words) { run_in_processes(4, 40); }

TEST_P(MailboxWithFence, takes_all_messages_of_threads) {
  const Traffic traffic{2, 2, 2'000, GetParam()};
  const auto bells = std::make_unique<Doorbell[]>(3);
  Mailbox mailbox(2, Fence(GetParam()));
  std::vector<std::string> results(3);
  std::vector<std::thread> threads;
  for (unsigned me = 1; me <= 2; ++me) {
    threads.emplace_back([&, me] {
      results[me] = guarded([&] { return send_all(traffic, mailbox.address(), bells.get(), me); });
    });
  }
  results[0] = guarded([&] { return receive_all(traffic, mailbox, bells.get()); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, "fine");
}

}  // namespace mailbox_test
}  // namespace shmem
