#include "examples/conjugate_gradient/rows.h"

#include <algorithm>

namespace conjugate_gradient {

using namespace splitc;

distribution blocks_of(std::uint32_t size) { return {size, blocked.block(size, procs()), procs()}; }

std::vector<Entry> deal(std::span<const Entry> entries, const distribution& blocks) {
  std::vector<std::size_t> counts(procs());
  for (const Entry& entry : entries) ++counts[blocks.owner(entry.row)];
  return all_to_all_varying(entries, std::span<const std::size_t>(counts)).all();
}

Plan inspect(std::span<const Entry> entries, const distribution& blocks) {
  Plan plan;
  for (const Entry& entry : entries) {
    if (blocks.owner(entry.column) != my_proc()) plan.ghosts.push_back(entry.column);
  }
  std::ranges::sort(plan.ghosts);
  plan.ghosts.erase(std::unique(plan.ghosts.begin(), plan.ghosts.end()), plan.ghosts.end());

  std::vector<std::size_t> counts(procs());
  for (const std::uint32_t ghost : plan.ghosts) ++counts[blocks.owner(ghost)];
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t first = 0; const std::size_t count : counts) {
    firsts.push_back(first);
    plan.owned_by.push_back({first, static_cast<std::uint32_t>(count)});
    first += static_cast<std::uint32_t>(count);
  }
  // Everybody tells the owners.
  const auto asked =
      all_to_all_varying(std::span(plan.ghosts), std::span<const std::size_t>(counts));
  plan.first_there.resize(procs());
  all_to_all(std::span(firsts), std::span(plan.first_there));
  plan.wanted.resize(procs());
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (const std::uint32_t i : asked.of(proc)) {
      plan.wanted[proc].push_back(static_cast<std::uint32_t>(blocks.local(i)));
    }
  }
  return plan;
}

Rows::Rows(std::span<const Entry> entries, const distribution& blocks, const Plan& plan) {
  const auto own = static_cast<std::uint32_t>(blocks.size_on(my_proc()));
  auto next = entries.begin();
  for (std::uint32_t row = 0; row < own; ++row) {
    begin_.push_back(columns_.size());
    bool needs_ghosts = false;
    for (; next != entries.end() && blocks.local(next->row) == row; ++next) {
      std::uint32_t column = static_cast<std::uint32_t>(blocks.local(next->column));
      if (blocks.owner(next->column) != my_proc()) {
        const auto ghost = std::ranges::lower_bound(plan.ghosts, next->column);
        column = own + static_cast<std::uint32_t>(ghost - plan.ghosts.begin());
        needs_ghosts = true;
      }
      columns_.push_back(column);
      values_.push_back(next->value);
    }
    (needs_ghosts ? outer_ : inner_).push_back(row);
  }
  begin_.push_back(columns_.size());
}

}  // namespace conjugate_gradient
