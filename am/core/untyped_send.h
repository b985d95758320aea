#pragma once

// The sending half of untyped messages, inline: for the library, and for bindings to other
// languages, which have checked what they send.

#include <cstring>
#include <span>

#include "am/core/endpoint.h"
#include "am/core/untyped.h"
#include "am/message/slot_format.h"

namespace am {

// Word by word: callers have just written them so, and a load of several that are still in the
// store buffer waits for all of them (5 ns). The asm keeps GCC from making a memcpy of it.
[[gnu::always_inline]] inline void copy_words(std::byte* to,
                                              std::span<const std::uint32_t> words) noexcept {
  for (const std::uint32_t word : words) {
    std::memcpy(to, &word, packet::kWord);
    to += packet::kWord;
    asm("" : "+r"(to));
  }
}

template <Kind kKind>
[[gnu::always_inline]] inline bool EndpointParts::try_send_words(std::uint32_t to,
                                                                 shmem::Outbox& box,
                                                                 const UntypedRequest& request) {
  const auto words = static_cast<std::uint32_t>(request.arguments.size());
  shmem::Room room;
  if (!box.try_claim<packet::lane_of(kKind)>(room)) return false;
  if constexpr (kKind == Kind::kMedium) {
    detail::put_medium(*bundle, room.slot->request, room.request_payload(), request.payload);
  } else if constexpr (kKind == Kind::kLong) {
    const Shape shape = make_shape(request.role, kKind, words);
    outgoing.write_long(to, room, {request.handler, shape, request.offset, request.payload.size()},
                        request.payload);
  }
  copy_words(packet::request_arguments(room, kKind, words), request.arguments);
  const packet::RequestMark mark{request.handler, static_cast<std::uint8_t>(words)};
  send<kKind>(to, box, room, mark.mark(), request.role);
  return true;
}

template <Kind kKind>
[[gnu::always_inline]] inline bool Endpoint::try_direct_index(std::uint32_t to,
                                                              const UntypedRequest& request) {
  shmem::Outbox* const box = parts_.outgoing.direct(to);
  if (box == nullptr || bundle().in_handler()) [[unlikely]]
    return false;
  return parts_.try_send_words<kKind>(to, *box, request);
}

inline void UntypedMessage::answer(HandlerIndex handler, Kind kind,
                                   std::span<const std::uint32_t> arguments) {
  const auto words = static_cast<std::uint32_t>(arguments.size());
  copy_words(begin_reply(handler, kind, words), arguments);
}

}  // namespace am
