// Bytes as values of PMI-1, which are characters without spaces.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace am {

// How many, ":", and four characters for every three: letters, digits, '-' and '_', which every
// launcher takes.
std::string to_pmi_text(std::span<const std::byte> bytes);

// How many characters a text that begins like this has in all. std::nullopt: that is no such text,
// or one of more than `max_bytes` bytes.
std::optional<std::size_t> pmi_text_size(std::string_view begin, std::size_t max_bytes);

// std::nullopt: not what to_pmi_text() made of at most `max_bytes` bytes.
std::optional<std::vector<std::byte>> from_pmi_text(std::string_view text, std::size_t max_bytes);

}  // namespace am
