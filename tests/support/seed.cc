#include "tests/support/seed.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace test {
namespace {

constexpr std::string_view kFlag = "--seed=";
std::uint64_t the_seed = kUsualSeed;

}  // namespace

std::optional<std::uint64_t> take_seed(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const found =
      std::find_if(argv + 1, end, [](std::string_view word) { return word.starts_with(kFlag); });
  if (found == end) return std::nullopt;
  const std::uint64_t seed = std::strtoull(*found + kFlag.size(), nullptr, 10);
  std::copy(found + 1, end, found);
  argv[--argc] = nullptr;
  return seed;
}

std::uint64_t seed() { return the_seed; }

void set_seed(std::uint64_t seed, bool print) {
  the_seed = seed;
  if (!print) return;
  std::printf("seed %llu; the same again with --seed=%llu\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

}  // namespace test
