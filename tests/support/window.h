#pragma once

#include <cstdint>

#include "am/am.h"
#include "tests/support/job_main.h"

namespace test {

// Requests of one kind that may be in flight to an endpoint of process `to`: as documented, not as
// the library has them.
inline std::uint32_t window(am::Rank to, am::Kind kind) {
  const bool near = job().router().is_near(to);
  switch (kind) {
    case am::Kind::kShort: return near ? 64 : 1024;
    case am::Kind::kMedium: return near ? 16 : 64;
    default: return 16;
  }
}

}  // namespace test
