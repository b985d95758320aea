#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "am/link/link.h"
#include "am/link/packet_sinks.h"
#include "am/link/progress_thread.h"
#include "am/types/types.h"
#include "shmem/doorbell.h"

namespace am {

class Router;

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
// Thread rule: the bundle's. A job that has a port has one thread inside its bundles at a time.
class Port {
 public:
  struct Options {
    bool progress_thread =
        false;  // a thread makes progress while nobody polls; the link was made for several threads
  };

  // `router` outlives the port and reaches this process itself already.
  Port(Router& router, std::unique_ptr<link::Link> link, const Options& options);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  link::Link& link() noexcept { return *link_; }

  // Before the first poll; both live until the last.
  void add(link::Type type, link::TypeSink& sink) noexcept { sinks_.add(type, sink); }
  void add(link::WordSink& sink) noexcept { sinks_.add(sink); }
  void add(Resumed& resumed) { resumed_.push_back(&resumed); }

  // Passes what has come to the sinks; returns how much.
  int poll();
  // Whether a loop that spins is to poll: most times not while nothing is known to be in flight to
  // this process, as polling the network costs much more than polling the neighbours' memory.
  bool worth_a_look() noexcept { return expects() || ++skipped_ >= kSkipped; }
  // As poll(), up to the first packet that a sink keeps. Whether there is one.
  bool fetch();

  // Ends the progress thread: from now on the network makes progress only while somebody polls, and
  // memory of operations that are in flight may be freed.
  void stop_progress() noexcept { progress_.reset(); }

  // Ends the job: that packet is damaged.
  [[noreturn]] void refuse(Rank from, const link::PacketHeader& packet) const;

  // Sleeps until something comes from the network or a neighbour rings, at most `timeout_ns`
  // (from 0). The doorbell's ticket has been taken and fetch() found nothing.
  void sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept;

  // Makes progress on the network until `done`. Not inside a poll of a bundle: messages stay for
  // the next.
  void bring_on_until(const bool& done) noexcept;
  // Runs `blocking`, which waits for other processes outside the library, while a thread of its own
  // makes progress on the network: outstanding sends may need this process to keep polling (no
  // hardware progress), and others may read and write its segment. No handler runs. `blocking`
  // stays in the calling thread, as it may belong to a library that asks for that (MPI).
  void tend_while(const std::function<void()>& blocking);

 private:
  friend class Expectation;

  static constexpr int kAttention = 2000;  // polls without result before they become rarer
  static constexpr int kSkipped = 150;     // spins without a network poll, about 50 ns each

  bool expects() const noexcept;
  void resume();
  void tend_until(const std::atomic<bool>& done);

  // Constant after construction, or after the first poll.
  Router& router_;
  std::unique_ptr<link::Link> link_;
  shmem::DoorbellSocket rung_;
  link::PacketSinks sinks_;
  std::vector<Resumed*> resumed_;
  // Owned by whoever is inside.
  int attention_ = 0;
  int skipped_ = 0;
  int expected_ = 0;                              // by all Expectations
  std::optional<link::ProgressThread> progress_;  // ends first
};

// How many packets its owner waits for: while there are any, loops that spin poll the network every
// time. Its destructor takes back what is still expected.
//
// Thread rule: the port's, which outlives it.
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
    count_ += count;
    port_.expected_ += count;
  }

  Port& port_;
  int count_ = 0;
};

}  // namespace am
