// One-sided access to memory of other processes by the network itself (RMA): how bytes there are
// named, what an access is, and how its completion is delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "am/types/types.h"

namespace am::link {

struct Completion;

// Makes sure that the completion of an operation is delivered in the right thread.
class Home {
 public:
  // Called by the thread that polls the link; calls completion.done(), now or later.
  virtual void complete(Completion& completion) = 0;

 protected:
  ~Home() = default;
};

// What waits for a one-sided operation. Lives until called.
struct Completion {
  // Inside poll() or fetch(), or before try_access() returns, or where `home` calls it.
  void (*done)(Completion&) = nullptr;
  Home* home = nullptr;        // nullptr: it does not matter which thread calls
  Completion* next = nullptr;  // for `home`
};
// How links call it.
inline void complete(Completion& completion) {
  if (completion.home == nullptr) return completion.done(completion);
  completion.home->complete(completion);
}

// Names a byte of another process's memory: what Registration::key() said there, or in_segment(),
// and further bytes by +. Plain bytes, to be sent to others. Good until that registration ends.
struct RemoteKey {
  // The key of every process's segment. No provider gives it to anything (FI_KEY_NOTAVAIL).
  static constexpr std::uint64_t kSegment = ~std::uint64_t{0};
  static RemoteKey in_segment(std::uint64_t offset) noexcept { return {offset, kSegment}; }

  RemoteKey operator+(std::uint64_t bytes) const noexcept { return {base + bytes, key}; }
  bool operator==(const RemoteKey&) const = default;

  std::uint64_t base;
  std::uint64_t key;
};
static_assert(std::is_trivially_copyable_v<RemoteKey> && sizeof(RemoteKey) == 16);

// An access to another process's memory by the network itself.
struct RmaAccess {
  enum Kind : std::uint8_t {
    kRead,   // done: the bytes are here
    kWrite,  // done: visible at the target
    // Done: the local memory may be reused, and packets committed from now on arrive later.
    kWriteBeforePackets,
    // 1 byte or more. Done, perhaps before try_access() returns: the local memory may be reused.
    // When the bytes are there, the target's sink is notified by `word`, which the target has given
    // to this process.
    kWriteAndNotify,
    // In one operation with `packet`, which arrives when the bytes are there. Done likewise. Where
    // Link::queue() has said kTogether.
    kWriteWithPacket,
  };
  static RmaAccess read(Rank from, const RemoteKey& at, std::span<std::byte> to) noexcept {
    return {kRead, from, at, to};
  }
  static RmaAccess write(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                         bool before_packets = false) noexcept {
    return {before_packets ? kWriteBeforePackets : kWrite, to, at, only_read(from)};
  }
  static RmaAccess notify(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                          std::uint64_t word) noexcept {
    return {kWriteAndNotify, to, at, only_read(from), word};
  }
  static RmaAccess with_packet(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                               std::span<const std::byte> packet) noexcept {
    return {kWriteWithPacket, to, at, only_read(from), 0, packet};
  }
  static std::span<std::byte> only_read(std::span<const std::byte> bytes) noexcept {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }

  Kind kind;
  Rank peer;
  RemoteKey at;                            // of the first byte there
  std::span<std::byte> local;              // a write only reads it
  std::uint64_t word = 0;                  // of kWriteAndNotify
  std::span<const std::byte> packet = {};  // of kWriteWithPacket; used until try_access() returns
};

// Memory of this process that others can read and write by its key, for as long as this lives.
// It ends before the link does. The memory stays mapped until then, and longer for accesses of this
// process that are in flight: those hold what else they need.
//
// Destroy it when no other process uses the key any more. An access that comes later is an error,
// which ends the job with a sentence of the accessing process (over udp;ofi_rxd and shm of
// libfabric 1.17, which do not answer it, it stays in flight). But memory may be kept registered
// for its next use: then the access reaches whatever is there now, unless revoke() was called.
class Registration {
 public:
  virtual ~Registration() = default;
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::span<std::byte> range() const noexcept { return range_; }  // as it was asked for
  RemoteKey key() const noexcept { return key_; }                 // of its first byte

  // The key must be invalid when this has ended. (Except where other memory that others can access
  // has this in it: the segment, a registration that goes on.)
  virtual void revoke() noexcept = 0;

 protected:
  Registration(std::span<std::byte> range, RemoteKey key) noexcept : range_(range), key_(key) {}

 private:
  const std::span<std::byte> range_;
  const RemoteKey key_;
};

// What a process has registered, the segment left out.
struct RegistrationStats {
  std::size_t used = 0;    // registrations in use now
  std::size_t kept = 0;    // others
  std::size_t bytes = 0;   // of both
  std::uint64_t hits = 0;  // uses of memory that was registered already
  std::uint64_t misses = 0;
  std::string not_kept;  // why kept is always 0; "": it is not
};

// Lets other processes access memory of this one. Thread rule: the link's.
class Registrar {
 public:
  // Registers `range`, anywhere in this process's memory, at least one byte. Memory that is
  // registered already, or was until lately, costs little. Throws Error: no bytes; too much would
  // be pinned.
  virtual std::unique_ptr<Registration> register_memory(std::span<std::byte> range) = 0;
  virtual RegistrationStats registration_stats() const = 0;

 protected:
  ~Registrar() = default;
};

}  // namespace am::link
