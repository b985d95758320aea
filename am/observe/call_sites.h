#pragma once

#include <atomic>
#include <cstdint>
#include <forward_list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "am/observe/observers.h"
#include "am/types/types.h"

namespace am {

// Which waits of a thread are timed from their beginning: reading a clock twice costs as much as a
// neighbour's answer takes. The first ones are, and later one in 64 by chance, which stands for 64;
// but again all of the next ones after one that took long. So the sum is right on the average,
// whatever the pattern of the program, and what is uncertain of it is made of very short times.
//
// (What is chosen depends on earlier waits only, so weights undo it: a Horvitz-Thompson estimator.)
class WaitSample {
 public:
  static constexpr std::uint32_t kOneIn = 64;
  static constexpr std::uint32_t kFirst = 1000;
  static constexpr std::uint32_t kAfterLong = 256;
  static constexpr std::int64_t kLongNs = 2000;

  // For how many waits the next one stands; 0: it is not timed.
  std::uint32_t next() noexcept {
    if (all_ != 0) {
      --all_;
      return 1;
    }
    chance_ = chance_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's, of MMIX
    return chance_ >> 58 == 0 ? kOneIn : 0;
  }
  // What was timed took so long.
  void took(std::int64_t ns) noexcept {
    if (ns >= kLongNs && all_ < kAfterLong) all_ = kAfterLong;
  }

 private:
  std::uint64_t chance_ = 1;
  std::uint32_t all_ = kFirst;  // so many more are timed all
};
static_assert(WaitSample::kOneIn == 1u << (64 - 58));

// What a process counts of its own calls while statistics are requested (SPLITC_STATS): operations
// with other nodes, or watched ones within the node, and time that was spent waiting, by call and
// place.
//
// Costs nothing while there is none but a load and a test, in calls that leave the node or wait.
// Counting takes some 5 ns, without a lock, at a place that the thread has used lately; else a lock
// and a search, some 40. Any thread; it begins and ends while no other thread is inside.
class CallSites {
 public:
  struct Traffic {
    std::uint64_t operations = 0;
    std::uint64_t bytes = 0;

    Traffic& operator+=(const Traffic& other) noexcept {
      operations += other.operations;
      bytes += other.bytes;
      return *this;
    }
  };
  struct Site {
    Call call;
    Traffic far = {};             // with other nodes
    Traffic near = {};            // within the node, where that is watched
    std::uint64_t waits = 0;      // calls that did not return at once
    std::uint64_t waited_ns = 0;  // ... in these; of very short ones by a sample (WaitSample)
    const char* needs = "";       // what was missing in one of the last, as in Reason; static
  };
  static constexpr std::size_t kMost = 1000;  // places; what comes from others is called kOthers
  static constexpr const char* kOthers = "other places";

  // This one counts from now on. One at a time.
  explicit CallSites(std::uint32_t processes);
  ~CallSites();
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // An operation of `bytes` with the memory of `to`, or a message to it.
  void count(const Call& call, Rank to, std::uint64_t bytes);
  void count_near(const Call& call, Rank to, std::uint64_t bytes);
  // A wait has ended, of which so much time is to be added. `needs`: static, or nullptr.
  void waited(const Call& call, std::int64_t ns, const char* needs = nullptr);
  // Which waits of the calling thread are timed from their beginning.
  WaitSample& sample() { return of_this_thread().sample; }

  // So far, in no order; and by process.
  std::vector<Site> sites() const;
  std::vector<Traffic> traffic() const;

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;  // numbers: nothing goes with them

  // A count of one thread, which adds to it; any thread may read.
  class Counter {
   public:
    void add(std::uint64_t n) noexcept { value_.store(value() + n, kRelaxed); }
    std::uint64_t value() const noexcept { return value_.load(kRelaxed); }

   private:
    std::atomic<std::uint64_t> value_{0};
  };
  struct Route {
    Counter operations;
    Counter bytes;

    void add(std::uint64_t moved) noexcept {
      operations.add(1);
      bytes.add(moved);
    }
    Traffic traffic() const noexcept { return {operations.value(), bytes.value()}; }
  };
  // What one thread has counted at one place.
  struct Counts {
    explicit Counts(const void* thread) noexcept : thread(thread) {}

    const void* const thread;
    Route far;
    Route near;
    Counter waits;
    Counter waited_ns;
    std::atomic<const char*> needs{nullptr};
  };
  struct SharedTraffic {  // several threads add to it
    std::atomic<std::uint64_t> operations{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  // The places that a thread has used lately.
  struct Lately {
    static constexpr std::size_t kLines = 64;
    struct Line {
      Call call;
      Counts* counts = nullptr;
    };
    std::uint64_t serial = 0;  // of what these belong to; 0: of nothing
    Line lines[kLines];
    WaitSample sample;
  };
  struct Same {
    bool operator()(const Call& a, const Call& b) const noexcept;
  };
  struct Hash {
    std::size_t operator()(const Call& call) const noexcept;
  };

  Lately& of_this_thread();
  Counts& counts(const Call& call);
  Counts& find(const Call& call, const void* thread);
  void add_traffic(Rank to, std::uint64_t bytes) noexcept;

  const std::uint64_t serial_;
  std::vector<SharedTraffic> traffic_;
  mutable std::mutex mutex_;
  // Guarded by the mutex, but for the counts themselves. A thread that begins where another has
  // ended goes on with the counts of that one.
  std::unordered_map<Call, std::forward_list<Counts>, Hash, Same> sites_;
};

}  // namespace am
