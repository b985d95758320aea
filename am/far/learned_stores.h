#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "am/far/arrival_words.h"
#include "am/far/one_sided.h"
#include "am/link/link.h"
#include "am/types/link_stats.h"
#include "am/types/types.h"

namespace am {

// Notices large stores that repeat - same target, size and counter - and gives each a put channel
// of its own: then the bytes and their count are one write with completion data, instead of a write
// and a packet behind it. (The "automatic learning framework" that CkDirect's authors wished for.)
//
// The sender asks when a store comes the third time; until the answer is there, and if there is no
// room for more, stores go as ever.
//
// Thread rule: its callers are inside the port (am/route/port.h).
class LearnedStores final : public ArrivalSink {
 public:
  // All outlive it.
  LearnedStores(link::Link& link, OneSided& one_sided, ArrivalWords& words) noexcept
      : link_(link), one_sided_(one_sided), words_(words) {}

  // Before, stores go as ever. What others ask is answered all the same.
  void enable() noexcept { enabled_ = link_.can().notified_write != 0; }
  // How a store may be put: the word of its target. std::nullopt: it goes as ever.
  std::optional<std::uint64_t> find(Rank to, std::uint64_t offset, std::uint64_t bytes,
                                    std::uint64_t counter);

  // That put. False: no room now.
  bool try_put(const link::RmaAccess& put, link::Completion& completion);

  // A packet has come. False: it is damaged, or answers nothing.
  bool take_question(Rank from, const link::Learn& packet);  // kLearn
  bool take_answer(Rank from, const link::Learn& packet);    // kLearned
  // A put is complete.
  void arrived(std::uint32_t arrival) override;

  const LearningStats& stats() const noexcept { return stats_; }

 private:
  static constexpr int kTimes = 3;                    // that a store has to come
  static constexpr std::size_t kWatched = 4096;       // stores that are remembered
  static constexpr std::uint32_t kNumbers = 1 << 16;  // channels here

  struct Key {
    Rank to;
    std::uint64_t offset;
    std::uint64_t bytes;
    std::uint64_t counter;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Repeated {
    int times = 0;
    std::optional<std::uint64_t> word;  // of the target, once it is learned
  };
  struct Target {  // of this process
    std::uint64_t counter;
    std::uint64_t bytes;
  };

  void ask(const Key& key);

  // Constant after construction.
  link::Link& link_;
  OneSided& one_sided_;
  ArrivalWords& words_;
  // Guarded by the port's lock.
  bool enabled_ = false;
  std::unordered_map<Key, Repeated, Hash> repeated_;
  struct Question {
    Rank to;
    Repeated* about;  // nullptr: answered
  };
  std::vector<Question> asked_;  // by number
  std::vector<Target> targets_;  // by number
  LearningStats stats_;
};

}  // namespace am
