#pragma once

#include <string>
#include <string_view>

#include "am/collective/limits.h"
#include "am/job/config/config.h"
#include "am/link/datagram/faults.h"

// The values of variables that have a syntax of their own. Each function throws Error for a value
// that has none of its meanings: a sentence that names the part that is wrong, and says what there
// is.

namespace am {

// Of SPLITC_COLLECTIVES: names of limits and sizes, with commas or ends of lines between them, such
// as "broadcast_tree=64K,scan_chain=4", of which any may be missing; or the name of a file of
// these, with a / in it.
schedule::Limits parse_collectives(std::string_view text);
// The text that parse_collectives() makes these limits of, with all of them.
std::string text_of(const schedule::Limits& limits);

// Of SPLITC_FAULT: parts with commas between them, each a name and a value behind a colon or an
// equals sign, such as "drop:5,dup:2,reorder:5,delay:200,corrupt:1,seed=7". drop, dup, reorder and
// corrupt are percentages, delay is in microseconds.
link::FaultPlan parse_faults(std::string_view text);

// Of SPLITC_LINK, and of SPLITC_WAY.
LinkChoice parse_link(std::string_view text);
Way parse_way(std::string_view text);

}  // namespace am
