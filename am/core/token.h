#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/message/handler.h"

// What a handler may do with the message it was given. Valid only while the handler runs.
//
// Request handlers may reply, once and only to the sender; reply and one-way handlers may send
// nothing. No handler may request, poll or wait: by these rules request and reply chains have
// length two and nothing can deadlock (docs/active-messages.md).

namespace am {

class Message {
 public:
  explicit Message(Delivery& delivery) noexcept : delivery_(&delivery) {}

  Rank source() const noexcept;              // the sender's rank
  const Name& source_name() const noexcept;  // the sender's endpoint, to map it
  Endpoint& endpoint() const noexcept { return delivery_->endpoint; }  // which received it

 protected:
  Delivery* delivery_;
};

// A request that may be answered. If the handler does not, an empty reply goes back by itself.
class Request : public Message {
 public:
  using Message::Message;
  Request(Request&&) noexcept = default;
  Request& operator=(Request&&) noexcept = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Answers with a short message to the handler kFunction of the sender's endpoint. Never waits:
  // the request brought the room along. The reply leaves when the handler returns.
  // Throws Error if kFunction is not in this endpoint's table, or at a second reply.
  template <auto kFunction, class... Args>
  void reply(const Args&... args) &&;

  // The same with a payload of at most max_medium() bytes, copied before return.
  template <auto kFunction, class... Args>
  void reply_medium(std::span<const std::byte> payload, const Args&... args) &&;

  // The same with a payload of any size, written at `offset` of the sender's segment before return.
  // Where that does not fit the reply comes back to this endpoint's handler of returned messages.
  template <auto kFunction, class... Args>
  void reply_long(std::uint64_t offset, std::span<const std::byte> payload, const Args&... args) &&;

 private:
  std::byte* begin_reply(HandlerIndex handler, Kind kind, std::uint32_t words);
  void place_long(HandlerIndex handler, Shape shape, std::uint64_t offset,
                  std::span<const std::byte> payload);
};

// A request that nobody answers.
class OneWay : public Message {
 public:
  using Message::Message;
};

// An answer.
class Reply : public Message {
 public:
  using Message::Message;
};

// A message that could not be delivered, back at its sender (AM-II's handler 0). The spans are
// valid while the handler of returned messages runs; it may send nothing.
struct Returned {
  Status status;
  Role role;
  Kind kind;
  HandlerIndex handler;
  Rank destination;                      // whom it was sent to
  std::span<const std::byte> arguments;  // as packed: one behind the other
  std::span<const std::byte> payload;    // of a medium message
  std::uint64_t segment_offset = 0;      // of a long message, as it was sent
  std::uint64_t segment_bytes = 0;
};

}  // namespace am
