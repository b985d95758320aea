#pragma once

#include <string_view>

#include "am/job/config/config.h"

namespace am {

// What a value of SPLITC_LINK, and one of SPLITC_WAY, stands for. Throws Error for anything else: a
// sentence with what there is.
LinkChoice parse_link(std::string_view text);
Way parse_way(std::string_view text);

}  // namespace am
