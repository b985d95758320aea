#pragma once

#include <cstdint>

#include "am/am.h"
#include "tests/support/job_main.h"

namespace test {

// Requests of one kind that may be in flight to an endpoint of process `to`: as documented, not as
// the library has them.
inline std::uint32_t window(am::Rank to, am::Kind kind) {
  if (kind != am::Kind::kShort) return 16;
  return job().router().is_near(to) ? 64 : 1024;
}

}  // namespace test
