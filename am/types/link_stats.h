#pragma once

#include <cstdint>

namespace am {

// What a process has exchanged with other nodes, since its start. Messages to one process that come
// close together share a send.
struct SendStats {
  std::uint64_t sends = 0;  // system calls, or what the network has instead; those made again, too
  std::uint64_t messages = 0;  // in these: requests, replies, accesses; a large one is several
  std::uint64_t bytes = 0;     // of the sends, heads included
  std::uint64_t accessed = 0;  // bytes that the network itself has read and written for it (RMA)
  std::uint64_t pieces = 0;    // of its long accesses that are over, but for the last of each

  bool operator==(const SendStats&) const = default;
  SendStats& operator+=(const SendStats& other) noexcept {
    sends += other.sends;
    messages += other.messages;
    bytes += other.bytes;
    accessed += other.accessed;
    pieces += other.pieces;
    return *this;
  }
  SendStats operator-(const SendStats& earlier) const noexcept {
    return {sends - earlier.sends, messages - earlier.messages, bytes - earlier.bytes,
            accessed - earlier.accessed, pieces - earlier.pieces};
  }
};

// Datagrams of a process, since its start, over a link that repairs losses itself. All zeros:
// nothing is lost that this process could know of, as with TCP.
struct LossStats {
  std::uint64_t sent = 0;      // with messages: acknowledgements are not counted
  std::uint64_t repeated = 0;  // ... of which again: they, or what acknowledged them, came late
  std::uint64_t twice = 0;     // received that had come before, and were dropped
  std::uint64_t damaged = 0;   // received of any kind, damaged or of a stranger, and dropped

  bool operator==(const LossStats&) const = default;
  LossStats& operator+=(const LossStats& other) noexcept {
    sent += other.sent;
    repeated += other.repeated;
    twice += other.twice;
    damaged += other.damaged;
    return *this;
  }
  LossStats operator-(const LossStats& earlier) const noexcept {
    return {sent - earlier.sent, repeated - earlier.repeated, twice - earlier.twice,
            damaged - earlier.damaged};
  }
};

// What has come from outside the job, and was dropped.
struct StrangerStats {
  std::uint64_t frames = 0;       // without the token of this process
  std::uint64_t words = 0;        // completion data that this process never gave out
  std::uint64_t receives = 0;     // messages that broke off, or were longer than any of the job
  std::uint64_t completions = 0;  // of no operation in flight
  bool operator==(const StrangerStats&) const = default;
};

// How stores to other nodes have used put channels that the library made by itself.
struct LearningStats {
  std::uint64_t channels = 0;  // that this process has learned as a sender
  std::uint64_t puts = 0;      // stores that went by them
};

}  // namespace am
