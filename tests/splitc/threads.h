// What tests of several threads in the global address space have in common.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace test {

inline constexpr std::uint32_t kThreads = 4;  // of which one is that of the test

// Calls body(i) in this thread, where i is 0, and in `count` - 1 others; what one throws fails the
// test.
inline void in_threads(std::uint32_t count, const std::function<void(std::uint32_t)>& body) {
  const auto guarded = [&body](std::uint32_t i) {
    try {
      body(i);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "thread " << i << ": " << error.what();
    }
  };
  std::vector<std::jthread> others;
  for (std::uint32_t i = 1; i < count; ++i) others.emplace_back(guarded, i);
  guarded(0);
}

// A number that says whose it is.
inline std::uint64_t mark(std::uint64_t proc, std::uint64_t thread, std::uint64_t i) {
  return proc << 48 | thread << 32 | i;
}

}  // namespace test
