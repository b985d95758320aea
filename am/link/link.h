// am/link: packets between nodes, and the network that carries them. It knows bytes, ranks and
// types of packets, but not what a packet means: its receivers have registered (PacketSinks). It
// uses am/types, am/table, shmem, and, in fabric/ and datagram/ alone, rdma and am/sodium. Packets
// from one process to another arrive once and in order; everything that arrives is checked before
// it is used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "am/link/memory.h"
#include "am/link/packet.h"
#include "am/types/forked.h"
#include "am/types/link_stats.h"
#include "am/types/types.h"

namespace am::link {

// Receives what comes from the network.
class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // `packet` is as long as it says, and valid until return. What this throws leaves Link::poll(),
  // which goes on with the next packet when called again.
  virtual void deliver(Rank from, const PacketHeader& packet) = 0;
  // An RmaAccess::kWriteAndNotify with that word is complete: its bytes are there. Called inside
  // fetch(), too. False: this process has never given out that word.
  virtual bool arrived(std::uint64_t word) = 0;
  // Whether Link::fetch() leaves it to poll().
  virtual bool keeps(const PacketHeader& packet) const noexcept = 0;
};

// What a link can do, constant from its construction on.
struct Abilities {
  std::size_t frame_bytes = 16'384;  // about so many bytes of packets leave in one system call

  // Accesses cost a message each, which the target answers when it polls: small ones had better be
  // packets, which share a system call.
  bool emulated = false;
  // Writes of up to so many bytes that a packet announces are best sent as packets ahead of it. 0:
  // the link has no preference.
  std::size_t packet_write = 0;

  bool rma = false;                // one-sided access, which what follows needs
  std::size_t ordered_write = 0;   // most bytes of RmaAccess::kWriteBeforePackets
  std::size_t notified_write = 0;  // most bytes of RmaAccess::kWriteAndNotify
  unsigned word_bits = 64;         // of its words: 64, or 32
  Registrar* registrar = nullptr;  // lives as long as the link

  // What claim() has given may be written for as long as nothing else is claimed, and not be
  // committed at all. Claimed again for fewer bytes it is the same place, unless a packet to that
  // process was committed: then it is another, or SendStats::sends has changed.
  bool keeps_claims = false;

  int wait_fd = -1;  // readable when there is something to poll for; -1: there is none
  // Makes the network progress without taking packets, in any thread. Empty: only polls do.
  std::function<void()> drive;
  std::string description;  // in one line, for people
};

// What a link has counted since its start.
struct LinkStats {
  SendStats sent;
  LossStats lost;
  StrangerStats strangers;
};

// A packet that has left its sender's hands and may grow at its end: its frame has not been sent,
// and nothing else has been committed to that process. Code that extends it adds to its header's
// `bytes`, and here.
struct Tail {
  std::byte* packet = nullptr;  // nullptr: there is none
  std::uint32_t room = 0;       // bytes that it may still grow by
  std::uint64_t until = 0;      // by am::ticks(): from then on another packet should be begun
  std::uint32_t look_at = 0;    // bytes of the packet from which on to check that clock
  // State of its frame: the bytes so far, and how often something was added to it.
  std::uint32_t* bytes = nullptr;
  std::uint32_t* commits = nullptr;
};

// What the caller that commits a packet knows of the next one to the same process.
enum class Next : std::uint8_t {
  kUnknown,
  kSoon,  // it is committed before anything else is done
  kSame,  // it may be more of the same, which makes this one longer
};

// How a packet that is committed now would be sent.
enum class Queue : std::uint8_t {
  kEmpty,     // at once
  kOpen,      // with others, as one has left just now
  kFull,      // behind so many that what can wait should: poll first
  kTogether,  // in one operation with the write that it announces
};

// What Active Messages need from a way of reaching the processes of other nodes.
//
// Packets to one process arrive once, in the order of their commits; when they leave is the link's
// affair. Connections are made at the first use. A process that cannot be reached any more ends the
// job, with a sentence; unless the job goes on without its dead, see forget().
//
// Thread rule: one thread at a time. No call blocks.
class Link {
 public:
  virtual ~Link() = default;

  const Abilities& can() const noexcept { return can_; }
  const LinkStats& stats() const noexcept { return stats_; }

  // Room for a packet of `bytes`, a multiple of 8 up to kMaxPacket. Next comes commit().
  virtual std::byte* claim(Rank to, std::uint32_t bytes) = 0;
  // The packet leaves, now or with the next poll(). With Next::kSame: its tail until then, or until
  // the next claim; the same object for a process as long as the link lives, nullptr: there is none
  // on this link.
  virtual Tail* commit(Rank to, Next next = Next::kUnknown) = 0;
  // Both, for a packet that is made elsewhere.
  void send(Rank to, std::span<const std::byte> packet) {
    std::memcpy(claim(to, static_cast<std::uint32_t>(packet.size())), packet.data(), packet.size());
    commit(to);
  }
  // How a packet would be sent now. With `written`, the bytes of a write that it announces:
  // kTogether if both are best one operation. (The first such question makes the link ask the other
  // process for room.)
  virtual Queue queue(Rank to, std::size_t written = 0) = 0;
  // For callers that will not poll soon: sends all that was committed now. False: there was no room
  // for all.
  virtual bool flush() = 0;

