#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "am/collective/schedule.h"
#include "am/core/far/remote_memory.h"
#include "splitc/group/mail.h"

namespace splitc::detail {

// What the network writes to another process, and reports when this process is done with it,
// perhaps in another thread. It lives until then (`self`).
struct NetworkWrite : am::link::Completion {
  std::atomic<bool> is_done = false;
  std::shared_ptr<NetworkWrite> self;
};

// What an exchange of many bytes needs beside.
struct LargeExchange {
  std::uint64_t at = 0;        // bytes that have left, or come, in pieces
  am::link::RemoteKey key{};   // to be written to
  bool is_exposed = false;     // the key of what the network writes here has been given away
  bool asked_to_stop = false;  // ... and its sender been asked not to write, as the call ends
  std::shared_ptr<const am::link::Registration> registration;  // of what is written to here
  std::shared_ptr<NetworkWrite> write;
  bool said_written = false;
};

// A send or receive of the current round of a schedule (splitc/group/performer.h).
struct Exchange {
  enum class State : std::uint8_t {
    // Something has to be done here:
    kToSend,
    kToSendPieces,
    kToWrite,
    kWriting,
    kToSayWritten,
    kToAskFor,
    // Another process has to do something:
    kToBeAskedFor,
    kAwaited,
    kInPieces,
    kDone,
  };

  bool has_to_act() const noexcept { return state <= State::kToAskFor; }
  bool sends() const noexcept { return step->kind == am::schedule::Step::Kind::kSend; }
  std::uint64_t bytes() const noexcept { return (sends() ? step->from : step->to).bytes; }
  // Goes or comes in parts.
  bool is_large() const noexcept { return bytes() > Mail::kMost; }
  // So many bytes at most are sent before their receiver asks for them.
  static constexpr std::uint64_t kUnasked = 64 * 1024;

  const am::schedule::Step* step;
  std::uint32_t number;  // of what one sends the other in the call
  State state;
  std::unique_ptr<LargeExchange> large = {};  // if it is
};

// What a member has published in its own memory, for one reader or all of its node.
struct LargeItem {
  std::uint8_t item;
  std::uint32_t reader;  // rank, or am::schedule::kAllMembers
  am::schedule::Range from;
};

// One that is copied to staging memory a part at a time, to where the parts before have been read.
struct Stream : LargeItem {
  static constexpr std::uint64_t kPart = 32 * 1024;     // bytes
  static constexpr std::uint64_t kLimit = kPart << 19;  // bytes that an item has at most

  // For an item of any size, of so much staging memory: of what each process has.
  static std::uint64_t most_room(std::uint64_t staging) noexcept {
    return std::min(std::uint64_t{1} << 20, staging / 2 / kPart * kPart);
  }
  static std::uint64_t parts_of(std::uint64_t bytes) noexcept {
    return (bytes + kPart - 1) / kPart;
  }

  std::byte* room;
  std::uint64_t room_bytes;
  std::uint32_t sent = 0;  // parts
};

// A part of one that cannot be read, and is asked for, and comes in pieces; at its reader.
struct AskedFor {
  std::vector<std::byte> bytes;
  std::uint64_t got = 0;
  bool asked = false;
};
// An exchange at the member that has published it.
struct Answer {
  std::uint32_t peer;
  std::uint32_t number;  // as in the messages
  am::schedule::Range from;
  std::uint64_t at = 0;  // bytes that have left
};

// How much a member and another one have exchanged in the rounds of a call that have begun.
struct PeerCount {
  std::uint32_t peer;
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
};

}  // namespace splitc::detail
