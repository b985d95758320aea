// The one seed from which a test program makes all its random choices.
#pragma once

#include <cstdint>
#include <optional>

namespace test {

// Takes --seed=N out of the program's arguments; none if it is not there.
std::optional<std::uint64_t> take_seed(int& argc, char** argv);

// Without --seed every run makes the same choices.
inline constexpr std::uint64_t kUsualSeed = 1;

// The program's seed; main() sets it, and prints it if `print`.
std::uint64_t seed();
void set_seed(std::uint64_t seed, bool print = true);

}  // namespace test
