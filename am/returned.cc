// Handler 0: what happens to messages that come back.

#include <cinttypes>
#include <cstdio>

#include "am/endpoint.h"

namespace am {

std::string_view describe(Status status) noexcept {
  switch (status) {
    case Status::kDelivered: return "delivered";
    case Status::kBadArguments:
      return "EBADARGS: the handler there takes other arguments or another kind of message";
    case Status::kBadTag: return "EBADTAG: the endpoint there has another tag";
    case Status::kBadHandler: return "EBADHANDLER: no handler there has that index";
    case Status::kBadSegmentOffset:
      return "EBADSEGOFF: the payload would begin outside the segment there";
    case Status::kBadLength: return "EBADLENGTH: the payload does not fit there";
    case Status::kBadEndpoint: return "EBADENDPOINT: there is no such endpoint any more";
  }
  return "unknown status";
}

namespace {

const char* name_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kRequest: return "request";
    case Opcode::kOneWay: return "one-way request";
    case Opcode::kReply: return "reply";
  }
  return "message";
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  char digits[4];
  for (const std::byte b : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(b));
    text += digits;
  }
  return text.empty() ? "none" : text;
}

std::string sentence(const Returned& message) {
  static constexpr const char* kKindNames[] = {"short", "medium", "long"};
  std::string text = std::string("a ") + kKindNames[static_cast<int>(message.kind)] + " " +
                     name_of(message.opcode) + " to rank " + std::to_string(message.destination) +
                     ", handler " + std::to_string(message.handler) + ", came back: ";
  text += describe(message.status);
  text += "; arguments (bytes) " + hexadecimal(message.arguments);
  if (message.kind == Kind::kMedium) {
    text += ", payload of " + std::to_string(message.payload.size()) + " bytes";
  } else if (message.kind == Kind::kLong) {
    text += ", payload of " + std::to_string(message.segment_bytes) + " bytes at offset " +
            std::to_string(message.segment_offset);
  }
  return text + ". Endpoint::on_returned takes such messages instead of ending the job";
}

}  // namespace

void Endpoint::deliver_returned(const Returned& returned) {
  ++stats_.returned_here;
  if (on_returned_) {
    on_returned_(returned);
  } else {
    bundle_->router().fatal(sentence(returned));
  }
}

}  // namespace am
