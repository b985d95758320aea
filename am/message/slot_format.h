#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "am/types/types.h"
#include "shmem/mailbox_layout.h"

// What the bytes of a message mean on one node: the 16-bit mark beside the sequence number, and the
// words before the arguments. A half slot holds 24 bytes:
//
//   short   arguments
//   medium  payload bytes (8) | arguments
//   long    offset in the receiver's segment (8) | payload bytes (8) | arguments
//
// Arguments that do not fit behind these words go, all of them, to the slot's extension line.

namespace am::packet {

// The mark: handler (8 bits) | argument words (5) | a request's form, or a reply's kind (2) | one
// way (1).
inline constexpr int kWordsShift = 8;
inline constexpr int kFormShift = 13;
inline constexpr shmem::Mark kOneWay = shmem::kOneWay;
inline constexpr std::uint32_t kWord = 4;  // bytes; AM-II counts arguments in these
inline constexpr std::size_t kMaxWords = kMaxArgumentBytes / kWord;  // of arguments

// The last field is a number of 0 to 3 to these.
inline constexpr shmem::Mark make_mark(HandlerIndex handler, std::uint32_t words,
                                       std::uint32_t last) noexcept {
  return static_cast<shmem::Mark>(handler | words << kWordsShift | last << kFormShift);
}
inline constexpr HandlerIndex handler_in(shmem::Mark mark) noexcept {
  return static_cast<HandlerIndex>(mark);
}
inline constexpr std::uint8_t words_in(shmem::Mark mark) noexcept {
  return static_cast<std::uint8_t>(mark >> kWordsShift & 31);
}
inline constexpr std::uint32_t last_in(shmem::Mark mark) noexcept { return mark >> kFormShift & 3; }

// What a request is, whose kind is its lane: the user's, or one of the library's own.
enum class Form : std::uint8_t { kOrdinary, kFarewell, kRejectedReply };

// The mark of a request, one-way or not.
struct RequestMark {
  static constexpr RequestMark of(shmem::Mark mark) noexcept {
    return {handler_in(mark), words_in(mark), static_cast<Form>(last_in(mark))};
  }
  constexpr shmem::Mark mark() const noexcept {
    return make_mark(handler, words, static_cast<std::uint32_t>(form));
  }

  HandlerIndex handler;
  std::uint8_t words;
  Form form = Form::kOrdinary;
};

struct ReplyMark {
  // The mark of a request, one-way or not, that comes back undelivered.
  static constexpr shmem::Mark kReturned = make_mark(0, 0, 3);

  static constexpr ReplyMark of(shmem::Mark mark) noexcept {
    return {handler_in(mark), words_in(mark), static_cast<Kind>(last_in(mark))};
  }
  constexpr shmem::Mark mark() const noexcept {
    return make_mark(handler, words, static_cast<std::uint32_t>(kind));
  }

