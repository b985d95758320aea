// am/message: the formats of messages, and the rules by which one is accepted: handlers and their
// shapes, the bits of a slot, where a sender may write, which tags are admitted, what is counted.
// It uses am/types and shmem's layout of a mailbox, and is logic without communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "am/message/slot_format.h"
#include "am/types/types.h"

// Handlers are ordinary functions; their parameters determine the messages that reach them (Active
// Messages II, with types):
//
//   void on_get(am::Request r, std::uint64_t key);                            short request
//   void on_line(am::Request r, std::span<const std::byte> line, int number);  medium request
//   void on_block(am::Request r, std::span<std::byte> block, int number);      long request
//   void on_add(am::OneWay m, std::uint32_t n);                               request without reply
//   void on_got(am::Reply r, std::uint64_t value);                            short reply
//
// The first parameter is the role (am/core/token.h). A span of const bytes as the second makes it a
// medium message, a span of bytes a long one. All others are the arguments: 0 or more of any
// trivially copyable types, together at most kMaxArgumentBytes; they arrive as values, and what the
// sender passes is converted to them as by static_cast. A handler returns nothing. All of this is
// checked when compiling, at both ends, and the number of words, kind and role again on delivery.
//
// A handler may also be a member function of an object that is given when it is registered, so that
// programs need no globals: endpoint.add_handlers<&Table::on_get>(table). And handlers without
// types, which take whatever comes as 32-bit words, are in am/core/untyped.h.
//
// The calls that reach these handlers, for an endpoint at translation `to`:
//
//   endpoint.request<&on_get>(to, key);
//   endpoint.request_medium<&on_line>(to, std::as_bytes(std::span(text)), 7);
//   endpoint.request_long<&on_block>(to, offset, std::as_bytes(std::span(block)), 7);
//   endpoint.request<&on_add>(to, 1u);
//   std::move(request).reply<&on_got>(value);          // in on_get()
//
//   kind      the span that the handler gets
//   medium    in library memory: gone when the handler returns
//   long      in the segment of the receiving endpoint: it stays, and the handler may change it
//
// A handler runs in the thread that polls the endpoint's bundle, one at a time. It should be short,
// as nothing else is delivered meanwhile, and may not request, poll or wait. It may throw: the
// message counts as handled, an empty reply goes back, and the exception comes out of the call that
// polled.
//
// Cost. Arguments of up to 24 bytes (16 of a medium message, 8 of a long one) travel, near, in the
// cache line of the message itself; more take a second line.
//
// What programs use of this file is the rule above. The rest is the library's.

