#include "tests/am/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace am::fuzz {
namespace {

constexpr std::uint64_t kNumbers[] = {0,
                                      1,
                                      2,
                                      3,
                                      7,
                                      8,
                                      15,
                                      16,
                                      31,
                                      0x7f,
                                      0x80,
                                      0xff,
                                      0x100,
                                      4095,
                                      4096,
                                      4097,
                                      0x7fff,
                                      0x8000,
                                      0xfff8,
                                      0xffff,
                                      0x10000,
                                      1 << 20,
                                      1 << 24,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x100000000,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xfffffffffffff000,
                                      ~std::uint64_t{0}};

}  // namespace

Records Mutator::mutate(const std::vector<Records>& valid) {
  Records records = valid[below(valid.size())];
  for (std::size_t changes = 1 + below(4); changes != 0; --changes) change(records);
  return records;
}

void Mutator::change(Records& records) {
  if (records.empty()) records.emplace_back(1 + below(64));
  const std::size_t i = below(records.size());
  const auto at = records.begin() + static_cast<std::ptrdiff_t>(i);
  switch (below(12)) {
    case 0: records.erase(at); return;
    case 1: {
      const Bytes twice = *at;
      records.insert(at, twice);
      return;
    }
    case 2: std::swap(*at, records[below(records.size())]); return;
    case 3: at->resize(below(at->size() + 1)); return;
    case 4: at->resize(at->size() + 8 * (1 + below(4))); return;
    default: return change(*at);
  }
}

void Mutator::change(Bytes& record) {
  if (record.empty()) return;
  // Most of what is to be checked is at the beginning.
  const std::size_t reach =
      below(4) == 0 ? record.size() : std::min<std::size_t>(record.size(), 64);
  const std::size_t at = below(reach);
  switch (below(4)) {
    case 0: record[at] ^= std::byte{1} << below(8); return;
    case 1: record[at] = static_cast<std::byte>(random_()); return;
    default: return set_number(record);
  }
}

// A number of 1 to 8 bytes where one may be: another that is interesting, or a neighbour of its
// own.
void Mutator::set_number(Bytes& record) {
  const std::size_t width = std::size_t{1} << below(4);
  if (record.size() < width) return;
  const std::size_t reach = std::min<std::size_t>(record.size() / width, 64 / width);
  std::byte* const at = record.data() + width * below(std::max<std::size_t>(reach, 1));
  std::uint64_t number = 0;
  std::memcpy(&number, at, width);
  number = below(3) == 0 ? number + below(17) - 8 : kNumbers[below(std::size(kNumbers))];
  std::memcpy(at, &number, width);
}

}  // namespace am::fuzz
