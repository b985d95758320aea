#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/link/link.h"
#include "am/sync/locks.h"
#include "am/types/function.h"
#include "am/types/link_stats.h"
#include "am/types/types.h"
#include "shmem/doorbell.h"

namespace am {

class Rings;
class Router;
namespace link {
class ProgressThread;
}

// Something that may wait for room at the network, or for an answer.
class Resumed {
 public:
  // Starts what found no room before. Called by every poll.
  virtual void resume() = 0;
  // Nothing is in flight, so that nothing need be expected.
  virtual bool idle() const noexcept = 0;

 protected:
  ~Resumed() = default;
};

// A process's connection to the network, in a job that has processes on other nodes: owns the link
// to them. All rooms above share it, and register for the packets that are theirs.
//
// Thread rule: any thread. Whoever calls the link, or a room that several bundles share (am/far,
// am/core/far), has its Lock meanwhile, which one thread at a time can be. What comes is then read
// by whichever thread polls, and put aside for the bundle that it is for (am/core/far/messages.h).
// A process whose far calls all come from one thread pays for none of that, see BiasedLock.
class Port {
 public:
  // For as long as it lives, this thread has the port, the link and the rooms that share them for
  // itself. It may have several. User code runs inside only while alone().
  class Lock {
   public:
    [[gnu::always_inline]] explicit Lock(Port& port) noexcept : port_(port) {
      port_.lock_.lock();
      if (!alone()) [[unlikely]]
        port_.attention_.store(kAttention, std::memory_order_relaxed);
    }
    [[gnu::always_inline]] ~Lock() { port_.lock_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    // No other thread has ever been inside.
    bool alone() const noexcept { return port_.alone(); }

   private:
    Port& port_;
  };
  // A Lock unless another thread has it, or waits for it: then this one has not.
  class TryLock {
   public:
    explicit TryLock(Port& port) noexcept : lock_(port.lock_), inside_(lock_.try_lock()) {}
    ~TryLock() {
      if (inside_) lock_.unlock();
    }
    TryLock(const TryLock&) = delete;
    TryLock& operator=(const TryLock&) = delete;

    explicit operator bool() const noexcept { return inside_; }
    bool alone() const noexcept { return inside_ && lock_.biased(); }

   private:
    BiasedLock& lock_;
    const bool inside_;
  };

  // A Lock without a scope: both are called by the same thread.
  void enter() noexcept { lock_.lock(); }
  void leave() noexcept { lock_.unlock(); }

  // `progress_thread`: a thread makes progress while nobody polls; the link was made for several
  // threads.
  // `router` outlives the port and reaches this process itself already.
  Port(Router& router, Owned<link::Link> link, bool progress_thread = false);
  ~Port();

  link::Link& link() noexcept { return *link_; }
  // Registers `memory` with the network, which has Capabilities::rma; it also ends inside the port.
  std::shared_ptr<link::Registration> register_memory(std::span<std::byte> memory);
  SendStats send_stats() {
    const Lock lock(*this);
    return link_->stats().sent;
  }
  LossStats loss_stats() {
    const Lock lock(*this);
    return link_->stats().lost;
  }

  // They live until the last poll, and are called inside.
  void add(link::Type type, link::TypeSink& sink) noexcept {
    const Lock lock(*this);
    sinks_.add(type, sink);
  }
  void add(link::WordSink& sink) noexcept {
    const Lock lock(*this);
    sinks_.add(sink);
  }
  void add(Resumed& resumed) {
    const Lock lock(*this);
    resumed_.push_back(&resumed);
  }

  // By a thread that is inside: no other has ever been.
  bool alone() const noexcept { return lock_.biased(); }
  // By a thread that is not inside: from now on no thread is alone. Waits until the one that is, if
  // it is inside, has come out.
  void end_solitude() noexcept { lock_.be_unbiased(); }
  // In a child that was forked (am/types/forked.h): nothing reaches the network any more.
  void spoil() noexcept;

  // For callers that will not poll soon: sends now what waits to be coalesced. False: there was no
  // room for all, and later polls send the rest.
  bool flush() {
    const Lock lock(*this);
    return link_->flush();
  }
  // Passes what has come to the sinks; returns how much. Inside. While the thread is not alone, the
  // others are woken if anything has come but what is put_aside_here().
  int poll();
  // Whether a loop that spins is to poll: most times not while nothing is known to be in flight to
  // this process, as polling the network costs much more than polling the neighbours' memory.
  bool worth_a_look() noexcept { return expects() || skip() >= kSkipped; }
  // Polls up to the first packet that a sink keeps. Whether there is one. While the thread is
  // not alone, nothing is kept: sinks put everything aside. Inside.
  bool fetch();
  // A sink has put a packet aside that only the calling thread is waiting for.
  void put_aside_here() noexcept { ++here_; }
  // The process's other threads may have something to do: wakes those that sleep.
  void wake_others() noexcept;

