#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/sample_sort/text.h"

namespace sample_sort {

// A place in the order of all lines, as bytes that can be sent: the parts of the processes begin at
// such places. A longer line is cut; then every line that begins like it lies behind the splitter.
struct Splitter {
  static constexpr std::size_t kText = 244;

  Splitter() = default;
  explicit Splitter(const Place& place);
  Place place() const { return {Line(text, length), position}; }

  std::uint64_t position = 0;
  std::uint32_t length = 0;
  char text[kText] = {};
};
static_assert(sizeof(Splitter) == 256);

// Where the lines of process 1, 2, ... shall begin, so that all get about as many bytes. `lines`
// are those of this process, in order; the file has `bytes` bytes. Collective.
std::vector<Splitter> choose_splitters(std::span<const Place> lines, std::uint64_t bytes);

}  // namespace sample_sort
