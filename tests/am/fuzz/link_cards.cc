// What links tell one another at the start: token, key and address.
#include <cstdlib>

#include "am/types/types.h"
#include "tests/am/fuzz/fuzz.h"
#include "tests/am/link/fabric_pair.h"

namespace am::fuzz {
namespace {

link::test::Side& side() {
  static link::test::Side side("net", 0);
  return side;
}

}  // namespace

const int kUsualCases = 50'000;

// The card as it is, and its parts, which get their lengths and checksum back.
std::vector<Records> valid_inputs() {
  const Bytes card = side().link().card();
  const link::test::CardParts parts = link::test::parts_of(card);
  return {{card, {}, {}}, {{}, bytes_of(parts.magic), parts.address}};
}

bool decode(const Records& input) {
  if (input.size() != 3) return false;
  Bytes card = input[0];
  if (card.empty()) {
    link::test::CardParts parts = link::test::parts_of(side().link().card());
    parts.magic = value_of<std::uint32_t>(input[1]);
    parts.address = input[2];
    card = make_card(parts);
  }
  try {
    side().link().introduce(1, card);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace am::fuzz
