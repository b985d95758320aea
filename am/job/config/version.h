// The version of Splitphase that people see. What the processes of a job must agree on has numbers
// of its own: Control::kVersion and Card::kVersion.
#pragma once

#include <string_view>

namespace am {

inline constexpr std::string_view kVersion = "0.8";

}  // namespace am
