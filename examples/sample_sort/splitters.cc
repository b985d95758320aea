#include "examples/sample_sort/splitters.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "splitc/splitc.h"

namespace sample_sort {
namespace {

using namespace splitc;

// Samples for each process. With 64 no part is often more than a fifth larger than the average.
constexpr std::uint64_t kSamples = 64;

// The line at every `stride`-th byte of the order: long lines count for what they weigh.
std::vector<Splitter> sample(std::span<const Place> lines, std::uint64_t stride) {
  std::vector<Splitter> samples;
  std::uint64_t end = 0;
  std::uint64_t next = stride / 2;
  for (const Place& place : lines) {
    end += place.line.size() + 1;
    for (; next < end; next += stride) samples.emplace_back(place);
  }
  return samples;
}

}  // namespace

Splitter::Splitter(const Place& place)
    : position(place.line.size() > kText ? 0 : place.position),
      length(static_cast<std::uint32_t>(std::min(place.line.size(), kText))) {
  std::memcpy(text, place.line.data(), length);
}

std::vector<Splitter> choose_splitters(std::span<const Place> lines, std::uint64_t bytes) {
  const std::uint64_t all_samples = kSamples * procs();
  const std::vector<Splitter> samples = sample(lines, bytes / all_samples + 1);

  // Process 0 gets the samples of all, one process's behind another's. Each process may have one
  // more than its bytes are worth, as it begins at half a stride and with its own lines.
  spread_array<Splitter> table(procs(), all_samples + procs() + 1);
  const std::uint64_t before = all_exscan<std::uint64_t>(samples.size(), std::plus(), 0);
  bulk_put(table.on(0) + static_cast<std::ptrdiff_t>(before), std::span(samples));
  sync();
  const std::uint64_t count = all_reduce<std::uint64_t>(samples.size(), std::plus());

  std::vector<Splitter> splitters(procs() - 1);
  on_one([&] {
    const auto all = table.mine().first(count);
    std::ranges::sort(all, {}, &Splitter::place);
    for (std::size_t i = 0; count > 0 && i < splitters.size(); ++i) {
      splitters[i] = all[(i + 1) * count / procs()];
    }
  });
  all_bcast(std::span(splitters));
  return splitters;
}

}  // namespace sample_sort
