// One round of the soak program: what all processes draw alike, and how a failure is reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/soak/random.h"

namespace soak {

// What the command line says; see main.cc.
struct Settings {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;    // round
  std::uint64_t rounds = 20;  // 0: until `seconds` have passed
  double seconds = 0;
  std::uint64_t max_bytes = 1 << 20;  // of one operation
  std::uint32_t operations = 24;  // of each family, started by each process in each round: about
  bool pauses = true;
  bool verbose = false;
};

class Round {
 public:
  Round(const Settings& settings, std::uint64_t number, std::uint32_t me, std::uint32_t procs)
      : settings_(settings), number_(number), me_(me), procs_(procs) {}

  const Settings& settings() const noexcept { return settings_; }
  std::uint64_t number() const noexcept { return number_; }
  std::uint32_t me() const noexcept { return me_; }
  std::uint32_t procs() const noexcept { return procs_; }

  // The same numbers in every process, and others in each.
  Random for_all(std::string_view family) const noexcept {
    return Random(hash(settings_.seed, number_, hash(family)));
  }
  Random for_me(std::string_view family) const noexcept {
    return Random(hash(settings_.seed, number_, hash(family), me_ + 1));
  }
  // Of operation `id`.
  std::uint64_t key(std::string_view family, std::uint64_t id) const noexcept {
    return hash(settings_.seed, number_, hash(family), 0, id);
  }
  // About as many operations as the settings say, some rounds many more or hardly any.
  std::uint32_t operations(Random& random) const noexcept;

  // Prints what was wrong, with all that is needed to do the same again, and ends the job. In any
  // state: also in handlers.
  [[noreturn]] void fail(std::string_view family, std::uint64_t id, const std::string& what) const;
  // The same if `what` is not empty.
  void expect(const std::string& what, std::string_view family, std::uint64_t id,
              const std::string& where) const {
    if (!what.empty()) [[unlikely]]
      fail(family, id, where + ": " + what);
  }

 private:
  const Settings& settings_;
  const std::uint64_t number_;
  const std::uint32_t me_;
  const std::uint32_t procs_;
};

}  // namespace soak
