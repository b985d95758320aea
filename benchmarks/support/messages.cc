#include "benchmarks/support/messages.h"

#include <array>
#include <deque>
#include <span>
#include <utility>

#include "am/am.h"
#include "benchmarks/support/clock.h"

namespace bench {
namespace {

// What the handlers of this process have seen.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t last_answer = 0;
  std::uint64_t sum = 0;
} seen;

// Set once, for handlers, which know only their message.
struct Answer {
  const std::byte* source = nullptr;  // of the payload
  std::uint64_t offset = 0;           // of a long reply, in the segment of rank 0
  bool released = false;              // the last one's payload, which never changes
} answer;

void on_pong(am::Reply, std::uint64_t n) {
  seen.last_answer = n;
  ++seen.replies;
}
void on_ping(am::Request request, std::uint64_t n) {
  ++seen.requests;
  std::move(request).reply<&on_pong>(n + 1);
}

void on_medium_back(am::Reply, std::span<const std::byte>) { ++seen.replies; }
void on_medium(am::Request request, std::span<const std::byte> payload) {
  ++seen.requests;
  std::move(request).reply_medium<&on_medium_back>({answer.source, payload.size()});
}

void on_long_back(am::Reply, std::span<std::byte>) { ++seen.replies; }
void on_long(am::Request request, std::span<std::byte> payload) {
  ++seen.requests;
  answer.released = false;
  std::move(request).reply_long_borrowing<&on_long_back>(
      answer.offset, {answer.source, payload.size()}, answer.released);
}

void on_stream(am::Request request, std::span<std::byte>, std::uint64_t n) {
  ++seen.requests;
  std::move(request).reply<&on_pong>(n);
}

void on_one_way(am::OneWay, std::uint64_t n) {
  seen.sum += n;
  ++seen.requests;
}

// What swap() gave this process and it has not taken yet.
using Card = std::array<std::byte, 64>;
std::deque<Card> cards;
void on_card(am::OneWay, const Card& card) { cards.push_back(card); }

}  // namespace

void Messages::add_handlers(am::Endpoint& endpoint) {
  endpoint.add_handlers<&on_ping, &on_pong, &on_medium, &on_medium_back, &on_long, &on_long_back,
                        &on_stream, &on_one_way, &on_card>();
}

Messages::Messages(Pair& pair, am::Endpoint& endpoint) noexcept : pair_(pair), endpoint_(endpoint) {
  answer = {.source = pair.source(), .offset = pair.buffer_offset()};
}

Messages::Card Messages::swap_cards(const Card& mine) {
  endpoint_.request<&on_card>(pair_.other(), mine);
  endpoint_.bundle().wait_until([] { return !cards.empty(); });
  const Card theirs = cards.front();
  cards.pop_front();
  return theirs;
}

void Messages::serve(int count) {
  // Some may have come already, while this process was on its way here.
  expected_ += static_cast<std::uint64_t>(count);
  endpoint_.bundle().wait_until([end = expected_] { return seen.requests == end; });
}

double Messages::short_round_trip(int times) {
  const Stopwatch watch;
  if (!pair_.first()) {
    serve(times);
    return 0;
  }
  for (std::uint64_t n = 1; n <= static_cast<std::uint64_t>(times); ++n) {
    seen.last_answer = 0;
    endpoint_.request<&on_ping>(1, n);
    endpoint_.bundle().wait_until([n] { return seen.last_answer == n + 1; });
  }
  return watch.ns() / times;
}

template <class Request>
double Messages::round_trips(int times, Request&& request) {
  const std::uint64_t before = seen.replies;
  const Stopwatch watch;
  if (!pair_.first()) {
    serve(times);
    return 0;
  }
  for (std::uint64_t n = 1; n <= static_cast<std::uint64_t>(times); ++n) {
    request();
    endpoint_.bundle().wait_until([end = before + n] { return seen.replies == end; });
  }
  return watch.ns() / times;
}

