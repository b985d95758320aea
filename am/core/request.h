#pragma once

// The sending half of am::Endpoint and am::Request; included by am/core/endpoint.h.

#include <array>

#include "am/core/endpoint.h"
#include "am/message/slot_format.h"
#include "am/observe/observers.h"

namespace am {
namespace detail {

// Where a handler was registered last: nearly always right, and checked against the table.
template <auto kFunction>
inline std::atomic<std::uint32_t> handler_hint{0};  // (a byte would be extended at each use)

template <auto kFunction>
[[gnu::always_inline]] inline std::uint32_t hinted() noexcept {
  const std::uint32_t index = handler_hint<kFunction>.load(std::memory_order_relaxed);
  if (index >= kHandlers) __builtin_unreachable();
  return index;
}

// What requests wait for, beside kNeedsCredit.
inline constexpr const char* kAnswer = "an answer";

// Puts a medium payload where its receiver finds it. The sender's next wait begins to poll later.
[[gnu::always_inline]] inline void put_medium(Bundle& sender, shmem::Half& half, std::byte* to,
                                              std::span<const std::byte> payload) noexcept {
  sender.note_payload();
  packet::put_medium_bytes(half, payload.size());
  packet::copy_payload(to, payload);
}

}  // namespace detail

// Throws Error of `call` if the payload is too large for a medium message.
void check_medium(const Bundle& bundle, std::span<const std::byte> payload, Call call);

template <auto kFunction>
inline HandlerIndex Endpoint::index_of(Call call) {
  using H = Handler<kFunction>;
  const std::uint32_t guess = detail::hinted<kFunction>();
  if (parts_.handlers.invoke_of(guess) == &H::invoke) [[likely]]
    return static_cast<HandlerIndex>(guess);
  const HandlerIndex index = find_handler(&H::invoke, call);
  detail::handler_hint<kFunction>.store(index, std::memory_order_relaxed);
  return index;
}

// The first place is nearly always right, as for index_of(): all that a member function costs.
template <auto kFunction>
auto& detail::object_of(Endpoint& endpoint) {
  using H = Handler<kFunction>;
  const HandlerTable& handlers = endpoint.parts().handlers;
  const HandlerEntry& guess = handlers[static_cast<HandlerIndex>(hinted<kFunction>())];
  void* const object = guess.invoke == &H::invoke ? guess.context : handlers.object_of(&H::invoke);
  return *static_cast<typename H::Signature::Object*>(object);
}

template <auto kFunction, class Object>
inline void Endpoint::add_member_handler(Object& object, Call call) {
  using H = Handler<kFunction>;
  static_assert(detail::is_member<kFunction>, "a function without an object: add_handlers<&f>()");
  typename H::Signature::Object& target = object;
  void* const context = const_cast<void*>(static_cast<const void*>(&target));
  if (parts_.handlers.find(&H::invoke) != 0) {
    bundle().refuse(call,
                    "this member function is registered already; an endpoint has one object for "
                    "each");
  }
  const HandlerIndex index = set_handler_at(0, {&H::invoke, H::shape, context}, false, call);
  detail::handler_hint<kFunction>.store(index, std::memory_order_relaxed);
}

template <Kind kKind>
[[gnu::always_inline]] inline void EndpointParts::send(std::uint32_t to, shmem::Outbox& box,
                                                       shmem::Room room, shmem::Mark mark,
                                                       Role role) {
  if (role == Role::kOneWay) {
    ++stats[kKind].one_way_sent;
    box.commit<packet::lane_of(kKind)>(room, mark | packet::kOneWay);
  } else {
    ++stats[kKind].requests_sent;
    if (!box.listed()) [[unlikely]]
      outgoing.await(to);
    box.commit<packet::lane_of(kKind)>(room, mark);
  }
}

template <class H, class... Args>
[[gnu::noinline]] bool Endpoint::try_far(std::uint32_t to, Call call, HandlerIndex index,
                                         std::span<const std::byte> payload, std::uint64_t offset,
                                         bool* released, Args... args) {
  alignas(8) std::array<std::uint32_t, packet::kMaxWords> words{};
  H::Packing::pack(reinterpret_cast<std::byte*>(words.data()), args...);
  return parts_.outgoing.try_send(
      to,
      {.handler = index,
       .kind = H::kind,
       .arguments = std::span<const std::uint32_t>(words).first(H::words),
       .payload = payload,
       .offset = offset,
       .role = H::role},
      call, released);
}

template <Kind kKind, auto kFunction, class... Args>
[[gnu::always_inline]] inline bool Endpoint::try_send(std::uint32_t to, Call call,
                                                      std::uint64_t offset,
                                                      std::span<const std::byte> payload,
                                                      const Args&... args) {
  using H = Handler<kFunction>;
  if constexpr (kChecked) parts_.refuse_in_handler(to, call);
  shmem::Outbox* const box = parts_.outgoing.box_for(to, call);
  if constexpr (kKind == Kind::kMedium) check_medium(bundle(), payload, call);
  const HandlerIndex index = index_of<kFunction>(call);
  if (box == nullptr) [[unlikely]]
    return try_far<H>(to, call, index, payload, offset, nullptr, args...);
  shmem::Room room;
  if (!box->try_claim<packet::lane_of(kKind)>(room)) return false;
  if constexpr (kKind == Kind::kMedium) {
    detail::put_medium(bundle(), room.slot->request, room.request_payload(), payload);
  } else if constexpr (kKind == Kind::kLong) {
    parts_.outgoing.write_long(to, room, {index, H::shape, offset, payload.size()}, payload);
  }
  H::Packing::pack(packet::request_arguments(room, H::kind, H::words), args...);
  parts_.send<kKind>(to, *box, room, packet::RequestMark{index, H::words}.mark(), H::role);
  return true;
}

template <Kind kKind, auto kFunction, class... Args>
[[gnu::always_inline]] inline void Endpoint::send(std::uint32_t to, Call call, std::uint64_t offset,
                                                  std::span<const std::byte> payload,
                                                  const Args&... args) {
  if constexpr (kChecked) parts_.refuse_waiting(to, call);
  if (try_send<kKind, kFunction>(to, call, offset, payload, args...)) [[likely]]
    return;
  parts_.wait_for_credit(to, call, [this, to, call, offset, payload, ... copies = args] {
    return try_send<kKind, kFunction>(to, call, offset, payload, copies...);
  });
}

template <auto kFunction, class... Args>
[[gnu::noinline]] void Endpoint::request_long_far(To to, std::uint64_t offset,
                                                  std::span<const std::byte> payload,
                                                  Args... args) {
  const Call call("request_long", to.where);
  parts_.refuse_waiting(to.value, call);
  bool released = false;
  const HandlerIndex index = index_of<kFunction>(call);
  const auto attempt = [&] {
    return try_far<Handler<kFunction>>(to.value, call, index, payload, offset, &released, args...);
  };
  if (!attempt()) parts_.wait_for_credit(to.value, call, attempt);
  const CallGuard guard(parts_.threads);
  bundle().wait_until_released(released,
                               parts_.reason(to.value, call, "the network to take the payload"));
}

template <auto kFunction, class... Args>
inline void Endpoint::get_long(To to, std::uint64_t source, std::uint64_t offset,
                               std::uint64_t bytes, const Args&... args) {
  using H = Handler<kFunction>;
  static_assert(H::role == Role::kReply && H::kind == Kind::kLong,
                "a get ends like a long reply: f(am::Reply, std::span<std::byte>, args...)");
  std::array<std::uint32_t, packet::kMaxWords> words{};
  H::Packing::pack(reinterpret_cast<std::byte*>(words.data()), args...);
  get_index(to, {.handler = index_of<kFunction>({"get_long", to.where}),
                 .arguments = std::span(words).first(H::words),
                 .source = source,
                 .offset = offset,
                 .bytes = bytes});
}

inline Rank Message::source() const noexcept { return delivery_->from.name.rank; }
inline const Name& Message::source_name() const noexcept { return delivery_->from.name; }
inline Tag Message::tag() const noexcept { return delivery_->from.tag; }

template <auto kFunction, class... Args>
inline void Request::reply(const Args&... args) && {
  using H = Handler<kFunction>;
  static_assert(H::template check<Role::kReply, Kind::kShort, std::decay_t<Args>...>());
  const std::uint32_t guess = detail::hinted<kFunction>();
  if (endpoint().parts().handlers.invoke_of(guess) != &H::invoke) [[unlikely]] {
    check_unanswered();
    delivery_->reply = reply_elsewhere<kFunction>(endpoint(), delivery_->room, args...);
    delivery_->may_reply = false;
    return;
  }
  H::Packing::pack(begin_reply(static_cast<HandlerIndex>(guess), H::kind, H::words), args...);
}

// Not inline, and with nothing to do behind it, so that handlers need no registers to be saved.
template <auto kFunction, class... Args>
[[gnu::noinline, gnu::cold]] shmem::Mark Request::reply_elsewhere(Endpoint& endpoint,
                                                                  shmem::Room room, Args... args) {
  using H = Handler<kFunction>;
  const packet::ReplyMark mark{endpoint.index_of<kFunction>("reply"), H::words, H::kind};
  H::Packing::pack(packet::reply_arguments(room, H::kind, H::words), args...);
  return mark.mark();
}

template <auto kFunction, class... Args>
inline void Request::reply_medium(std::span<const std::byte> payload, const Args&... args) && {
  using H = Handler<kFunction>;
  static_assert(H::template check<Role::kReply, Kind::kMedium, std::decay_t<Args>...>());
  check_medium(endpoint().bundle(), payload, "reply_medium");
  std::byte* const to =
      begin_reply(endpoint().index_of<kFunction>("reply_medium"), H::kind, H::words);
  const shmem::Room room = delivery_->room;
  detail::put_medium(endpoint().bundle(), room.slot->reply, room.reply_payload(), payload);
  H::Packing::pack(to, args...);
}

// A medium reply whose payload lies where it is sent from.
template <auto kFunction, class... Args>
inline void Request::reply_in_place(std::size_t used, const Args&... args) && {
  using H = Handler<kFunction>;
  static_assert(H::template check<Role::kReply, Kind::kMedium, std::decay_t<Args>...>());
  std::byte* const to =
      begin_reply(endpoint().index_of<kFunction>("reply_medium"), H::kind, H::words);
  endpoint().bundle().note_payload();
  packet::put_medium_bytes(delivery_->room.slot->reply, used);
  H::Packing::pack(to, args...);
}

template <auto kFunction, class... Args>
inline void Request::reply_long(std::uint64_t offset, std::span<const std::byte> payload,
                                const Args&... args) && {
  reply_long_with<kFunction>(nullptr, offset, payload, args...);
}

template <auto kFunction, class... Args>
inline void Request::reply_long_borrowing(std::uint64_t offset, std::span<const std::byte> payload,
                                          bool& released, const Args&... args) && {
  reply_long_with<kFunction>(&released, offset, payload, args...);
}

template <auto kFunction, class... Args>
inline void Request::reply_long_with(bool* released, std::uint64_t offset,
                                     std::span<const std::byte> payload, const Args&... args) {
  using H = Handler<kFunction>;
  static_assert(H::template check<Role::kReply, Kind::kLong, std::decay_t<Args>...>());
  const HandlerIndex handler = endpoint().index_of<kFunction>("reply_long");
  check_unanswered();
  place_long(handler, H::shape, offset, payload,
             released);  // may throw: then nothing has been answered
  H::Packing::pack(begin_reply(handler, H::kind, H::words), args...);
}

inline void Request::check_unanswered() const {
  if (!delivery_->may_reply) [[unlikely]] {
    endpoint().bundle().refuse("reply",
                               "this request has been answered already, or is none; a request "
                               "takes one reply at most");
  }
}

// Inline, as the short round trip goes through it. Whoever has called the handler counts the reply.
inline std::byte* Request::begin_reply(HandlerIndex handler, Kind kind, std::uint32_t words) {
  check_unanswered();
  Delivery& d = *delivery_;
  d.may_reply = false;
  d.reply = packet::ReplyMark{handler, static_cast<std::uint8_t>(words), kind}.mark();
  return packet::reply_arguments(d.room, kind, words);
}

}  // namespace am
