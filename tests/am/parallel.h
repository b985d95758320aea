// What the tests of parallel bundles share: an endpoint in one, and threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/job_main.h"

namespace am::test_parallel {

inline constexpr unsigned kThreads = 4;
using Bytes = std::span<const std::byte>;

// Runs body(0) to body(threads - 1) at the same time.
inline void in_threads(unsigned threads, const std::function<void(unsigned)>& body) {
  std::vector<std::jthread> running;
  for (unsigned number = 0; number < threads; ++number) running.emplace_back(body, number);
}

// The payload that thread `thread` of `rank` sends as its `n`th.
inline std::vector<std::byte> payload_of(Rank rank, unsigned thread, std::uint32_t n,
                                         std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  // The same again after 256; most are copied, as tests are not optimized.
  std::size_t done = std::min(bytes, std::size_t{256});
  for (std::size_t i = 0; i < done; ++i) {
    made[i] = static_cast<std::byte>(rank * 131 + thread * 31 + n * 7 + i);
  }
  for (std::size_t more = 0; done < bytes; done += more) {
    more = std::min(done, bytes - done);
    std::memcpy(made.data() + done, made.data(), more);
  }
  return made;
}
inline bool are_equal(Bytes a, Bytes b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

class Parallel : public testing::Test {
 protected:
  void SetUp() override {
    bundle_.emplace(::test::job(), Access::kParallel);
    endpoint_.emplace(*bundle_);
  }
  void TearDown() override {
    meet();
    endpoint_.reset();
    bundle_.reset();
    ::test::barrier();
  }
  // All processes, polling the parallel bundle as well.
  static void meet() { ::test::barrier(); }
  static std::uint32_t size() { return ::test::job().size(); }
  static Rank me() { return ::test::job().rank(); }
  static Rank right() { return (me() + 1) % size(); }
  // Of all processes.
  static std::uint64_t sum(std::uint64_t own) {
    const std::vector<std::uint64_t> all = ::test::job().exchange(own);
    return std::reduce(all.begin(), all.end());
  }

  std::optional<Bundle> bundle_;
  std::optional<Endpoint> endpoint_;
};

}  // namespace am::test_parallel
