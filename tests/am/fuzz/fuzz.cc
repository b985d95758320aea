#include "tests/am/fuzz/fuzz.h"

#include <algorithm>

namespace am::fuzz {

Bytes join(const Records& records) {
  Bytes all;
  for (const Bytes& record : records) {
    const Bytes head = bytes_of(static_cast<std::uint32_t>(record.size()));
    all.insert(all.end(), head.begin(), head.end());
    all.insert(all.end(), record.begin(), record.end());
  }
  return all;
}

Records split(std::span<const std::byte> input) {
  Records records;
  while (!input.empty()) {
    const std::size_t wanted = value_of<std::uint32_t>(input);
    input = input.subspan(std::min(input.size(), sizeof(std::uint32_t)));
    const auto record = input.first(std::min(input.size(), wanted));
    records.emplace_back(record.begin(), record.end());
    input = input.subspan(record.size());
  }
  return records;
}

}  // namespace am::fuzz
