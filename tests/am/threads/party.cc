#include "tests/am/threads/party.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tests/soak/random.h"

namespace am::test_threads {
namespace {

constexpr std::size_t kMaxLong = 20'000;  // bytes: several packets

std::size_t most(Kind kind) {
  return kind == Kind::kShort ? 0 : kind == Kind::kMedium ? max_medium() : kMaxLong;
}

// Where in the segment of `to`'s process long messages from `from` go.
std::uint64_t area(std::uint32_t from, std::uint32_t to, bool answer) {
  const std::uint64_t number = (to % kThreads) * Meeting::parties() + from;
  return (2 * number + (answer ? 1 : 0)) * kMaxLong;
}

}  // namespace

Message::Message(std::uint32_t from, std::uint32_t to, std::uint32_t number, bool answer)
    : key(soak::hash(::test::seed(), from, to, number)) {
  const std::uint64_t dice = soak::hash(key);
  kind = dice % 16 == 0 ? Kind::kLong : dice % 16 < 5 ? Kind::kMedium : Kind::kShort;
  one_way = kind != Kind::kLong && dice / 16 % 4 == 0;
  if (answer) key = soak::hash(key + 1);
  bytes = most(kind) == 0 ? 0 : soak::hash(key + 2) % (most(kind) + 1);
}

std::vector<std::byte> Message::payload() const {
  std::vector<std::byte> made(bytes);
  std::uint64_t word = key;
  for (std::size_t at = 0; at < bytes; at += sizeof word) {
    word = soak::hash(word);
    std::memcpy(&made[at], &word, std::min(sizeof word, bytes - at));
  }
  return made;
}

bool Message::matches(std::span<const std::byte> payload) const {
  return std::ranges::equal(payload, this->payload());
}

void Meeting::connect(std::uint32_t thread, Endpoint& endpoint) {
  endpoint.set_tag(1);
  mine_.name[thread] = endpoint.name();
  wait();
  if (thread == 0) all_ = ::test::job().exchange(mine_);
  wait();
  for (std::uint32_t party = 0; party < parties(); ++party) {
    endpoint.map(party, all_[party / kThreads].name[party % kThreads], 1);
  }
}

void Meeting::part(std::uint32_t thread, Bundle& bundle) {
  const auto poll_until = [&](std::uint32_t arrived) {
    // pairs with: the additions below
    while (arrived_.load(std::memory_order_acquire) != arrived) {
      if (bundle.poll() == 0) std::this_thread::yield();
    }
  };
  if (thread == 0) {
    poll_until(kThreads - 1);
    ::test::barrier();
    arrived_.fetch_add(1, std::memory_order_release);  // pairs with: poll_until
  } else {
    arrived_.fetch_add(1, std::memory_order_release);  // pairs with: poll_until
    poll_until(kThreads);
  }
}

Party::Party(Meeting& meeting, std::uint32_t thread)
    : me_(::test::rank() * kThreads + thread),
      bundle_(::test::job()),
      endpoint_(bundle_, {.translations = Meeting::parties()}),
      peers_(Meeting::parties()) {
  endpoint_.add_handlers<&Party::on_short, &Party::on_medium, &Party::on_long, &Party::on_one_way,
                         &Party::on_one_way_medium, &Party::on_answer, &Party::on_answer_medium,
                         &Party::on_answer_long>(*this);
  meeting.connect(thread, endpoint_);
}

void Party::send(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t number = first; number < last; ++number) {
    for (std::uint32_t i = 0; i < Meeting::parties(); ++i) {
      const std::uint32_t to = (me_ + i) % Meeting::parties();
      if (talk(me_, to)) send_one(to, number);
    }
  }
}

void Party::send_one(std::uint32_t to, std::uint32_t number) {
  const Message message(me_, to, number);
  const std::vector<std::byte> payload = message.payload();
  if (!message.one_way) ++peers_[to].due;
  switch (message.kind) {
    case Kind::kShort:
      return message.one_way ? endpoint_.request<&Party::on_one_way>(to, me_, number)
                             : endpoint_.request<&Party::on_short>(to, me_, number);
    case Kind::kMedium:
      return message.one_way
                 ? endpoint_.request_medium<&Party::on_one_way_medium>(to, payload, me_, number)
                 : endpoint_.request_medium<&Party::on_medium>(to, payload, me_, number);
    case Kind::kLong: return send_long(to, number, payload);
  }
}

