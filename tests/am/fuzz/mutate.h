// Inputs that are nearly valid.
#pragma once

#include <random>

#include "tests/am/fuzz/fuzz.h"

namespace am::fuzz {

// Changes inputs at random, equally for equal seeds.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  // One of `valid` with a few changes: records lost, doubled, exchanged, cut, longer; bits, bytes
  // and numbers within them that are others.
  Records mutate(const std::vector<Records>& valid);

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }
  void change(Records& records);
  void change(Bytes& record);
  void set_number(Bytes& record);

  std::mt19937_64 random_;
};

}  // namespace am::fuzz
