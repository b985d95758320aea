// main() of a test that runs as a job of Active Messages: one am::Job and one am::Bundle for the
// whole program.
#pragma once

#include <cstdint>

#include "am/am.h"
#include "tests/support/seed.h"

namespace test {

am::Job& job();
am::Bundle& bundle();

inline am::Rank rank() { return job().rank(); }
inline std::uint32_t size() { return job().size(); }

// All processes meet, making progress meanwhile. Collective.
inline void barrier() { job().barrier(bundle()); }
// All processes meet, and nobody polls anything meanwhile. (A barrier also polls the other bundles
// of its thread.) Collective.
inline void meet_silently() { job().exchange(0); }

}  // namespace test
