// am/link: packets between nodes, and the network that carries them. It knows bytes, ranks and
// types of packets, but not what a packet means: whoever it is for has registered (packet_sinks.h).
// It uses am/types, shmem, and, in fabric_link alone, rdma. Packets from one process to another
// arrive once and in order; nothing that has arrived is believed before it is checked (incoming.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "am/link/packet.h"
#include "am/types/link_stats.h"
#include "am/types/types.h"

namespace am::link {

// Who gets what comes from the network.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // `packet` is as long as it says, and valid until return. What this throws leaves Link::poll(),
  // which goes on with the next packet when called again.
  virtual void deliver(Rank from, const PacketHeader& packet) = 0;
  // A try_put() with that word is complete: its bytes are there. Called inside fetch(), too. False:
  // this process has given that word to nobody.
  virtual bool arrived(std::uint64_t word) = 0;
  // Whether Link::fetch() shall leave it to poll().
  virtual bool keeps(const PacketHeader& packet) const noexcept = 0;
};

struct Completion;

// Who sees to it that what waits for an operation is called in the right thread.
class Home {
 public:
  // By whoever polls the link: calls completion.done(), now or later.
  virtual void complete(Completion& completion) = 0;

 protected:
  ~Home() = default;
};

// What waits for a one-sided operation. Lives until called.
struct Completion {
  // Inside poll() or fetch(), or where `home` calls it.
  void (*done)(Completion&) = nullptr;
  Home* home = nullptr;        // nullptr: it does not matter which thread calls
  Completion* next = nullptr;  // for `home`
};
// How links call it.
inline void complete(Completion& completion) {
  if (completion.home == nullptr) return completion.done(completion);
  completion.home->complete(completion);
}

// Names a byte of another process's memory: what Registration::key() said there, and further bytes
// by +. Plain bytes, to be sent to others. Good until that registration ends.
struct RemoteKey {
  std::uint64_t base;
  std::uint64_t key;

  RemoteKey operator+(std::uint64_t bytes) const noexcept { return {base + bytes, key}; }
  bool operator==(const RemoteKey&) const = default;
};
static_assert(std::is_trivially_copyable_v<RemoteKey> && sizeof(RemoteKey) == 16);

// An access to another process's memory by the network itself.
struct RmaAccess {
  enum Kind : std::uint8_t {
    kRead,   // done: the bytes are here
    kWrite,  // done: visible at the target
    // Done: the local memory may be reused, and packets committed from now on arrive later.
    kWriteBeforePackets,
  };
  static RmaAccess read(Rank from, const RemoteKey& at, std::span<std::byte> to) noexcept {
    return {kRead, from, at, to};
  }
  static RmaAccess write(Rank to, const RemoteKey& at, std::span<const std::byte> from,
                         bool before_packets = false) noexcept {
    return {before_packets ? kWriteBeforePackets : kWrite,
            to,
            at,
            {const_cast<std::byte*>(from.data()), from.size()}};
  }

  Kind kind;
  Rank peer;
  RemoteKey at;                // of the first byte there
  std::span<std::byte> local;  // a write only reads it
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

  // The key shall not be good for anything when this has ended. (Except where other memory that
  // others can access has this in it: the segment, a registration that goes on.)
  virtual void revoke() noexcept = 0;

 protected:
  Registration(std::span<std::byte> range, RemoteKey key) noexcept : range_(range), key_(key) {}

 private:
  const std::span<std::byte> range_;
  const RemoteKey key_;
};

// What a process has registered, the segment left out.
struct RegistrationStats {
  std::size_t used = 0;    // registrations that somebody needs now
  std::size_t kept = 0;    // others
  std::size_t bytes = 0;   // of both
  std::uint64_t hits = 0;  // uses of memory that was registered already
  std::uint64_t misses = 0;
  std::string not_kept;  // why kept is always 0; "": it is not
};

// What has come from outside the job, and was dropped.
struct StrangerStats {
  std::uint64_t frames = 0;       // without the token of this process
  std::uint64_t words = 0;        // completion data that this process has given to nobody
  std::uint64_t receives = 0;     // messages that broke off, or were longer than any of the job
  std::uint64_t completions = 0;  // of no operation in flight
  bool operator==(const StrangerStats&) const = default;
};

// A packet that has been committed and may grow at its end: its frame has not been sent, and
// nothing else has been committed to that process. Who makes it longer adds to its header's
// `bytes`, and here.
struct Growing {
  std::byte* packet = nullptr;  // nullptr: there is none
  std::uint32_t room = 0;       // bytes that it may still grow by
  std::uint64_t until = 0;      // by am::ticks(): from then on another packet should be begun
  std::uint32_t look_at = 0;    // bytes of the packet from which on to look at that clock
  // Of its frame: the bytes so far, and how often something was added to it.
  std::uint32_t* bytes = nullptr;
  std::uint32_t* commits = nullptr;
};

// What Active Messages need from a way of reaching the processes of other nodes.
//
// Packets to one process arrive once, in the order of their commits, and are coalesced into frames
// where that costs no time. Connections are made at the first use. A process that cannot be reached
// any more ends the job, with a sentence; unless the job goes on without its dead, see forget().
//
// Thread rule: one thread at a time. No call blocks.
class Link {
 public:
  virtual ~Link() = default;

