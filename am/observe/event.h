// The events of a trace: what a process does and when, while a trace is requested (SPLITC_TRACE,
// docs/observing.md).
#pragma once

#include <array>
#include <cstdint>

#include "am/types/types.h"

namespace am {

enum class TraceKind : std::uint8_t {
  kNothing,  // an unused place
  // Calls of this process.
  kRequest,     // a request was sent
  kOneWay,      // ... without reply
  kChannelPut,  // a put on a channel
  kOperation,   // one with the memory of another node, or a remote call: a moment
  kWait,        // a call that waits
  kCollective,  // the same of what all processes wait for together; `bytes`: which, by number
  kPoll,        // the part of a poll that runs several handlers; `bytes`: how many
  // Handlers of what others have sent.
  kRequestHandler,
  kOneWayHandler,
  kReplyHandler,
  kReply,     // the handler that ends now has replied: a moment
  kCallback,  // of a channel
};

// 0 is none. The same at both ends of a message, and of no other message of the job.
using TraceFlow = std::uint64_t;

// A number that Trace::name_of() has given out.
using TraceName = std::uint16_t;

struct TraceEvent {
  static constexpr std::uint32_t kNoPeer = (1u << 24) - 1;

  std::uint64_t begin = 0;        // in ticks()
  std::uint64_t length : 47 = 0;  // likewise
  std::uint64_t matched : 1 = 0;  // the other end of `flow` is in the trace, too
  std::uint64_t name : 16 = 0;
  TraceFlow flow = 0;  // begins here, or ends here: begins_flow()
  std::uint64_t peer : 24 = kNoPeer;
  std::uint64_t kind : 8 = 0;
  std::uint64_t bytes : 32 = 0;  // of payload; more than fit are kMostBytes

  static constexpr std::uint64_t kMostBytes = 0xffffffff;

  TraceKind what() const noexcept { return static_cast<TraceKind>(kind); }
};
static_assert(sizeof(TraceEvent) == 32, "two a cache line");

// What an event is about besides its time and name.
struct TraceDetails {
  TraceFlow flow = 0;
  std::uint32_t peer = TraceEvent::kNoPeer;
  std::uint64_t bytes = 0;
};

// The words of a TraceEvent from `begin` to `end`, which are made in registers.
constexpr std::array<std::uint64_t, 4> trace_words(TraceKind kind, TraceName name,
                                                   std::uint64_t begin, std::uint64_t end,
                                                   const TraceDetails& details) noexcept {
  constexpr std::uint64_t kLength = (std::uint64_t{1} << 47) - 1;
  constexpr std::uint64_t kPeer = (1u << 24) - 1;
  const std::uint64_t bytes =
      details.bytes < TraceEvent::kMostBytes ? details.bytes : TraceEvent::kMostBytes;
  return {
      begin, ((end - begin) & kLength) | std::uint64_t{name} << 48, details.flow,
      (details.peer & kPeer) | std::uint64_t{static_cast<std::uint8_t>(kind)} << 24 | bytes << 32};
}

// Whether an event with a flow is the message's beginning.
constexpr bool begins_flow(TraceKind kind) noexcept {
  return kind == TraceKind::kRequest || kind == TraceKind::kOneWay ||
         kind == TraceKind::kChannelPut || kind == TraceKind::kReply;
}

// A translation of one endpoint that sends to another endpoint, as both of them know it.
struct TracedRoute {
  Name requester;
  Name receiver;
  std::uint32_t way = 0;  // which, if there are several: the receiver's inbox, or the translation
};

// Which of the messages on such a route: those of one stream come in the order of their numbers.
struct TracedMessage {
  std::uint32_t stream = 0;
  std::uint64_t number = 0;
};

namespace detail {

// A hash of four numbers: four products at once, and one step behind them.
constexpr TraceFlow mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                          std::uint64_t d) noexcept {
  const std::uint64_t sum = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u +
                            c * 0x94d049bb133111ebu + d * 0xd6e8feb86659fd93u;
  const TraceFlow flow = sum ^ sum >> 32;
  return flow != 0 ? flow : 1;
}

}  // namespace detail

// What names a message at both of its ends, which make it of what they know: nothing of it travels.
// (A hash: among ten million messages two have the same once in 370,000 traces.)
inline TraceFlow flow_of(const TracedRoute& route, const TracedMessage& message) noexcept {
  const auto one = [](const Name& name) { return std::uint64_t{name.serial} << 32 | name.rank; };
  return detail::mixed(one(route.requester), one(route.receiver),
                       std::uint64_t{route.way} << 32 | message.stream, message.number);
}

constexpr TraceFlow reply_of(TraceFlow request) noexcept {
  const TraceFlow reply = request ^ 0x5bd1e9955bd1e995;
  return reply != 0 ? reply : 1;
}

// The flow of the `number`th put on a channel of `receiver`, which counts them.
inline TraceFlow channel_flow(Rank receiver, std::uint32_t channel, std::uint64_t number) noexcept {
  constexpr std::uint64_t kChannels = 0x6368616e6e656c;  // no endpoint
  return detail::mixed(receiver, kChannels, channel, number);
}

}  // namespace am
