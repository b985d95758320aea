// Tests that feed a decoder with what no correct process sends. Each defines what is declared here
// for one decoder, and is linked to one of two programs: fuzz_test.cc makes up a fixed number of
// inputs from a seed, libfuzzer.cc has clang's libFuzzer look for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace am::fuzz {

using Bytes = std::vector<std::byte>;

// An input consists of records, each behind its number of bytes (32 bits): so a change within one
// leaves the others what they are.
using Records = std::vector<Bytes>;
Bytes join(const Records& records);
Records split(std::span<const std::byte> input);  // whatever the bytes are

// Ends the process where a decoder has taken what it should not have.
inline void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
Bytes bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}
// The first bytes of a record; zeros where it is too short.
template <class T>
T value_of(std::span<const std::byte> record) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  if (!record.empty()) {
    std::memcpy(static_cast<void*>(&value), record.data(), std::min(record.size(), sizeof value));
  }
  return value;
}

// --- Of each decoder

// How many inputs a usual run makes up.
extern const int kUsualCases;
// What correct processes send: mutations start from these, and decode() accepts them.
std::vector<Records> valid_inputs();
// Whether the decoder took all of it. False: it refused, with a sentence or as it is documented.
// Everything else that may happen is a defect.
bool decode(const Records& input);

}  // namespace am::fuzz
