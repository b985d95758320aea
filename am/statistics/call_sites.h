// am/statistics: what a process counts of its own calls, by the places in the program where they
// stand, while somebody wants to know (SPLITC_STATS). It uses am/types only.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "am/types/clock.h"
#include "am/types/source_location.h"
#include "am/types/types.h"

namespace am {

// Which call of the program, and where it stands, as far as that is known. All text is static.
struct CallPlace {
  const char* call = "";         // as the program knows it, such as "barrier"
  SourceLocation where = {};     // line 0: not known
  const void* caller = nullptr;  // instead: where in the program it returns to
};

// Operations with other nodes, or watched ones within the node, and time that was spent waiting, by
// call and place.
//
// Costs nothing while there is none but a load and a test, in calls that leave the node or wait.
// Counting takes a lock and a search, some 40 ns. Any thread; it begins and ends while no other
// thread is inside.
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
    CallPlace place;
    Traffic far = {};             // with other nodes
    Traffic near = {};            // within the node, where somebody watches that
    std::uint64_t waits = 0;      // calls that did not return at once
    std::uint64_t waited_ns = 0;  // ... in these
    const char* needs = "";       // what was missing in the last of them, as in Reason; static
  };
  static constexpr std::size_t kMost = 1000;  // places; what comes from others is called kOthers
  static constexpr const char* kOthers = "other places";
  static constexpr const char* kCredit = "a credit";  // needs of a sender whose receiver is behind

  // This one counts from now on. One at a time.
  explicit CallSites(std::uint32_t processes);
  ~CallSites();
  CallSites(const CallSites&) = delete;
  CallSites& operator=(const CallSites&) = delete;

  // The one that counts; nullptr: nobody wants to know.
  static CallSites* active() noexcept { return active_.load(std::memory_order_relaxed); }

  // An operation of `bytes` with the memory of `to`, or a message to it.
  void count(const CallPlace& place, Rank to, std::uint64_t bytes) {
    count(place, &Site::far, to, bytes);
  }
  void count_near(const CallPlace& place, Rank to, std::uint64_t bytes) {
    count(place, &Site::near, to, bytes);
  }
  // `needs`: static, or nullptr.
  void waited(const CallPlace& place, std::int64_t ns, const char* needs = nullptr);

  // So far, in no order; and by process.
  std::vector<Site> sites() const;
  std::vector<Traffic> traffic() const;

 private:
  struct Same {
    bool operator()(const CallPlace& a, const CallPlace& b) const noexcept;
  };
  struct Hash {
    std::size_t operator()(const CallPlace& place) const noexcept;
  };

  void count(const CallPlace& place, Traffic Site::*route, Rank to, std::uint64_t bytes);
  Site& site(const CallPlace& place);

  static inline std::atomic<CallSites*> active_ = nullptr;

  mutable std::mutex mutex_;
  // Owned by whoever has the mutex.
  std::unordered_map<CallPlace, Site, Hash, Same> sites_;
  std::vector<Traffic> traffic_;
};

// The time of one wait, on behalf of what `explain()` says at its end.
template <class Explain>
class TimedWait {
 public:
  explicit TimedWait(const Explain& explain)
      : explain_(explain),
        sites_(CallSites::active()),
        begin_ns_(sites_ != nullptr ? now_ns() : 0) {}
  ~TimedWait() {
    if (sites_ == nullptr) [[likely]]
      return;
    const auto reason = explain_();
    sites_->waited({reason.call, reason.where, reason.caller}, now_ns() - begin_ns_, reason.needs);
  }
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

 private:
  const Explain& explain_;
  CallSites* const sites_;
  const std::int64_t begin_ns_;
};

}  // namespace am
