#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/core/token.h"
#include "am/message/slot_format.h"
#include "am/types/types.h"

namespace am {

class Bundle;

// A message as an untyped handler gets it: what Active Messages II knows as void (*)(), a function
// at an index that takes 32-bit words, for bindings to other languages and for programs that choose
// their handlers while they run. Such a handler takes messages of every role, kind and number of
// arguments, from typed requests as well as from Endpoint::request_index().
//
//   void on_anything(am::UntypedMessage message, void* context) {
//     std::move(message).reply_index(9, message.arguments());
//   }
//   endpoint.set_untyped_handler(7, &on_anything, &table);
//   endpoint.request_index(to, {.handler = 7, .arguments = words});
//
// It holds for it what holds for every handler (am/message/handler.h), and for its answers what
// holds for those of a Request; typed ones are possible, too.
class UntypedMessage : public Request {
 public:
  // By the library.
  UntypedMessage(Delivery& delivery, HandlerIndex handler, Shape shape) noexcept
      : Request(delivery), handler_(handler), shape_(shape) {}

  Role role() const noexcept { return role_of(shape_); }
  Kind kind() const noexcept { return kind_of(shape_); }
  HandlerIndex handler() const noexcept { return handler_; }
  // The arguments, 0 to 16 words; valid until the handler returns.
  std::span<const std::uint32_t> arguments() const noexcept {
    const std::byte* const words =
        packet::arguments(delivery_->room, role(), kind(), words_of(shape_));
    return {reinterpret_cast<const std::uint32_t*>(words), words_of(shape_)};
  }
  // The payload of a medium or long message, as a typed handler gets it; empty for a short one.
  std::span<std::byte> payload() const noexcept { return delivery_->payload; }

  // Whether it is a request that has not been answered.
  bool may_answer() const noexcept { return delivery_->may_reply; }
  // Answers to the handler at index `handler` of the endpoint that sent the request: AM_ReplyM,
  // AM_ReplyIM, AM_ReplyXferM. As reply(), reply_medium() and reply_long(). Throw Error if this is
  // no Role::kRequest, if `handler` is 0, or at more than 16 arguments.
  void reply_index(HandlerIndex handler, std::span<const std::uint32_t> arguments) &&;
  void reply_index_medium(HandlerIndex handler, std::span<const std::byte> payload,
                          std::span<const std::uint32_t> arguments) &&;
  void reply_index_long(HandlerIndex handler, std::uint64_t offset,
                        std::span<const std::byte> payload,
                        std::span<const std::uint32_t> arguments) &&;
  // Where the payload of a medium reply is sent from, max_medium() bytes; and the reply with the
  // first `used` of them. Throws Error as these, and at more than max_medium().
  std::byte* reply_room() const noexcept { return delivery_->room.reply_payload(); }
  void reply_index_in_place(HandlerIndex handler, std::size_t used,
                            std::span<const std::uint32_t> arguments) &&;
  // By bindings that have checked everything (am/core/untyped_send.h): any of these, whose payload
  // is in its place.
  void answer(HandlerIndex handler, Kind kind, std::span<const std::uint32_t> arguments);

 private:
  void check(Call call, HandlerIndex handler, std::span<const std::uint32_t> arguments) const;

  HandlerIndex handler_;
  Shape shape_;
};

// A request to a handler that is named by its index (Endpoint::request_index).
struct UntypedRequest {
  HandlerIndex handler = 0;
  Kind kind = Kind::kShort;
  std::span<const std::uint32_t> arguments = {};  // 0 to 16 words
  std::span<const std::byte> payload = {};        // of a medium or long one
  std::uint64_t offset = 0;    // of a long one: bytes from the start of the segment
  Role role = Role::kRequest;  // or kOneWay
};

// A read of another endpoint's segment (Endpoint::get_index).
struct UntypedGet {
  HandlerIndex handler = 0;                       // of this endpoint, 1 to 255
  std::span<const std::uint32_t> arguments = {};  // to it: 0 to 16 words
  std::uint64_t source = 0;                       // offset in the other endpoint's segment
  std::uint64_t offset = 0;                       // ... in this one's
  std::uint64_t bytes = 0;
};

// Throws Error of `call` unless `what`, such as "a request", can go to the handler at that index
// with so many words.
[[noreturn, gnu::cold]] void refuse_untyped(const Bundle& bundle, Call call, const char* what,
                                            HandlerIndex handler, std::size_t words);
inline void check_untyped(const Bundle& bundle, Call call, const char* what, HandlerIndex handler,
                          std::size_t words) {
  if (handler == 0 || words > packet::kMaxWords) [[unlikely]]
    refuse_untyped(bundle, call, what, handler, words);
}

}  // namespace am
