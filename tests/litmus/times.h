// How many times as many rounds as usual are run.
#pragma once

#include <cstdint>

namespace litmus {

// --times=N among the arguments of the program; 1 without.
std::uint64_t times();

}  // namespace litmus