double Messages::medium_round_trip(std::size_t bytes, int times) {
  const std::span<const std::byte> payload(pair_.source(), bytes);
  return round_trips(times, [&] { endpoint_.request_medium<&on_medium>(1, payload); });
}

double Messages::long_round_trip(std::size_t bytes, int times) {
  const std::span<const std::byte> payload(pair_.source(), bytes);
  return round_trips(times,
                     [&] { endpoint_.request_long<&on_long>(1, pair_.buffer_offset(), payload); });
}

double Messages::flood(int pairs) {
  const Stopwatch watch;
  if (!pair_.first()) {
    serve(pairs);
    return 0;
  }
  const std::uint64_t end = seen.replies + static_cast<std::uint64_t>(pairs);
  for (int i = 0; i < pairs; ++i) endpoint_.request<&on_ping>(1, static_cast<std::uint64_t>(i));
  endpoint_.bundle().wait_until([end] { return seen.replies == end; });
  return watch.ns() / pairs;
}

double Messages::one_way(int messages) {
  const Stopwatch watch;
  if (pair_.first()) {
    serve(messages);
  } else {
    for (int i = 0; i < messages; ++i) {
      endpoint_.request<&on_one_way>(0, static_cast<std::uint64_t>(i));
    }
  }
  return watch.ns() / messages;
}

void Messages::serve_until_through() {
  if (pair_.first()) {
    endpoint_.request<&on_one_way>(1, std::uint64_t{0});
  } else {
    serve(1);
  }
}

double Messages::stream_long(std::size_t bytes, int messages, std::size_t places) {
  const std::span<const std::byte> payload(pair_.source(), bytes);
  const Stopwatch watch;
  if (!pair_.first()) {
    serve(messages);
    return 0;
  }
  const std::uint64_t end = seen.replies + static_cast<std::uint64_t>(messages);
  for (int i = 0; i < messages; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    endpoint_.request_long<&on_stream>(1, pair_.buffer_offset() + n % places * bytes, payload, n);
  }
  endpoint_.bundle().wait_until([end] { return seen.replies == end; });
  return watch.ns() / messages;
}

// The phases are parted by waits that do not poll.
void Messages::hand_over(am::Rank from) {
  ++turns_;
  shmem::Flag& turn = pair_.board().turn;
  if (pair_.me() == from) {
    turn.publish(turns_);
  } else {
    spin_until([&] { return turn.value() == turns_; });
  }
}

double Messages::handle(const std::uint64_t& count, std::uint64_t end) {
  const Stopwatch watch;
  while (count != end) endpoint_.bundle().poll();
  return watch.ns();
}

template <class Send>
Messages::Overheads Messages::overheads(int burst, bool replies, Send&& send) {
  Board& board = pair_.board();
  Overheads costs{};
  hand_over(1);
  if (pair_.first()) {
    const Stopwatch watch;
    for (int i = 0; i < burst; ++i) send();
    costs.send = watch.ns() / burst;
  }
  hand_over(0);
  if (!pair_.first()) {
    expected_ += static_cast<std::uint64_t>(burst);
    board.number.publish(static_cast<std::uint64_t>(handle(seen.requests, expected_)));
  }
  hand_over(1);
  if (pair_.first()) {
    costs.receive = static_cast<double>(board.number.value()) / burst;
    const std::uint64_t end = seen.replies + static_cast<std::uint64_t>(burst);
    if (replies) costs.collect = handle(seen.replies, end) / burst;
  }
  return costs;
}

Messages::Overheads Messages::short_overheads(int burst) {
  return overheads(burst, true, [this] { endpoint_.request<&on_ping>(1, std::uint64_t{1}); });
}

Messages::Overheads Messages::medium_overheads(std::size_t bytes, int burst) {
  const std::span<const std::byte> payload(pair_.source(), bytes);
  return overheads(burst, true, [&] { endpoint_.request_medium<&on_medium>(1, payload); });
}

Messages::Overheads Messages::one_way_overheads(int burst) {
  return overheads(burst, false, [this] { endpoint_.request<&on_one_way>(1, std::uint64_t{1}); });
}

}  // namespace bench
