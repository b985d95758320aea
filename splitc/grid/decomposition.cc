#include <optional>
#include <string>

#include "splitc/grid/grid_memory.h"

namespace splitc::detail {
namespace {

using Parts = std::array<std::uint32_t, kMostDimensions>;

std::string by(std::span<const std::size_t> numbers) {
  std::string text;
  for (const std::size_t n : numbers) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

// Cells of the largest block that are sent to others.
double surface(std::span<const std::size_t> cells, const Parts& parts) {
  double sum = 0;
  for (std::size_t d = 0; d < cells.size(); ++d) {
    if (parts[d] == 1) continue;
    double face = 2;
    for (std::size_t e = 0; e < cells.size(); ++e) {
      const std::size_t most = (cells[e] - 1) / parts[e] + 1;
      if (e != d) face *= static_cast<double>(most);
    }
    sum += face;
  }
  return sum;
}

// Whether dimension `d` may be cut into so many parts. Those that a grid does not have are not cut.
bool may_be(std::uint32_t part, std::size_t d, std::span<const std::size_t> cells,
            std::span<const std::uint32_t> wanted, std::size_t width) {
  if (d >= cells.size()) return part == 1;
  if (wanted[d] != 0 && wanted[d] != part) return false;
  return part == 1 || cells[d] / part >= width;
}

// The best of all ways to arrange `procs` processes.
std::optional<Parts> best_parts(std::span<const std::size_t> cells,
                                std::span<const std::uint32_t> wanted, std::size_t width,
                                std::uint32_t procs) {
  std::optional<Parts> best;
  for (std::uint32_t first = procs; first >= 1; --first) {
    if (procs % first != 0 || !may_be(first, 0, cells, wanted, width)) continue;
    const std::uint32_t rest = procs / first;
    for (std::uint32_t second = rest; second >= 1; --second) {
      if (rest % second != 0 || !may_be(second, 1, cells, wanted, width)) continue;
      const std::uint32_t third = rest / second;
      if (!may_be(third, 2, cells, wanted, width)) continue;
      const Parts parts{first, second, third};
      if (!best || surface(cells, parts) < surface(cells, *best)) best = parts;
    }
  }
  return best;
}

[[noreturn]] void refuse_arrangement(std::span<const std::size_t> cells,
                                     std::span<const std::uint32_t> wanted, std::size_t width,
                                     std::uint32_t procs, Call call) {
  std::string arrangement;
  for (const std::uint32_t part : wanted) {
    arrangement += arrangement.empty() ? "" : " x ";
    arrangement += part == 0 ? "any number" : std::to_string(part);
  }
  refuse(call, std::to_string(procs) + " processes cannot be arranged as " + arrangement +
                   " so that each has " + std::to_string(width) + " or more of the " + by(cells) +
                   " cells along every dimension; take more cells, fewer ghosts, another number of "
                   "processes, or leave .processes out");
}

}  // namespace

std::uint32_t Axis::part_of(std::size_t i) const noexcept {
  const std::size_t least = cells / parts;
  const std::size_t in_larger = cells % parts * (least + 1);
  if (i < in_larger) return static_cast<std::uint32_t>(i / (least + 1));
  return static_cast<std::uint32_t>(cells % parts + (i - in_larger) / least);
}

Decomposition::Decomposition(std::span<const std::size_t> cells, std::span<const bool> periodic,
                             std::span<const std::uint32_t> processes, std::size_t width,
                             std::uint32_t procs, Call call) {
  for (std::size_t d = 0; d < cells.size(); ++d) {
    if (cells[d] >= std::max<std::size_t>(width, 1)) continue;
    refuse(call, by(cells) + " cells are fewer along dimension " + std::to_string(d) + " than " +
                     (width > 1 ? "the " + std::to_string(width) + " ghosts" : "one") +
                     "; take more cells or fewer dimensions");
  }
  const auto parts = best_parts(cells, processes, std::max<std::size_t>(width, 1), procs);
  if (!parts) refuse_arrangement(cells, processes, width, procs, call);
  for (std::size_t d = 0; d < cells.size(); ++d) axes_[d] = {cells[d], (*parts)[d], periodic[d]};
}

std::uint32_t Decomposition::place(std::uint32_t proc, std::size_t d) const noexcept {
  for (std::size_t e = kMostDimensions - 1; e > d; --e) proc /= axes_[e].parts;
  return proc % axes_[d].parts;
}

std::uint32_t Decomposition::proc(
    const std::array<std::uint32_t, kMostDimensions>& places) const noexcept {
  std::uint32_t proc = 0;
  for (std::size_t d = 0; d < kMostDimensions; ++d) proc = proc * axes_[d].parts + places[d];
  return proc;
}

std::uint32_t Decomposition::neighbour(std::uint32_t proc,
                                       std::span<const int> direction) const noexcept {
  std::array<std::uint32_t, kMostDimensions> places;
  for (std::size_t d = 0; d < kMostDimensions; ++d) {
    const Axis& axis = axes_[d];
    const int step = d < direction.size() ? direction[d] : 0;
    const std::int64_t there = std::int64_t{place(proc, d)} + step;
    if (!axis.periodic && (there < 0 || there >= axis.parts)) return kNoProc;
    places[d] = static_cast<std::uint32_t>((there + axis.parts) % axis.parts);
  }
  return this->proc(places);
}

std::uint64_t Decomposition::fingerprint() const noexcept {
  std::uint64_t number = 0;
  for (const Axis& axis : axes_) {
    for (const std::uint64_t x :
         {std::uint64_t{axis.cells}, std::uint64_t{axis.parts}, std::uint64_t{axis.periodic}}) {
      number = (number ^ x) * 0x9e3779b97f4a7c15;
    }
  }
  return number;
}

}  // namespace splitc::detail
