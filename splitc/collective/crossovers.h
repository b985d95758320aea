#pragma once

#include "am/collective/cost.h"

namespace splitc::detail {

// Up to which size collective calls go by boards, the same in all processes: as SPLITC_COLLECTIVES
// says, or, else, as the model does. Inside run().
const am::Crossovers& crossovers();

// Chooses them for the program that starts, and says them if SPLITC_VERBOSE is set.
void choose_crossovers();

}  // namespace splitc::detail