namespace am {

class Endpoint;
class OneWay;
class Reply;
class Request;
class UntypedMessage;
struct Correspondent;

// One message that is being delivered to a handler: made where that is called, so that the compiler
// keeps in registers what a handler that it knows does not use.
struct Delivery {
  Endpoint& endpoint;
  const Correspondent& from;
  shmem::Room room;              // the message, and the place for its reply
  std::span<std::byte> payload;  // of a medium or long message
  shmem::Mark reply = shmem::kNoReply;
  bool may_reply = true;
};

// Role, kind and words of arguments of a message, or of those that a handler takes, in one number:
// a message is delivered where the two are equal, and to handlers that take any. It is the upper
// byte of the message's mark (am/message/slot_format.h), and above it what the mark does not say:
//
//   request   words (5) | 0 (2) | one way (1) | kind (2) | 0 (2)
//   reply     words (5) | kind (2) | 0 (3) | 1 | not short (1)
using Shape = std::uint16_t;
inline constexpr Shape kReplyShape = 1 << 10;
inline constexpr Shape kLargerReply = 1 << 11;
inline constexpr Shape make_shape(Role role, Kind kind, std::uint32_t words) noexcept {
  const std::uint32_t low = words < 31 ? words : 31;  // more than any handler takes
  const auto number = static_cast<std::uint32_t>(kind);
  if (role == Role::kReply) {
    return static_cast<Shape>(low | number << 5 | kReplyShape |
                              (kind == Kind::kShort ? 0u : kLargerReply));
  }
  return static_cast<Shape>(low | (role == Role::kOneWay ? 0x80u : 0u) | number << 8);
}
// The shape of a request on one node. What is no ordinary one (packet::Form) gets a shape that no
// handler has, and so leaves the fast path.
inline constexpr Shape shape_of_request(Kind kind, shmem::Mark mark) noexcept {
  return static_cast<Shape>(mark >> 8 | static_cast<std::uint32_t>(kind) << 8);
}
// The shape of a short reply there, less kReplyShape. Any other reply gets a shape that no handler
// has, and an empty one a handler that does not exist.
inline constexpr Shape shape_of_reply(shmem::Mark mark) noexcept {
  return static_cast<Shape>(mark >> 8);
}

// The parts of a Shape.
inline constexpr Role role_of(Shape shape) noexcept {
  if ((shape & kReplyShape) != 0) return Role::kReply;
  return (shape & 0x80) != 0 ? Role::kOneWay : Role::kRequest;
}
inline constexpr Kind kind_of(Shape shape) noexcept {
  return static_cast<Kind>(((shape & kReplyShape) != 0 ? shape >> 5 : shape >> 8) & 3);
}
inline constexpr std::uint32_t words_of(Shape shape) noexcept { return shape & 31; }

inline constexpr Shape kNoShape = 0xffff;   // of a free place in the table; no message has it
inline constexpr Shape kAnyShape = 0xfffe;  // of an untyped handler; likewise

// In the shape of a message it equals no place of the table, used or free: so the message leaves
// the fast path.
inline constexpr Shape kBarred = 0x8000;

inline constexpr bool takes(Shape handler, Shape message) noexcept {
  return handler == message || handler == kAnyShape;
}
inline constexpr bool takes_long(Shape handler) noexcept {
  return handler == kAnyShape || (handler != kNoShape && kind_of(handler) == Kind::kLong);
}

// Unpacks the arguments of the message in `room` and calls its handler, which gets what it needs in
// registers. Returns the mark of the reply that it has written; shmem::kNoReply: it has not.
using Invoke = shmem::Mark (*)(Endpoint& endpoint, const Correspondent& from, shmem::Room room,
                               std::span<std::byte> payload);

// A place in a handler table. Its size is a power of two, as it is found by a shift.
struct alignas(32) HandlerEntry {
  Invoke invoke = nullptr;  // of an untyped handler the function that others name; never called
  Shape shape = kNoShape;
  void* context = nullptr;  // the object of a member function; what an untyped handler is given
  void (*untyped)(UntypedMessage, void* context) = nullptr;  // the function, if shape is kAnyShape
};
static_assert(sizeof(HandlerEntry) == 32);

namespace detail {

// What a function's type says of the messages that it takes.
template <class T>
inline constexpr bool is_role =
    std::is_same_v<T, Request> || std::is_same_v<T, OneWay> || std::is_same_v<T, Reply>;

template <class First>
constexpr Kind kind_of_parameter() {
  if constexpr (std::is_same_v<First, std::span<const std::byte>>) {
    return Kind::kMedium;
  } else if constexpr (std::is_same_v<First, std::span<std::byte>>) {
    return Kind::kLong;
  } else {
    return Kind::kShort;
  }
}

template <class... Rest>
struct Parameters {
  static constexpr Kind kind = Kind::kShort;
  using Arguments = std::tuple<Rest...>;
};
template <class First, class... Rest>
struct Parameters<First, Rest...> {
  static constexpr Kind kind = kind_of_parameter<First>();
  using Arguments =
      std::conditional_t<kind == Kind::kShort, std::tuple<First, Rest...>, std::tuple<Rest...>>;
};

template <class F>
struct Signature {
  static constexpr bool is_handler = false;
  static constexpr bool travels = true;
};
template <class R, class... P>
struct Signature<void (*)(R, P...)> {
  static constexpr bool is_handler = is_role<R>;
  static constexpr bool travels = (std::is_trivially_copyable_v<std::remove_cvref_t<P>> && ...);
  static constexpr Role role = std::is_same_v<R, Request>  ? Role::kRequest
                               : std::is_same_v<R, OneWay> ? Role::kOneWay
                                                           : Role::kReply;
  static constexpr Kind kind = Parameters<std::remove_cvref_t<P>...>::kind;
  using First = R;
  using Arguments = typename Parameters<std::remove_cvref_t<P>...>::Arguments;
};
template <class R, class... P>
struct Signature<void (*)(R, P...) noexcept> : Signature<void (*)(R, P...)> {};
// The signature of a member function, and its class.
template <class C, class R, class... P>
struct Signature<void (C::*)(R, P...)> : Signature<void (*)(R, P...)> {
  using Object = C;
};
template <class C, class R, class... P>
struct Signature<void (C::*)(R, P...) noexcept> : Signature<void (C::*)(R, P...)> {};
template <class C, class R, class... P>
struct Signature<void (C::*)(R, P...) const> : Signature<void (*)(R, P...)> {
  using Object = const C;
};
template <class C, class R, class... P>
struct Signature<void (C::*)(R, P...) const noexcept> : Signature<void (C::*)(R, P...) const> {};

// The object that the member function kFunction was registered with (am/core/request.h).
template <auto kFunction>
auto& object_of(Endpoint& endpoint);

template <auto kFunction>
inline constexpr bool is_member = std::is_member_function_pointer_v<decltype(kFunction)>;

template <class Given, class Argument>
concept casts_to = requires(const Given& given) {
  static_cast<const Argument&>(given);
};

// How arguments of these types are laid out in a message.
template <class Tuple>
struct Packing;
template <class... Args>
struct Packing<std::tuple<Args...>> {
  static constexpr std::uint32_t words = packet::argument_words<Args...>;
  static_assert(words * packet::kWord <= kMaxArgumentBytes, "too many bytes of arguments");
  using Unpacker = packet::Unpacker<Args...>;

