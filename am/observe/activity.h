#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "am/types/types.h"
#include "shmem/flag.h"

// What a process of a job is doing, in memory that others of its node can read: for the report on a
// job that stands still (am/job/stall).

namespace am {

inline constexpr Rank kNobody = ~Rank{0};

// Why a call waits. Made by that call just before it sleeps, so it costs nothing before. All text
// is static.
struct Reason {
  Call call;
  const char* needs = nullptr;  // what is missing, such as "a credit"
  Rank peer = kNobody;          // which is to give it
  std::uint64_t have = 0;       // of `wanted`; 0 of 0: there is no such number
  std::uint64_t wanted = 0;
  const char* unit = nullptr;    // of these
  std::uint64_t collective = 0;  // number of this barrier in the job, from 1; 0: it is none
  bool needs_all = false;        // it can never come once a process of the job has died
};

// A Reason as others can read it. Texts end with 0.
struct WaitRecord {
  char call[48];
  char needs[48];
  char unit[16];
  char file[160];  // the end of a longer name
  std::uint32_t line;
  Rank peer;
  std::uint64_t caller;
  std::uint64_t have;
  std::uint64_t wanted;
  std::uint64_t collective;
  std::uint64_t progress;  // changes with every wait, and whenever `wanted` less `have` changes
};
static_assert(std::is_trivially_copyable_v<WaitRecord> && sizeof(WaitRecord) % 8 == 0);

// One per process, written by it alone. All zeros is valid. A layout that neighbours read
// (Card::kVersion), and splitcrun (Control::kVersion). Snapshots are read by describe_process()
// (am/job/stall) and Top (tools/splitcrun/top.h).
class alignas(64) Activity {
 public:
  enum class State : std::uint32_t {
    kRunning = 0,
    kWaiting = 1,   // the record says for what
    kFinished = 2,  // has passed its last collective call
  };

  static constexpr std::uint64_t kCallback = 1;  // not functions' addresses
  static constexpr std::uint64_t kReturned = 2;  // Endpoint::on_returned

  // What another process sees.
  struct Snapshot {
    State state = State::kRunning;
    std::int32_t pid = 0;           // 0: has not started the library
    std::uint64_t polls = 0;        // that it has made
    std::uint64_t handler = 0;      // the function that runs in one, one of the above, or 0
    Rank source = kNobody;          // sender of its message; for kReturned its destination
    std::uint32_t handled = 0;      // handlers that were called, modulo 2^32
    std::uint64_t far_packets = 0;  // that have come from other nodes
    std::uint64_t far_bytes = 0;    // exchanged with them: sent in packets, read and written by RMA
    std::uint64_t pieces = 0;       // of long accesses to them that are over
    std::uint32_t looks = 0;        // of its StallReporter; 0: it has none, or has not waited
    std::uint64_t collectives = 0;  // barriers that it had passed when it finished
    WaitRecord wait{};              // while kWaiting
  };

  // --- By the owner.
  // A job begins.
  void reset() noexcept;
  void finish(std::uint64_t collectives) noexcept;

  // A poll ends; leave_handler() was called if it has called handlers.
  void count_poll() noexcept { add(polls_, 1); }
  // So many packets have come from other nodes, and so many bytes have been exchanged in all. By
  // one thread at a time.
  void note_network(int packets, std::uint64_t bytes) noexcept {
    if (packets > 0) add(far_packets_, packets);
    far_bytes_.store(bytes, std::memory_order_relaxed);
  }
  // So many pieces of long accesses to other nodes are complete, with more of the same to come: a
  // wait for that, or for a process that waits for it, is making progress. Called by one thread at
  // a time.
  void count_pieces(std::uint64_t more) noexcept { add(pieces_, more); }
  // A StallReporter has observed the others.
  void count_look() noexcept { add(looks_, 1); }
  // `handler` runs for a message of `source`, until leave_handler() or the next call.
  template <class Function>
  void enter_handler(Function* handler, Rank source) noexcept {
    enter(reinterpret_cast<std::uintptr_t>(handler), source);
  }
  // The next handlers run for messages of `source`, each from its enter_next_handler() on.
  void begin_row(Rank source) noexcept { source_.store(source, std::memory_order_relaxed); }
  template <class Function>
  void enter_next_handler(Function* handler) noexcept {
    const auto word = reinterpret_cast<std::uintptr_t>(handler);
    if (handler_.load(std::memory_order_relaxed) != word) [[unlikely]]
      handler_.store(word, std::memory_order_relaxed);
    count_handler();
  }
  // Endpoint::on_returned runs for a message that was sent to `destination`, likewise.
  void enter_returned(Rank destination) noexcept { enter(kReturned, destination); }
  // Callbacks may run, until leave_handler().
  void enter_callbacks() noexcept { handler_.store(kCallback, std::memory_order_relaxed); }
  void leave_handler() noexcept { handler_.store(0, std::memory_order_relaxed); }

