// What tests need to know of the nodes that their processes are on.
#pragma once

#include <cstdint>
#include <string>

#include "am/route/router.h"
#include "splitc/splitc.h"

namespace test {

// Some processes of the job are on other nodes.
inline bool has_far_peers() { return splitc::world().router().far_peers(); }

inline bool is_far(std::uint32_t proc) { return !splitc::world().router().is_near(proc); }

// How often to do what takes a transfer of tens of microseconds each time on a network, and
// nanoseconds on a node.
template <class T>
T times(T near, T far) {
  return has_far_peers() ? far : near;
}

// Waits until so many bytes have arrived on the default counter, and are not consumed, but not for
// ever: stores from other nodes land some time. Returns how many have.
inline std::uint64_t arrived(std::uint64_t bytes) {
  using splitc::store_counter;
  const double deadline = splitc::get_seconds() + 10;
  splitc::wait_until([&] {
    return store_counter::default_counter().available() >= bytes ||
           splitc::get_seconds() > deadline;
  });
  return store_counter::default_counter().available();
}

// Whether `said` is what a call of many pieces says in a handler that may reach its own node only:
// the refusal if its target is far, and else nothing.
inline bool is_of_handler(bool far, const std::string& said) {
  return far ? said.find("is on another node, and a handler or") != std::string::npos
             : said.empty();
}

}  // namespace test
