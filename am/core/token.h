#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/message/handler.h"

// What a handler is given with its message, and what it may do with it: AM-II's token.
//
//   role              the handler may        afterwards, at the sender
//   am::Request       reply once             the reply's handler runs, or an empty reply ends it
//   am::OneWay        send nothing           nothing
//   am::Reply         send nothing           -
//
// No handler may request, poll or wait in any bundle. By these rules a chain of messages has length
// two, and a reply needs no room that its request has not reserved; so nothing can deadlock
// (docs/active-messages.md).
//
// A token is valid while its handler runs, in that thread. It costs nothing to make.

namespace am {

class PreparedReply;

// What the three have in common.
class Message {
 public:
  // By the library.
  explicit Message(Delivery& delivery) noexcept : delivery_(&delivery) {}

  // The rank of the process that sent the message, and the name of the endpoint that did, with
  // which it can be mapped, after poll() (AM_GetSourceEndpoint).
  Rank source() const noexcept;
  const Name& source_name() const noexcept;
  // The tag that it was sent with (AM_GetMsgTag). Of a Reply: the one that its request was.
  Tag tag() const noexcept;
  // The endpoint that received it (AM_GetDestEndpoint).
  Endpoint& endpoint() const noexcept { return delivery_->endpoint; }

 protected:
  Delivery* delivery_;
};

// A request that may be answered, once. Passed to the handler by value; it can be moved, but does
// not outlive the handler. If the handler does not reply, or throws, the library sends an empty
// reply, which returns the sender's credit and runs no handler there.
//
// A reply may be of any kind, whatever kind the request was. It goes to the handler kFunction of
// the endpoint that sent the request. If that has changed its tag meanwhile to one that does not
// admit the reply, or has ended, the reply comes back to this endpoint's on_returned(). The
// arguments are copied before return and converted to the types that kFunction takes.
//
// The three calls never wait and need no credit: the request has reserved their room. They consume
// the request: std::move(request).reply<&f>(...). What they write is sent when the handler returns.
// They throw Error at a second reply, and if kFunction is not in this endpoint's own handler table,
// where all processes have it at the same index.
//
// Cost: near, a short reply is written into the cache line of its request, which the sender polls;
// far, it is one packet, coalesced with the other replies of the same poll.
class Request : public Message {
 public:
  using Message::Message;
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // A short reply, 0 to 64 bytes of arguments, to kFunction(am::Reply, args...): AM_ReplyM.
  template <auto kFunction, class... Args>
  void reply(const Args&... args) &&;
  template <auto kFunction, class... Args>
  void reply(const Args&... args) const& = delete;  // write std::move(request).reply<..>(..)

  // A medium reply, to kFunction(am::Reply, std::span<const std::byte>, args...): AM_ReplyIM. The
  // payload, at most max_medium() bytes or Error, may be reused on return.
  template <auto kFunction, class... Args>
  void reply_medium(std::span<const std::byte> payload, const Args&... args) &&;

  // Room for the payload of a medium reply, which the handler writes in place and then commits:
  // `least` to `most` bytes, 0 to max_medium() or Error (am/core/prepared.h).
  [[nodiscard]] PreparedReply prepare_reply_medium(std::size_t least, std::size_t most) &&;

  // A long reply, to kFunction(am::Reply, std::span<std::byte>, args...): AM_ReplyXferM. The
  // payload, of any size, goes to `offset` bytes from the start of the segment of the endpoint that
  // sent the request, and may be reused on return: near it has been copied to its place by then,
  // far to a buffer from which it is sent. Where it does not fit, nothing is written, and the reply
  // comes back to this endpoint's on_returned().
  template <auto kFunction, class... Args>
  void reply_long(std::uint64_t offset, std::span<const std::byte> payload, const Args&... args) &&;
  // A long reply without that buffer: the payload must not change, nor end, until `released`, which
  // is false before and lives as long, is true. Near that is on return; else during a later poll,
  // or in whichever thread of the process sees to the network (std::atomic_ref reads it then).
  template <auto kFunction, class... Args>
  void reply_long_borrowing(std::uint64_t offset, std::span<const std::byte> payload,
                            bool& released, const Args&... args) &&;

 protected:
  // By the library.
  friend class PreparedReply;
  template <auto kFunction, class... Args>
  void reply_in_place(std::size_t used, const Args&... args) &&;
  void check_unanswered() const;
  std::byte* begin_reply(HandlerIndex handler, Kind kind, std::uint32_t words);
  // A short reply to a handler that is not where it was last; returns its mark.
  template <auto kFunction, class... Args>
  static shmem::Mark reply_elsewhere(Endpoint& endpoint, shmem::Room room, Args... args);
  void place_long(HandlerIndex handler, Shape shape, std::uint64_t offset,
                  std::span<const std::byte> payload, bool* released = nullptr);
  template <auto kFunction, class... Args>
  void reply_long_with(bool* released, std::uint64_t offset, std::span<const std::byte> payload,
                       const Args&... args);
};

// A request without a reply: what a handler takes that only has to hear of something. Its sender's
// credit returns with those of several others.
class OneWay : public Message {
 public:
  using Message::Message;
};

// The answer to a request of this endpoint. source() is the process that handled the request.
class Reply : public Message {
 public:
  using Message::Message;
};

}  // namespace am
