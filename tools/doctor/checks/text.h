// How findings write numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace am::doctor {

// "256 MiB", "1.5 GiB", "unlimited" for kUnlimited.
std::string bytes_text(std::uint64_t bytes);

// "1 process", "3 processes".
std::string count_text(std::uint64_t number, const std::string& one, const std::string& several);

// "0-3,8", of ascending or other numbers.
std::string ranges_text(std::span<const int> numbers);

// "a, b, c"; "none" of nothing.
std::string list_text(std::span<const std::string> words);

}  // namespace am::doctor