// One at a time, as they all go to the same place.
void Party::send_long(std::uint32_t to, std::uint32_t number,
                      const std::vector<std::byte>& payload) {
  Peer& peer = peers_[to];
  bundle_.wait_until([&] { return !peer.long_under_way; });
  peer.long_under_way = true;
  endpoint_.request_long<&Party::on_long>(to, area(me_, to, false), payload, me_, number);
}

bool Party::complete(std::uint32_t last) const noexcept {
  for (std::uint32_t other = 0; other < peers_.size(); ++other) {
    const Peer& peer = peers_[other];
    if (talk(me_, other) && (peer.received_count < last || peer.due != 0)) return false;
  }
  return true;
}

void Party::note(std::uint32_t from, std::uint32_t number, std::span<const std::byte> payload) {
  Peer& peer = peers_.at(from);
  peer.received.resize(std::max<std::size_t>(peer.received.size(), number + 1));
  EXPECT_FALSE(peer.received[number]) << "message " << number << " of " << from << " came twice";
  EXPECT_TRUE(Message(from, me_, number).matches(payload))
      << "message " << number << " from " << from << " to " << me_;
  peer.received[number] = true;
  ++peer.received_count;
}

void Party::answer(Request&& request, std::uint32_t from, std::uint32_t number) {
  const Message answer(from, me_, number, true);
  const std::vector<std::byte> payload = answer.payload();
  switch (answer.kind) {
    case Kind::kShort: return std::move(request).reply<&Party::on_answer>(me_, number);
    case Kind::kMedium:
      return std::move(request).reply_medium<&Party::on_answer_medium>(payload, me_, number);
    case Kind::kLong:
      return std::move(request).reply_long<&Party::on_answer_long>(area(me_, from, true), payload,
                                                                   me_, number);
  }
}

void Party::note_answer(std::uint32_t from, std::uint32_t number,
                        std::span<const std::byte> payload) {
  Peer& peer = peers_.at(from);
  peer.answered.resize(std::max<std::size_t>(peer.answered.size(), number + 1));
  EXPECT_FALSE(peer.answered[number]) << "two answers of " << from << " to message " << number;
  EXPECT_TRUE(Message(me_, from, number, true).matches(payload))
      << "answer of " << from << " to message " << number << " of " << me_;
  peer.answered[number] = true;
  --peer.due;
}

void Party::on_short(Request request, std::uint32_t from, std::uint32_t number) {
  note(from, number, {});
  answer(std::move(request), from, number);
}
void Party::on_medium(Request request, std::span<const std::byte> payload, std::uint32_t from,
                      std::uint32_t number) {
  note(from, number, payload);
  answer(std::move(request), from, number);
}
void Party::on_long(Request request, std::span<std::byte> payload, std::uint32_t from,
                    std::uint32_t number) {
  note(from, number, payload);
  answer(std::move(request), from, number);
}
void Party::on_one_way(OneWay, std::uint32_t from, std::uint32_t number) { note(from, number, {}); }
void Party::on_one_way_medium(OneWay, std::span<const std::byte> payload, std::uint32_t from,
                              std::uint32_t number) {
  note(from, number, payload);
}
void Party::on_answer(Reply, std::uint32_t from, std::uint32_t number) {
  note_answer(from, number, {});
}
void Party::on_answer_medium(Reply, std::span<const std::byte> payload, std::uint32_t from,
                             std::uint32_t number) {
  note_answer(from, number, payload);
}
void Party::on_answer_long(Reply, std::span<std::byte> payload, std::uint32_t from,
                           std::uint32_t number) {
  peers_.at(from).long_under_way = false;
  note_answer(from, number, payload);
}

}  // namespace am::test_threads
