#pragma once

#include <string>
#include <string_view>

#include "am/collective/cost.h"

namespace am {

// What a value of SPLITC_COLLECTIVES says: names of crossovers and sizes with commas between them,
// such as "broadcast=64K,gather=16K,reduce=2K,reduce_slices=256K,all_to_all=1K", of which any may
// be missing. Throws Error for anything else: a sentence that names the part that is wrong.
ChosenCrossovers parse_crossovers(std::string_view text);
// The same text, of all of them.
std::string text_of(const Crossovers& crossovers);

// What a value of SPLITC_LOGGP says: "L=20,o=4,G=0.6", microseconds, microseconds, and nanoseconds
// a byte. Throws Error for anything else.
LogGP parse_loggp(std::string_view text);
std::string text_of(const LogGP& network);

}  // namespace am
