// In which order a process does its operations of a round: any.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string_view>
#include <vector>

#include "tests/soak/round.h"

namespace am {
class Bundle;
}

namespace soak {

// Something that is tried until it has succeeded.
struct Step {
  std::string_view family;
  std::uint64_t id;
  std::function<bool()> attempt;  // true: done
};

// A call that all processes make in the same order, each between steps of its own.
struct Together {
  std::string_view family;
  std::function<bool()> ready;  // whether own steps that come before are done; empty: none do
  std::function<void()> call;
};

class Schedule {
 public:
  explicit Schedule(const Round& round);

  void add(std::string_view family, std::uint64_t id, std::function<bool()> attempt) {
    steps_.push_back({family, id, std::move(attempt)});
  }
  // For what is done at the first attempt.
  void add_once(std::string_view family, std::uint64_t id, std::function<void()> act) {
    add(family, id, [act = std::move(act)] {
      act();
      return true;
    });
  }
  // In all processes alike. Calls of one family stay in their order, those of several are mixed.
  void add_together(std::string_view family, std::function<void()> call,
                    std::function<bool()> ready = {}) {
    together_.push_back({family, std::move(ready), std::move(call)});
  }
  // Polled as often as the world's bundle in this round. Others may wait for it to be polled until
  // all processes have come to the end of their steps.
  void poll_also(am::Bundle& bundle) { bundles_.push_back(&bundle); }
  const std::vector<am::Bundle*>& bundles() const noexcept { return bundles_; }

  // Does everything, and goes on making progress until `arrived` is true.
  void run(const std::function<bool()>& arrived);

 private:
  void mix_together();
  bool collective_next();
  bool try_step();
  bool try_together();
  void idle();
  void poll();
  void await(const std::function<bool()>& arrived);

  const Round& round_;
  Random random_;  // of this process
  std::vector<Step> steps_;
  std::deque<Together> together_;
  std::vector<am::Bundle*> bundles_;
  std::uint32_t in_vain_ = 0;  // attempts since the last that succeeded
  std::uint32_t drowsiness_;   // of a thousand chances to pause
  bool slept_ = true;          // the one long pause of this round
};

// What this process is doing, for watch.h.
struct Doing {
  const Round* round = nullptr;
  const char* phase = "";
  std::string_view family;
  std::uint64_t id = 0;
  std::uint64_t done = 0;  // steps since the start
  std::size_t left = 0;    // steps of this round
};
extern Doing doing;

}  // namespace soak
