// Messages without types: handlers and requests that are named by numbers.

#include "am/core/untyped.h"

#include <string>

#include "am/core/endpoint.h"
#include "am/core/untyped_send.h"

namespace am {

HandlerIndex Endpoint::set_untyped_handler(HandlerIndex index,
                                           void (*function)(UntypedMessage, void*), void* context,
                                           bool replace, void (*named)(), Here where) {
  const Call call("Endpoint::set_untyped_handler", where);
  if (function == nullptr) bundle().refuse(call, "the function is null");
  if (named == nullptr) named = reinterpret_cast<void (*)()>(function);
  return set_handler_at(index, {reinterpret_cast<Invoke>(named), kAnyShape, context, function},
                        replace, call);
}

void refuse_untyped(const Bundle& bundle, Call call, const char* what, HandlerIndex handler,
                    std::size_t words) {
  if (handler == 0) bundle.refuse(call, "no handler has index 0; give one of 1 to 255");
  bundle.refuse(call, std::to_string(words) + " words of arguments; " + what + " takes at most " +
                          std::to_string(packet::kMaxWords));
}

void Endpoint::check(const UntypedRequest& request, Call call) const {
  check_untyped(bundle(), call, "a request", request.handler, request.arguments.size());
  if (request.role != Role::kRequest && request.role != Role::kOneWay) {
    bundle().refuse(call, "a reply is sent by the handler of its request: reply_index");
  }
  if (request.kind > Kind::kLong || (request.kind == Kind::kShort && !request.payload.empty())) {
    bundle().refuse(call,
                    "a payload of " + std::to_string(request.payload.size()) +
                        " bytes, but the request is short; say kind = Kind::kMedium or kLong");
  }
  if (request.kind == Kind::kMedium) check_medium(bundle(), request.payload, call);
}

void Endpoint::request_index(To to, const UntypedRequest& request) {
  const Call call("request_index", to.where);
  check(request, call);
  parts_.refuse_waiting(to.value, call);
  send_index(to.value, call, request);
}

void Endpoint::send_index(std::uint32_t to, Call call, const UntypedRequest& request) {
  if (try_send_index(to, call, request)) return;
  parts_.wait_for_credit(to, call,
                         [this, to, call, &request] { return try_send_index(to, call, request); });
}

bool Endpoint::try_request_index(To to, const UntypedRequest& request) {
  const Call call("try_request_index", to.where);
  check(request, call);
  parts_.refuse_in_handler(to.value, call);
  return try_send_index(to.value, call, request);
}

bool Endpoint::try_send_index(std::uint32_t to, Call call, const UntypedRequest& request) {
  shmem::Outbox* const box = parts_.outgoing.box_for(to, call);  // throws if it is not mapped
  if (box == nullptr) return parts_.outgoing.try_send(to, request, call, nullptr);
  return parts_.outgoing.try_send_near(to, *box, request);
}

void UntypedMessage::check(Call call, HandlerIndex handler,
                           std::span<const std::uint32_t> arguments) const {
  const Bundle& bundle = endpoint().bundle();
  if (role() != Role::kRequest) bundle.refuse(call, "only a request can be answered");
  check_untyped(bundle, call, "a reply", handler, arguments.size());
  check_unanswered();
}

void UntypedMessage::reply_index(HandlerIndex handler,
                                 std::span<const std::uint32_t> arguments) && {
  check("reply_index", handler, arguments);
  answer(handler, Kind::kShort, arguments);
}

void UntypedMessage::reply_index_medium(HandlerIndex handler, std::span<const std::byte> payload,
                                        std::span<const std::uint32_t> arguments) && {
  check("reply_index_medium", handler, arguments);
  check_medium(endpoint().bundle(), payload, "reply_index_medium");
  const shmem::Room room = delivery_->room;
  detail::put_medium(endpoint().bundle(), room.slot->reply, room.reply_payload(), payload);
  answer(handler, Kind::kMedium, arguments);
}

void UntypedMessage::reply_index_in_place(HandlerIndex handler, std::size_t used,
                                          std::span<const std::uint32_t> arguments) && {
  check("reply_index_in_place", handler, arguments);
  check_used(endpoint().bundle(), used, max_medium(), "reply_index_in_place");
  endpoint().bundle().note_payload();
  packet::put_medium_bytes(delivery_->room.slot->reply, used);
  answer(handler, Kind::kMedium, arguments);
}

void UntypedMessage::reply_index_long(HandlerIndex handler, std::uint64_t offset,
                                      std::span<const std::byte> payload,
                                      std::span<const std::uint32_t> arguments) && {
  check("reply_index_long", handler, arguments);
  const auto words = static_cast<std::uint32_t>(arguments.size());
  place_long(handler, make_shape(Role::kReply, Kind::kLong, words), offset, payload);
  answer(handler, Kind::kLong, arguments);
}

}  // namespace am
