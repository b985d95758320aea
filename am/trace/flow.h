#pragma once

#include <cstdint>

#include "am/trace/event.h"
#include "am/types/types.h"

namespace am {

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

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 32;
}

}  // namespace detail

// What names a message at both of its ends, which make it of what they know: nothing of it travels.
// (A hash: among ten million messages two have the same once in 370,000 traces.)
inline TraceFlow flow_of(const TracedRoute& route, const TracedMessage& message) noexcept {
  using detail::mixed;
  const auto one = [](const Name& name) { return std::uint64_t{name.serial} << 32 | name.rank; };
  std::uint64_t hash = mixed(mixed(1, one(route.requester)), one(route.receiver));
  hash = mixed(hash, std::uint64_t{route.way} << 32 | message.stream);
  hash = mixed(hash, message.number);
  return hash != 0 ? hash : 1;
}

// Of the reply to that request.
constexpr TraceFlow reply_of(TraceFlow request) noexcept {
  const TraceFlow reply = request ^ 0x5bd1e9955bd1e995;
  return reply != 0 ? reply : 1;
}

// Of a put on a channel of `receiver`: the `number`th of those that it has counted.
inline TraceFlow channel_flow(Rank receiver, std::uint32_t channel, std::uint64_t number) noexcept {
  const std::uint64_t hash = detail::mixed(
      detail::mixed(std::uint64_t{receiver} << 32 | channel, 0x6368616e6e656c), number);
  return hash != 0 ? hash : 1;
}

}  // namespace am
