#pragma once

#include <span>
#include <string>

namespace am {

// "0-3,8": numbers as they stand, those that follow one another as a range.
std::string number_ranges(std::span<const int> numbers);

}  // namespace am
