#include "am/message/returned.h"

#include <cstdio>

#include "am/message/slot_format.h"

namespace am {
namespace {

const char* name_of(Role role) {
  switch (role) {
    case Role::kRequest: return "request";
    case Role::kOneWay: return "one-way request";
    case Role::kReply: return "reply";
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

}  // namespace

std::string sentence(const Returned& message) {
  const std::string what = std::string(name_of(message.kind)) + " " + name_of(message.role);
  std::string text = "a " + (message.get ? "get" : what) + " to rank " +
                     std::to_string(message.destination) + ", handler " +
                     std::to_string(message.handler) + ", came back: ";
  text += describe(message.status);
  text += "; arguments (bytes) " + hexadecimal(message.arguments);
  if (message.kind == Kind::kMedium) {
    text += ", payload of " + std::to_string(message.payload.size()) + " bytes";
  } else if (message.kind == Kind::kLong) {
    text += ", payload of " + std::to_string(message.segment_bytes) + " bytes at offset " +
            std::to_string(message.segment_offset);
  }
  return text +
         ". Endpoint::on_returned, in C handler 0, takes such messages instead of ending the job";
}

}  // namespace am
