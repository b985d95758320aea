#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

namespace am {

// The completion data by which other nodes notify this process of finished puts: for each channel a
// random word, which it gives only to those who may put there. A network delivers completion data
// of anybody who reaches the process's address, so a word is believed only if it was given out.
//
// Pure logic but for the source of random numbers. Thread rule: the bundle's.
class ArrivalWords {
 public:
  // `bits` of completion data that the network carries, 32 or more. `random` gives 64 unguessable
  // bits a call; without one they come from the system. Throws Error when the system has none.
  explicit ArrivalWords(unsigned bits, std::function<std::uint64_t()> random = {});

  // A new word for `arrival`, which so far has none. Never 0.
  std::uint64_t add(std::uint32_t arrival);
  void remove(std::uint64_t word) noexcept { arrivals_.erase(word); }
  // What was given that word; std::nullopt: nothing, so it comes from outside the job.
  std::optional<std::uint32_t> find(std::uint64_t word) const noexcept {
    const auto found = arrivals_.find(word);
    if (found == arrivals_.end()) [[unlikely]]
      return std::nullopt;
    return found->second;
  }

 private:
  // The words are random already.
  struct Same {
    std::size_t operator()(std::uint64_t word) const noexcept { return word; }
  };

  std::uint64_t from_system();

  const std::uint64_t mask_;
  const std::function<std::uint64_t()> random_;
  std::unordered_map<std::uint64_t, std::uint32_t, Same> arrivals_;
  std::array<std::uint64_t, 32> fetched_{};  // from the system, several at a time
  std::size_t left_ = 0;                     // of these
};

}  // namespace am
