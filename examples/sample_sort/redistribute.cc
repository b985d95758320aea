#include "examples/sample_sort/redistribute.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "am/am.h"
#include "splitc/splitc.h"

namespace sample_sort {
namespace {

using namespace splitc;
using Sizes = std::vector<std::uint64_t>;

// How much of `bytes` bytes goes in the round that begins behind the first `done`.
std::uint64_t piece(std::uint64_t bytes, std::uint64_t done, std::uint64_t room) {
  return bytes > done ? std::min(bytes - done, room) : 0;
}

// A run of which all lines before `line` have been taken.
struct Head {
  Line line;
  std::span<const char> rest;  // from `line` on

  friend bool operator>(const Head& a, const Head& b) { return a.line > b.line; }
};

}  // namespace

std::vector<Text> redistribute(std::span<const char> text, std::span<const std::uint64_t> cuts) {
  Sizes outgoing(procs()), incoming(procs());
  for (std::uint32_t to = 0; to < procs(); ++to) outgoing[to] = cuts[to + 1] - cuts[to];
  all_to_all(std::span(outgoing), std::span(incoming));
  const std::uint64_t largest = all_reduce(std::ranges::max(outgoing), maximum());

  // Everybody has a slot for each sender, all together a quarter of the segment at most.
  const std::uint64_t limit = world().router().segment_bytes() / 4 / procs();
  const std::uint64_t room = std::min(largest, limit);
  spread_array<char> slots(procs(), room * procs());
  const auto slot = [&](std::uint32_t at, std::uint32_t from) {
    return slots.on(at) + static_cast<std::ptrdiff_t>(from * room);
  };

  std::vector<Text> runs(procs());
  for (std::uint64_t done = 0; done < largest; done += room) {
    for (std::uint32_t i = 0; i < procs(); ++i) {
      const std::uint32_t to = (my_proc() + i) % procs();  // not all to the same one at first
      const std::uint64_t bytes = piece(outgoing[to], done, room);
      if (bytes > 0) bulk_store(slot(to, my_proc()), &text[cuts[to] + done], bytes);
    }
    all_store_sync();
    for (std::uint32_t from = 0; from < procs(); ++from) {
      const char* const arrived = tolocal(slot(my_proc(), from));
      runs[from].insert(runs[from].end(), arrived, arrived + piece(incoming[from], done, room));
    }
    barrier();  // only now may the slots be overwritten
  }
  return runs;
}

Text merge_runs(std::span<const Text> runs) {
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::size_t bytes = 0;
  for (const Text& run : runs) {
    if (!run.empty()) heads.push({first_line(run), run});
    bytes += run.size();
  }
  Text merged;
  merged.reserve(bytes);
  while (!heads.empty()) {
    const Head head = heads.top();
    heads.pop();
    append(merged, head.line);
    const auto rest = head.rest.subspan(head.line.size() + 1);
    if (!rest.empty()) heads.push({first_line(rest), rest});
  }
  return merged;
}

}  // namespace sample_sort
