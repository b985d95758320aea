#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <thread>

#include "tests/am/link/forwarder/path.h"

namespace am::link::test {

// Sits between the ends of two cables and passes on what comes from either, as the weather wills;
// in a thread of its own.
class Forwarder {
 public:
  // Descriptors as Host::cable(), which outlive it.
  Forwarder(int left, int right, const Weather& weather);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // Passes nothing on any more. Returns what has happened. Once.
  const Path::Stats& stop();

 private:
  void run();
  void take_all(unsigned from, std::span<std::byte> memory);

  // Constant after construction.
  const std::array<int, 2> cables_;
  const int stop_;  // readable: it is over
  // Owned by the thread.
  Path path_;
  std::thread thread_;
};

}  // namespace am::link::test