  // A handler that runs, and for whose message.
  struct Running {
    std::uint64_t handler = 0;  // 0: none does
    Rank source = kNobody;
    bool is_function() const noexcept { return handler > kReturned; }
  };
  Running running() const noexcept {
    return {handler_.load(std::memory_order_relaxed), source_.load(std::memory_order_relaxed)};
  }

  // One wait at a time is shown: false if that is another one.
  bool try_begin_wait() noexcept;
  void show_wait(const Reason& reason, std::uint64_t progress) noexcept;
  void end_wait() noexcept;

  // --- By any process.
  Snapshot read() const noexcept;

 private:
  static constexpr std::size_t kWords = sizeof(WaitRecord) / sizeof(std::uint64_t);

  // To what one thread at a time writes.
  template <class Number, class More>
  static void add(std::atomic<Number>& to, More more) noexcept {
    to.store(to.load(std::memory_order_relaxed) + static_cast<Number>(more),
             std::memory_order_relaxed);
  }
  void enter(std::uint64_t handler, Rank source) noexcept {
    handler_.store(handler, std::memory_order_relaxed);
    source_.store(source, std::memory_order_relaxed);
    count_handler();
  }
  void count_handler() noexcept { add(handled_, 1); }

  std::atomic<std::uint64_t> polls_;
  std::atomic<std::uint64_t> handler_;
  std::atomic<Rank> source_;
  std::atomic<std::uint32_t> handled_;
  std::atomic<State> state_;
  std::atomic<std::uint32_t> taken_;  // some bundle shows its wait
  std::atomic<std::int32_t> pid_;
  std::atomic<std::uint32_t> looks_;
  std::atomic<std::uint64_t> collectives_;
  std::atomic<std::uint64_t> far_packets_;
  std::atomic<std::uint64_t> far_bytes_;
  std::atomic<std::uint64_t> pieces_;
  shmem::SequenceLock lock_;  // of the record
  std::atomic<std::uint64_t> record_[kWords];
};
static_assert(sizeof(Activity) <= 512 && std::is_trivially_destructible_v<Activity>);

// Publishes the wait of one call, from its first sleep to its end or to the next progress. A wait
// inside the condition of another one that is published is not. Owned by the bundle's thread.
class ShownWait {
 public:
  explicit ShownWait(Activity& activity) noexcept : activity_(activity) {}
  ~ShownWait() { progressed(); }
  ShownWait(const ShownWait&) = delete;
  ShownWait& operator=(const ShownWait&) = delete;

  // Something was handled: the process does not stand still.
  void progressed() noexcept {
    asked_ = false;
    if (!shown_) [[likely]]
      return;
    shown_ = false;
    activity_.end_wait();
  }
  // Call it before a sleep. Returns true at the first.
  bool show(const Reason& reason) noexcept;

  // For the waiting call, from the first show() on: when it next checks whether the network still
  // works, and how long after the last time.
  std::int64_t verify_at_ns;
  std::int64_t verify_after_ns;

 private:
  Activity& activity_;
  bool asked_ = false;  // to show
  bool shown_ = false;
  std::uint64_t missing_ = 0;
  static inline std::atomic<std::uint64_t> progress_{0};  // of the process
  std::uint64_t own_progress_ = 0;
};

}  // namespace am