  // Ends the progress thread: from now on the network makes progress only in polls, and memory of
  // operations that are in flight may be freed.
  void stop_progress() noexcept;

  // Ends the job: that packet is damaged.
  [[noreturn]] void refuse(Rank from, const link::PacketHeader& packet) const;

  // Sleeps until something comes from the network or a neighbour rings, at most `timeout_ns`
  // (from 0). The doorbell's ticket has been taken and fetch() found nothing. Any number of threads
  // may sleep; not inside.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;

  // For a caller that sleeps on the same descriptors outside the library (EventDescriptor): whether
  // that is safe now, as for sleep(), and for how long at most, if that is less than `limit_ns`. It
  // then counts as asleep until disarm(). Do not hold the lock, as for sleep().
  bool arm(std::uint32_t ticket, std::int64_t& limit_ns) noexcept;
  void disarm() noexcept;
  // Takes back all rings so far, unless a thread sleeps, which does that.
  void take_back_rings() noexcept;

  // Makes progress on the network until `done`. Not inside a poll of a bundle: messages stay for
  // the next.
  void bring_on_until(const bool& done) noexcept;
  // Runs `blocking`, which waits for other processes outside the library, while a thread of its own
  // makes progress on the network: outstanding sends may need this process to keep polling (no
  // hardware progress), and others may read and write its segment. No handler runs. `blocking`
  // stays in the calling thread, as it may belong to a library that asks for that (MPI).
  void tend_while(FunctionRef<void()> blocking);

 private:
  friend class Expectation;

  static constexpr int kAttention = 2000;  // polls without result before they become rarer
  static constexpr int kSkipped = 150;     // spins without a network poll, about 50 ns each
  static constexpr int kRounds = 16;       // polls of the link that one among threads makes at most

  // How many times in a row the network was not polled; any thread, approximately.
  int skip() noexcept {
    const int now = skipped_.load(std::memory_order_relaxed) + 1;
    skipped_.store(now, std::memory_order_relaxed);
    return now;
  }
  bool expects() noexcept;
  void resume();
  void forget_dead();
  int poll_among_threads(bool all);
  bool fetch_inside();
  bool fall_asleep(std::uint32_t ticket, std::int64_t& limit_ns) noexcept;
  void wake_up(bool rung) noexcept;
  void tend_until(const std::atomic<bool>& done);

  // Constant after construction, or after the first poll.
  Router& router_;
  Owned<link::Link> link_;
  Rings& rings_;
  link::PacketSinks sinks_;
  std::vector<Resumed*> resumed_;
  BiasedLock lock_;
  // Guarded by lock_.
  int here_ = 0;                 // packets of this poll that only the calling thread waits for
  int sleepers_ = 0;             // threads in sleep(), and armed descriptors
  int armed_ = 0;                // of these, armed descriptors
  bool drained_ = true;          // the last poll among threads has left nothing
  std::uint32_t forgotten_ = 0;  // of Router::deaths()
  std::uint64_t pieces_ = 0;     // of long accesses, that have been counted
  // Written under the lock, or where a lost update does no harm: they say when to poll, and publish
  // no other memory.
  std::atomic<int> attention_{0};
  std::atomic<int> skipped_{0};
  std::atomic<int> expected_{0};          // by all Expectations
  Owned<link::ProgressThread> progress_;  // ends first
};

// How many packets its owner waits for: while there are any, loops that spin poll the network every
// time. Its destructor takes back what is still expected.
//
// Thread rule: one thread at a time. The port outlives it.
class Expectation {
 public:
  explicit Expectation(Port& port, int count = 0) noexcept : port_(port) { add(count); }
  ~Expectation() { add(-count_); }
  Expectation(const Expectation&) = delete;
  Expectation& operator=(const Expectation&) = delete;

  void one_more() noexcept { add(1); }
  void one_came() noexcept { add(-1); }

 private:
  void add(int count) noexcept {
    if (count == 0) return;
    count_ += count;
    const Port::Lock network(port_);
    port_.expected_.store(port_.expected_.load(std::memory_order_relaxed) + count,
                          std::memory_order_relaxed);
  }

  Port& port_;
  int count_ = 0;
};

}  // namespace am
