#pragma once

#include <string>
#include <string_view>

#include "am/collective/limits.h"

namespace am {

// What a value of SPLITC_COLLECTIVES says: names of limits and sizes, with commas or ends of lines
// between them, such as "broadcast_tree=64K,scan_chain=4", of which any may be missing; or the name
// of a file of these, with a / in it. Throws Error for anything else: a sentence that names the
// part that is wrong.
schedule::Limits parse_collectives(std::string_view text);
// The same text, of all of them.
std::string text_of(const schedule::Limits& limits);

}  // namespace am
