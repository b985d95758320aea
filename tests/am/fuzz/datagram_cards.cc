// What links by datagrams give one another at the start: key, incarnation and address.
#include "am/types/types.h"
#include "tests/am/fuzz/fuzz.h"
#include "tests/am/link/datagram/datagram_pair.h"

namespace am::fuzz {
namespace {

link::test::Side& side() {
  static link::test::Side side(0);
  return side;
}

}  // namespace

const int kUsualCases = 50'000;

// The card as it is, and its address, which gets its length and checksum back.
std::vector<Records> valid_inputs() {
  const Bytes card = side().link().card();
  const auto address = link::test::address_in(card);
  return {{card, {}}, {{}, Bytes(address.begin(), address.end())}};
}

bool decode(const Records& input) {
  if (input.size() != 2) return false;
  Bytes card = input[0];
  if (card.empty()) card = link::test::with_address(side().link().card(), input[1]);
  try {
    side().link().introduce(1, card);
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace am::fuzz
