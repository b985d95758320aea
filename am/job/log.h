#pragma once

#include <string>

namespace am {

// Log lines with time and level, by spdlog; in any thread. Neither is for a fast path.

// To standard output: what SPLITC_VERBOSE asks for.
void log_info(const std::string& sentence);

// To standard error: what the user should mend.
void log_warning(const std::string& sentence);

}  // namespace am
