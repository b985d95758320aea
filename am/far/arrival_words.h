#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>

#include "am/link/link.h"

namespace am {

// Receives notifications of puts.
class ArrivalSink {
 public:
  // A put has arrived for which this has added a word, with the number that was given with it.
  virtual void arrived(std::uint32_t arrival) = 0;

 protected:
  ~ArrivalSink() = default;
};

// The completion data by which other nodes notify this process of finished puts: for each channel a
// random word, which it gives only to processes that may put there. A network delivers completion
// data from anyone that reaches the process's address, so a word is accepted only if it was given
// out.
//
// Pure logic but for the source of random numbers. Thread rule: its callers are inside the port
// (am/route/port.h).
class ArrivalWords final : public link::WordSink {
 public:
  // `bits` of completion data that the network carries, 32 or more. `random` gives 64 unguessable
  // bits a call.
  explicit ArrivalWords(unsigned bits, std::function<std::uint64_t()> random = link::random_word)
      : mask_(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1),
        random_(std::move(random)) {}

  // A new word for `arrival` of `sink`, which lives as long as this, or until remove(). Never 0.
  std::uint64_t add(std::uint32_t arrival, ArrivalSink& sink) {
    for (;;) {
      const std::uint64_t word = random_() & mask_;
      if (word != 0 && arrivals_.try_emplace(word, Given{arrival, &sink}).second) return word;
    }
  }
  void remove(std::uint64_t word) noexcept { arrivals_.erase(word); }
  // Notifies the owner of that word. False: it has none, so it comes from outside the job.
  bool arrived(std::uint64_t word) override {
    const auto found = arrivals_.find(word);
    if (found == arrivals_.end()) [[unlikely]]
      return false;
    found->second.sink->arrived(found->second.arrival);
    return true;
  }

 private:
  // The words are random already.
  struct Same {
    std::size_t operator()(std::uint64_t word) const noexcept { return word; }
  };

  struct Given {
    std::uint32_t arrival;
    ArrivalSink* sink;
  };

  const std::uint64_t mask_;
  const std::function<std::uint64_t()> random_;
  std::unordered_map<std::uint64_t, Given, Same> arrivals_;
};

}  // namespace am
