#include "tests/soak/round.h"

#include "am/am.h"
#include "splitc/splitc.h"

namespace soak {

std::uint32_t Round::operations(Random& random) const noexcept {
  const std::uint64_t usual = settings_.operations;
  switch (random.below(8)) {
    case 0: return static_cast<std::uint32_t>(random.below(std::uint64_t{3}));
    case 1: return static_cast<std::uint32_t>(3 * usual);
    default: return static_cast<std::uint32_t>(random.between(usual / 2, usual + usual / 2));
  }
}

void Round::fail(std::string_view family, std::uint64_t id, const std::string& what) const {
  splitc::world().job().abort(1, "soak: round " + std::to_string(number_) + ", " +
                                     std::string(family) + " " + std::to_string(id) + ": " + what +
                                     ". Again with --seed " + std::to_string(settings_.seed) +
                                     ", or from this round on with --first " +
                                     std::to_string(number_));
}

}  // namespace soak