  HandlerIndex handler;  // 0: an empty reply, or kReturned
  std::uint8_t words;
  Kind kind;
};
// Not empty, and not one that returns a request.
inline constexpr bool is_short_reply(shmem::Mark mark) noexcept {
  static_assert(make_mark(0, 0, 1) == 0x2000);
  return static_cast<shmem::Mark>(mark - 1) < 0x1fff;
}
static_assert(RequestMark{255, 16, Form::kRejectedReply}.mark() < kOneWay);
static_assert(ReplyMark{255, 16, Kind::kLong}.mark() < kOneWay && ReplyMark::kReturned < kOneWay);
static_assert(shmem::kNoReply == 0, "handler 0: nobody is called");
static_assert(max_medium() == shmem::kPayloadBytes);
static_assert(kMaxArgumentBytes == sizeof(shmem::Extension::request));

inline constexpr shmem::Lane lane_of(Kind kind) noexcept { return static_cast<shmem::Lane>(kind); }
inline constexpr Kind kind_of(shmem::Lane lane) noexcept { return static_cast<Kind>(lane); }

// Bytes before the arguments.
inline constexpr std::uint32_t prefix_bytes(Kind kind) noexcept {
  return static_cast<std::uint32_t>(kind) * 8;
}

// Whether the arguments of a message are in its slot.
inline constexpr bool fit_slot(Kind kind, std::uint32_t words) noexcept {
  return prefix_bytes(kind) + words * kWord <= shmem::Half::kBytes;
}
// Where the arguments of a request, or of a reply, are.
inline std::byte* request_arguments(shmem::Room room, Kind kind, std::uint32_t words) noexcept {
  if (fit_slot(kind, words)) [[likely]]
    return room.slot->request.bytes + prefix_bytes(kind);
  return room.extension().request;
}
inline std::byte* reply_arguments(shmem::Room room, Kind kind, std::uint32_t words) noexcept {
  if (fit_slot(kind, words)) [[likely]]
    return room.slot->reply.bytes + prefix_bytes(kind);
  return room.extension().reply;
}

inline std::byte* arguments(shmem::Room room, Role role, Kind kind, std::uint32_t words) noexcept {
  return role == Role::kReply ? reply_arguments(room, kind, words)
                              : request_arguments(room, kind, words);
}

// The payload size of a medium message.
inline void put_medium_bytes(shmem::Half& half, std::uint64_t bytes) noexcept {
  std::memcpy(half.bytes, &bytes, sizeof bytes);
}
inline std::uint64_t medium_bytes(const shmem::Half& half) noexcept {
  std::uint64_t bytes;
  std::memcpy(&bytes, half.bytes, sizeof bytes);
  return bytes;
}

// Where a long message's payload lies. `written`: it has been admitted (am/message/admission.h),
// and lies at `offset` of the receiving process's segment. `staged`: it waits for the receiver to
// copy it (am/route/staging.h) to `offset` of the endpoint's segment. Else it travels without
// payload, to be returned; `offset` is then what the sender asked for, in the endpoint's segment,
// and `status` why.
struct Placement {
  std::uint64_t offset;
  std::uint64_t bytes : 48;
  std::uint64_t status : 14;
  std::uint64_t staged : 1;
  std::uint64_t written : 1;
};
static_assert(sizeof(Placement) == 16);
inline void put_placement(shmem::Half& half, const Placement& placement) noexcept {
  std::memcpy(half.bytes, &placement, sizeof placement);
}
inline Placement placement(const shmem::Half& half) noexcept {
  Placement result;
  std::memcpy(&result, half.bytes, sizeof result);
  return result;
}

// Why a request is returned: in the reply's half of its slot.
inline void put_status(shmem::Room room, Status status) noexcept {
  std::memcpy(room.slot->reply.bytes, &status, sizeof status);
}
inline Status status_in(shmem::Room room) noexcept {
  Status status;
  std::memcpy(&status, room.slot->reply.bytes, sizeof status);
  return status;
}

inline void copy_payload(std::byte* to, std::span<const std::byte> payload) noexcept {
  if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
}

// Arguments, one behind the other without gaps, rounded up to whole words.
template <class... Args>
inline constexpr std::uint32_t argument_bytes = (0u + ... +
                                                 static_cast<std::uint32_t>(sizeof(Args)));
template <class... Args>
inline constexpr std::uint32_t argument_words = (argument_bytes<Args...> + kWord - 1) / kWord;

template <class... Args>
inline void pack(std::byte* to, const Args&... args) noexcept {
  ((std::memcpy(to, &args, sizeof args), to += sizeof args), ...);
}

template <class... Args>
struct Unpacker {
  // Calls f(args...) with the arguments at `from`.
  template <class F>
  static void apply(const std::byte* from, F&& f) {
    unpack(from, f, std::index_sequence_for<Args...>{});
  }

 private:
  template <class T>
  static T take(const std::byte* from) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  // Where each argument begins.
  static constexpr std::array<std::uint32_t, sizeof...(Args) + 1> offsets() noexcept {
    std::array<std::uint32_t, sizeof...(Args) + 1> at{};
    [[maybe_unused]] std::size_t i = 0;
    ((at[i + 1] = at[i] + static_cast<std::uint32_t>(sizeof(Args)), ++i), ...);
    return at;
  }
  template <class F, std::size_t... kI>
  static void unpack([[maybe_unused]] const std::byte* from, F& f, std::index_sequence<kI...>) {
    [[maybe_unused]] constexpr auto at = offsets();
    f(take<Args>(from + at[kI])...);
  }
};

}  // namespace am::packet
