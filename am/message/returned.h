#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "am/types/types.h"

namespace am {

// A message that could not be delivered, back at its sender: what AM-II's handler 0 gets, here
// Endpoint::on_returned(). A message that comes back has changed nothing at its receiver, except
// that a long payload may have been written into the segment of an endpoint that ended before it
// handled the message. The spans are valid while the handler of returned messages runs.
struct Returned {
  Status status;  // why
  Role role;      // what it was: request, one-way request or reply
  Kind kind;
  HandlerIndex handler;                  // that it was for, at the receiver
  Rank destination;                      // that it was sent to
  std::span<const std::byte> arguments;  // as packed, in whole words of 4 bytes
  std::span<const std::byte> payload;    // of a medium message
  std::uint64_t segment_offset = 0;      // of a long message, as it was sent
  std::uint64_t segment_bytes = 0;       // of its payload, which does not come back
  bool get = false;  // a get: the handler is this endpoint's, the offset in the other's segment
};

// What was to be delivered, to whom, and why it was not.
std::string sentence(const Returned& message);

}  // namespace am
