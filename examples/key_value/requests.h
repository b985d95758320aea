#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace key_value {

// What the user asks for.
struct Workload {
  std::uint32_t keys = 10'000;
  std::uint64_t bytes = 104;             // of a value
  std::uint64_t requests = 20'000;       // of each process
  std::uint32_t outstanding = 16;        // of these, at a time
  double reads = 95;                     // percent of the requests
  double updates = 50;                   // percent of those that write; the others are puts
  std::string distribution = "zipfian";  // or "uniform"
  double skew = 0.99;  // of the zipfian one: the i-th key is asked for as 1 / i^skew
  std::uint64_t seed = 1;
};

enum class Kind : std::uint8_t { kRead, kPut, kUpdate };
inline constexpr Kind kKinds[] = {Kind::kRead, Kind::kPut, Kind::kUpdate};

struct Request {
  std::uint32_t key;
  Kind kind;
};

// Those of one process, the same in every run. Key 0 is the most popular one.
std::vector<Request> make_requests(const Workload& workload, std::uint32_t proc);

}  // namespace key_value
