#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace sample_sort {

// Lines, each ended by '\n'. A vector and no string: moving it leaves its bytes where they are, so
// lines that point into it stay good.
using Text = std::vector<char>;

// A line without its '\n', which is the byte behind it. Its comparison is that of `LC_ALL=C sort`:
// bytes as unsigned numbers, and a line before those it begins.
using Line = std::string_view;
static_assert(Line("\x7f") < Line("\x80") && Line("a") < Line("a\t"));

// The first line of `text`, which is not empty. The next one begins at line.end() + 1.
inline Line first_line(std::span<const char> text) {
  const void* end = std::memchr(text.data(), '\n', text.size());
  return {text.data(), static_cast<const char*>(end)};
}

// Calls use(line) for each line of `text`, in order.
template <class Use>
void for_each_line(std::span<const char> text, Use&& use) {
  while (!text.empty()) {
    const Line line = first_line(text);
    use(line);
    text = text.subspan(line.size() + 1);
  }
}

// Appends a line and its '\n'.
inline void append(Text& text, Line line) {
  text.insert(text.end(), line.data(), line.data() + line.size() + 1);
}

// A line and where it was in the file. By that, equal lines have an order too, so that a file of
// nothing but equal lines can be cut into parts of one size.
struct Place {
  Line line;
  std::uint64_t position;

  friend auto operator<=>(const Place&, const Place&) = default;
};

}  // namespace sample_sort