  // Starts an access; needs can().rma. False: no room, poll first. The local memory, registered or
  // not, and `completion` live until completion.done().
  virtual bool try_access(const RmaAccess& access, Completion& completion) = 0;

  // Delivers what has arrived and starts what could not start before; returns how many packets and
  // completions there were.
  int poll(PacketSink& sink) { return take(sink, false); }
  // Polls up to the first packet that the sink keeps for poll(). Whether there is one.
  bool fetch(PacketSink& sink) { return take(sink, true) != 0; }
  // Operations in flight and packets queued: they need poll() to make progress.
  virtual bool busy() const noexcept = 0;
  // How long one may sleep on can().wait_fd at most, as not everything makes it readable. 0: there
  // is something to poll for already; -1: no limit.
  virtual std::int64_t longest_sleep_ns() noexcept = 0;

  // Asks every process that this one has talked to for a sign of life. So a connection that was
  // lost without an error is noticed, and the job ends with a sentence. For calls that have waited
  // for long. Costs a packet for each process.
  virtual void verify() = 0;
  // That process has died, and the job goes on without it: drops what is queued for it and what
  // comes of it, and what is committed to it from now on. Accesses to it end by a later poll, and
  // what they were to read is undefined.
  virtual void forget(Rank dead) = 0;

 protected:
  // poll(), or fetch() if `keeping`, which returns whether there is a packet that is kept.
  virtual int take(PacketSink& sink, bool keeping) = 0;

  Abilities can_;
  LinkStats stats_;
};

// In a child that was forked (am/types/forked.h): `link` becomes one on which nothing comes and
// nothing leaves. The former link is not ended, as its connections are the parent's: its owner
// forgets it instead of deleting it.
void spoil(Link& link) noexcept;

// 64 bits that cannot be guessed, from the system. Throws Error when it has none.
std::uint64_t random_word();

// Takes packets of some types.
//
// Thread rule: the link's.
class TypeSink {
 public:
  // False: the packet is damaged. What this throws leaves Link::poll(), see PacketSink.
  virtual bool take(Rank from, const PacketHeader& packet) = 0;
  // Whether Link::fetch() leaves it to poll(), as it may run a handler.
  virtual bool keeps(const PacketHeader&) const noexcept { return false; }

 protected:
  ~TypeSink() = default;
};

// Takes the words of puts that have arrived.
class WordSink {
 public:
  // False: this process has never given out that word.
  virtual bool arrived(std::uint64_t word) = 0;

 protected:
  ~WordSink() = default;
};

// Distributes what comes from the network. The rooms above register for what is theirs, once,
// before the first poll, so no room below knows them.
class PacketSinks final : public PacketSink {
 public:
  // `refuse` ends the job for a packet that is damaged, or of a type without a sink; it does not
  // return.
  explicit PacketSinks(std::function<void(Rank from, const PacketHeader& packet)> refuse)
      : refuse_(std::move(refuse)) {}

  // `sink` lives as long as packets come.
  void add(Type type, TypeSink& sink) noexcept { by_type_[static_cast<std::size_t>(type)] = &sink; }
  void add(WordSink& sink) noexcept { words_ = &sink; }

  void deliver(Rank from, const PacketHeader& packet) override {
    TypeSink* const sink = find(packet);
    if (sink == nullptr || !sink->take(from, packet)) [[unlikely]]
      refuse_(from, packet);
    if (is_forked()) [[unlikely]]
      end_forked("the end of a handler");
  }
  bool arrived(std::uint64_t word) override { return words_ != nullptr && words_->arrived(word); }
  bool keeps(const PacketHeader& packet) const noexcept override {
    const TypeSink* const sink = find(packet);
    return sink != nullptr && sink->keeps(packet);
  }

 private:
  TypeSink* find(const PacketHeader& packet) const noexcept {
    const auto type = static_cast<std::size_t>(packet.type);
    return type < by_type_.size() ? by_type_[type] : nullptr;
  }

  const std::function<void(Rank, const PacketHeader&)> refuse_;
  std::array<TypeSink*, kTypes> by_type_{};
  WordSink* words_ = nullptr;
};

// A packet that ends with data, or one that is as long as all of its kind. nullptr: it is not.
template <class Packet>
const Packet* as(const PacketHeader& head) noexcept {
  return head.bytes >= sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}
template <class Packet>
const Packet* as_exactly(const PacketHeader& head) noexcept {
  return head.bytes == sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}

}  // namespace am::link