  // Room for a packet of `bytes`, a multiple of 8 up to kMaxPacket. Next comes commit().
  virtual std::byte* claim(Rank to, std::uint32_t bytes) = 0;
  // Sends the packet now, or with the next poll() if others have been sent just before.
  virtual void commit(Rank to) = 0;
  // The same, when another packet to that process is committed before anything else is done: this
  // one may wait for that.
  virtual void commit_more(Rank to) { commit(to); }
  // As commit(). If the packet was not sent at once, it is growing(to) until that happens, or until
  // the next claim. nullptr: nothing grows on this link, or not yet; else it stays the same as long
  // as the link lives.
  virtual void commit_growing(Rank to) { commit(to); }
  virtual Growing* growing(Rank /*to*/) noexcept { return nullptr; }
  // Both, for a packet that is made elsewhere.
  void send(Rank to, std::span<const std::byte> packet) {
    std::memcpy(claim(to, static_cast<std::uint32_t>(packet.size())), packet.data(), packet.size());
    commit(to);
  }
  // Sends now what waits to be coalesced, for callers that will not poll soon. False: there was no
  // room for all.
  virtual bool push() = 0;
  // Whether a packet that is committed now would wait to be coalesced with others, as something has
  // been sent just before.
  virtual bool gathers(Rank to) const noexcept = 0;
  // How many bytes of packets to one process are sent together, about.
  virtual std::size_t frame_bytes() const noexcept { return 16'384; }
  // Back-pressure: so much is queued for `to` that what can wait should. Poll first.
  virtual bool congested(Rank to) const noexcept = 0;

  // Delivers what has arrived and starts what could not start before; returns how many packets and
  // completions there were.
  virtual int poll(PacketSink& sink) = 0;
  // The same, up to the first packet that the sink keeps for poll(). Whether there is one.
  virtual bool fetch(PacketSink& sink) = 0;
  // Operations in flight and packets queued: they need poll() to make progress.
  virtual bool busy() const noexcept = 0;

  // Asks every process that this one has talked to for a sign of life. So a connection that was
  // lost without an error, together with what was on it, is noticed: then the job ends with a
  // sentence. For those who have waited for long. Costs a packet for each of them.
  virtual void verify() = 0;

  // That process has died, and the job goes on without it: drops what is queued for it and what
  // comes of it, and what is committed to it from now on. Accesses to it end by a later poll, and
  // what they were to read is undefined.
  virtual void forget(Rank dead) = 0;

  // Makes the network progress and takes nothing. Any thread, if the link was made for several.
  virtual void drive() noexcept = 0;

  // Whether the network has one-sided access to memory of other processes, which what follows
  // needs.
  virtual bool has_rma() const noexcept = 0;
  // The key of the first byte of that process's segment.
  virtual RemoteKey segment_key(Rank of) const noexcept = 0;
  // Starts an access. False: no room, poll first. The local memory, registered or not, and
  // `completion` live until completion.done().
  virtual bool try_access(const RmaAccess& access, Completion& completion) = 0;
  // Whether RmaAccess::kWriteBeforePackets may be asked for with so many bytes.
  virtual bool writes_before_packets(std::size_t bytes) const noexcept = 0;
  // Writes `from` and then notifies the target's sink by `word`, which the target has given to this
  // process. Done, perhaps before return: `from` may be reused. At least 1 byte and at most
  // max_put(), which is 0 if there is no such thing.
  virtual std::size_t max_put() const noexcept = 0;
  virtual bool try_put(Rank to, std::uint64_t offset, std::span<const std::byte> from,
                       std::uint64_t word, Completion& completion) = 0;
  // How many bits such a word may have: 64, or 32.
  virtual unsigned arrival_bits() const noexcept = 0;

  // Lets others access `range`, wherever it is, at least one byte. Memory that is registered
  // already, or was until lately, costs little. Throws Error: no RMA; no bytes; too much would be
  // pinned.
  virtual std::unique_ptr<Registration> register_memory(std::span<std::byte> range) = 0;
  virtual RegistrationStats registration_stats() const = 0;
  virtual const StrangerStats& stranger_stats() const noexcept = 0;
  virtual SendStats send_stats() const noexcept { return {}; }
  virtual LossStats loss_stats() const noexcept { return {}; }
  // Its one-sided access costs a message each, which the target answers when it polls: small ones
  // had better be sent together, as packets.
  virtual bool prefers_packets() const noexcept = 0;
  // Accesses and puts of at most so many bytes are faster as packets, even one alone.
  virtual std::size_t largest_packet_access() const noexcept { return 0; }

  // A descriptor that is readable when there is something to poll for, -1: none.
  virtual int wait_fd() const noexcept = 0;
  // Whether one may sleep on it: false when there is something already.
  virtual bool may_sleep() noexcept = 0;
  // How long one may sleep at most: not everything makes a descriptor readable. -1: no limit.
  virtual std::int64_t patience_ns() const noexcept = 0;

  virtual std::string describe() const = 0;  // in one line, for people
};

}  // namespace am::link
