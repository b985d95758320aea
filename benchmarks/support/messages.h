#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "benchmarks/support/pair.h"

namespace am {
class Endpoint;
}  // namespace am

namespace bench {

// Active Messages between the two processes of a pair. Both call the same functions in the same
// order; each returns nanoseconds per operation at rank 0. No handler looks at its payload, and
// each payload is copied out of memory of its sender alone, as in Raw::payload().
class Messages {
 public:
  // The endpoint has had add_handlers() before it was connected.
  Messages(Pair& pair, am::Endpoint& endpoint) noexcept;
  static void add_handlers(am::Endpoint& endpoint);

  // Gives the other process a few plain bytes, such as the handle of a channel, and returns what it
  // gave this one.
  template <class T>
  T swap(const T& mine) {
    static_assert(sizeof(T) <= sizeof(Card));
    Card card{};
    std::memcpy(card.data(), &mine, sizeof mine);
    const Card theirs = swap_cards(card);
    T value;
    std::memcpy(static_cast<void*>(&value), theirs.data(), sizeof value);
    return value;
  }

  // Request and reply, one after the other: 8 bytes of arguments both ways; `bytes` of payload both
  // ways; `bytes` written into the segment both ways.
  double short_round_trip(int times);
  double medium_round_trip(std::size_t bytes, int times);
  double long_round_trip(std::size_t bytes, int times);

  // As many as credit allows at once, until all answers are here.
  double flood(int pairs);
  // From rank 1 to rank 0 without answers, until the last has been handled.
  double one_way(int messages);
  // Rank 1 handles what comes, until rank 0 calls this, too.
  void serve_until_through();
  // Long requests of `bytes` to `places` places in turn, answered by short replies; until all
  // answers are here.
  double stream_long(std::size_t bytes, int messages, std::size_t places);

  // What a message costs its processes, with `burst` of them (fewer than the credits) sent while
  // the other does not look, and handled while this one does not.
  struct Overheads {
    double send;     // per message, at the sender
    double receive;  // per message, at the receiver, with its handler and reply
    double collect;  // per reply, at the sender
  };
  Overheads short_overheads(int burst);
  Overheads medium_overheads(std::size_t bytes, int burst);
  Overheads one_way_overheads(int burst);  // collect: 0

 private:
  using Card = std::array<std::byte, 64>;
  Card swap_cards(const Card& mine);

  // Handles requests at rank 1 until `count` more have come.
  void serve(int count);
  // Makes `request`, whose reply says nothing, and waits for that, `times` over; in ns each.
  template <class Request>
  double round_trips(int times, Request&& request);
  // Lets the other process go on, if this one is `from`; else waits for that, without polling.
  void hand_over(am::Rank from);
  // Polls until `count` is `end`; in ns.
  double handle(const std::uint64_t& count, std::uint64_t end);
  template <class Send>
  Overheads overheads(int burst, bool replies, Send&& send);

  Pair& pair_;
  am::Endpoint& endpoint_;
  std::uint64_t expected_ = 0;  // requests that this process was sent, in all
  std::uint64_t turns_ = 0;     // in step on both sides
};

}  // namespace bench