  template <class... Given>
  static constexpr bool takes() {
    if constexpr (sizeof...(Given) == sizeof...(Args)) return (casts_to<Given, Args> && ...);
    return false;
  }
  // Copies what a caller passed, converted to the types the handler takes. (Handler::check() has
  // refused what they are not.)
  template <class... Given>
  static void pack(std::byte* to, const Given&... given) noexcept {
    if constexpr (takes<Given...>()) packet::pack(to, static_cast<const Args&>(given)...);
  }
};

}  // namespace detail

// Everything known of the handler kFunction at compile time.
template <auto kFunction>
struct Handler {
  using Given = detail::Signature<decltype(kFunction)>;
  static constexpr bool is_one = Given::is_handler && Given::travels;
  // What is none is refused below, and becomes some other, lest more errors follow from it.
  using Signature = std::conditional_t<is_one, Given, detail::Signature<void (*)(Request)>>;
  using Packing = detail::Packing<typename Signature::Arguments>;
  static constexpr Role role = Signature::role;
  static constexpr Kind kind = Signature::kind;
  static constexpr std::uint32_t words = Packing::words;
  static constexpr Shape shape = make_shape(role, kind, words);

  // True; says, when compiling, what is wrong with a request or a reply of kKind with these
  // arguments.
  template <Role kRole, Kind kKind, class... Args>
  static constexpr bool check() {
    constexpr bool kFits = kind == kKind && (role == Role::kReply) == (kRole == Role::kReply);
    static_assert(kFits,
                  "the handler takes another kind of message: am::Reply takes replies, the others "
                  "requests; a std::span<const std::byte> as its second parameter takes _medium, a "
                  "std::span<std::byte> _long");
    constexpr bool kTakes = !kFits || !is_one || Packing::template takes<Args...>();
    static_assert(kTakes, "the handler takes other arguments");
    return true;
  }

  static shmem::Mark invoke(Endpoint& endpoint, const Correspondent& from, shmem::Room room,
                            std::span<std::byte> payload) {
    Delivery delivery{endpoint, from, room, payload};
    const std::byte* const arguments = packet::arguments(room, role, kind, words);
    Packing::Unpacker::apply(arguments, [&delivery](const auto&... args) {
      using First = typename Signature::First;
      if constexpr (kind == Kind::kShort) {
        call(delivery, First(delivery), args...);
      } else if constexpr (kind == Kind::kMedium) {
        call(delivery, First(delivery), std::span<const std::byte>(delivery.payload), args...);
      } else {
        call(delivery, First(delivery), delivery.payload, args...);
      }
    });
    return delivery.reply;
  }

 private:
  template <class... All>
  static void call(Delivery& delivery, All&&... all) {
    if constexpr (!is_one) {
      return;
    } else if constexpr (detail::is_member<kFunction>) {
      (detail::object_of<kFunction>(delivery.endpoint).*kFunction)(std::forward<All>(all)...);
    } else {
      kFunction(std::forward<All>(all)...);
    }
  }

  // Last: behind a failed assertion some compilers see no member of a class.
  static_assert(Given::is_handler,
                "a handler returns void, and its first parameter is am::Request, am::OneWay or "
                "am::Reply");
  static_assert(Given::travels,
                "arguments of a handler are copied as bytes: trivially copyable values, and a "
                "std::span of bytes second, for a payload");
};

}  // namespace am
