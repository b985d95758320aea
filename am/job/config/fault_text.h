#pragma once

#include <string_view>

#include "am/link/datagram/fault_plan.h"

namespace am {

// The plan that a value of SPLITC_FAULT describes: parts with commas between them, each a name and
// a value behind a colon or an equals sign, such as "drop:5,dup:2,reorder:5,delay:200,corrupt:1,
// seed=7". drop, dup, reorder and corrupt are percentages, delay is in microseconds. Throws Error
// for anything else: a sentence that names the part that is wrong.
link::FaultPlan parse_faults(std::string_view text);

}  // namespace am
