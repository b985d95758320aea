// What C programs pass for a message, and what may be wrong with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "am/c/messages.h"
#include "am/core/endpoint.h"
#include "am/types/types.h"

namespace am::c {

// A message as it is given by one of the calls of am/c/messages.h.
struct Outgoing {
  Kind kind;
  handler_t handler;
  int numargs;
  const std::int32_t* args;
  const void* source;
  std::size_t nbytes;

  // Once is_valid().
  std::span<const std::uint32_t> words() const noexcept {
    return {reinterpret_cast<const std::uint32_t*>(args), static_cast<std::size_t>(numargs)};
  }
  std::span<const std::byte> payload() const noexcept {
    return {static_cast<const std::byte*>(source), nbytes};
  }
  std::uint64_t bytes() const noexcept { return 4 * static_cast<std::uint64_t>(numargs) + nbytes; }
};

inline constexpr std::size_t max_payload(Kind kind) noexcept {
  return kind == Kind::kShort    ? 0
         : kind == Kind::kMedium ? std::size_t{AM_MaxMedium()}
                                 : std::size_t{std::numeric_limits<int>::max()};
}

// Whether a message can go to it.
inline bool is_handler(handler_t handler) noexcept { return handler > 0 && handler < kHandlers; }

// Whether it can be sent. Any thread.
inline bool is_valid(const Outgoing& message) noexcept {
  return is_handler(message.handler) && message.numargs >= 0 && message.numargs <= AM_MaxShort() &&
         (message.numargs == 0 || message.args != nullptr) &&
         message.nbytes <= max_payload(message.kind) &&
         (message.nbytes == 0 || message.source != nullptr);
}

// Refuses what is not; a translation that is not mapped; what is no size of a medium payload; and
// to send more bytes than were prepared.
void check_message(const Outgoing& message);
void check_mapped(const Endpoint& endpoint, int index);
void check_prepared_bytes(std::size_t nbytes);
void check_committed_bytes(std::size_t nbytes, std::size_t prepared);
// Fails with the code for a translation without credit.
int fail_no_credit(const char* call, int index) noexcept;

}  // namespace am::c

// The arguments of the functions with few, as words of a message.
#define AM_WORDS_0
#define AM_WORDS_1 static_cast<std::uint32_t>(a0)
#define AM_WORDS_2 AM_WORDS_1, static_cast<std::uint32_t>(a1)
#define AM_WORDS_3 AM_WORDS_2, static_cast<std::uint32_t>(a2)
#define AM_WORDS_4 AM_WORDS_3, static_cast<std::uint32_t>(a3)
