#include "examples/lu/solver.h"

#include <algorithm>
#include <utility>

namespace lu {

using namespace splitc;

namespace {

// The columns from `first` on, of which that row and all below it change.
std::uint64_t work_of_panel(std::size_t size, std::size_t first) noexcept {
  return std::uint64_t{size - first} * (size - first);
}

}  // namespace

Solver::Solver(const System& system, std::size_t width)
    : system_(system),
      width_(width),
      panels_((system.size + width - 1) / width),
      matrix_(system.size * (system.size + 1), block_cyclic(width * system.size)),
      even_(panel_at(0).size()),
      odd_(panel_at(0).size()),
      right_(procs(), system.size),
      unknowns_(procs(), system.size) {}

std::uint64_t Solver::work(std::size_t size, std::size_t width) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t first = 0; first < size; first += width) sum += work_of_panel(size, first);
  return sum;
}

Panel Solver::panel_at(std::size_t k) const noexcept {
  const std::size_t first = k * width_;
  const std::size_t width = std::min(width_, system_.size - first);
  return {first, width, system_.size - first - width};
}

// Those of a process lie in the order of their numbers.
Columns Solver::columns_from(std::size_t first) const {
  const std::size_t n = system_.size;
  const distribution columns(n + 1, width_, procs());
  const std::size_t all = columns.size_on(my_proc());
  const std::size_t before = columns.size_below(my_proc(), std::min(first, n + 1));
  return {matrix_.mine().data() + before * n, all - before, n};
}

Columns Solver::columns_from(std::size_t first, std::size_t count) const {
  Columns columns = columns_from(first);
  columns.count = count;
  return columns;
}

std::span<double> Solver::packed(std::size_t k) {
  return buffer(k).packed.mine().first(panel_at(k).size());
}

void Solver::fill() {
  const Columns columns = columns_from(0);
  const distribution numbers(system_.size + 1, width_, procs());
  for (std::size_t l = 0; l < columns.count; ++l) {
    const std::size_t j = numbers.global(my_proc(), l);
    for (std::size_t i = 0; i < system_.size; ++i) columns.column(l)[i] = system_.at(i, j);
  }
  solution_ = {};
}

// --- Panels

void Solver::make(std::size_t k) {
  const Panel panel = panel_at(k);
  factor(panel, columns_from(panel.first, panel.width), packed(k));
}

void Solver::send(std::size_t k) {
  for (std::uint32_t step = 1; step < procs(); ++step) {
    const std::uint32_t proc = (my_proc() + step) % procs();
    bulk_store(buffer(k).packed.on(proc), packed(k), buffer(k).arrived);
  }
}

void Solver::receive(std::size_t k) {
  if (!mine(k)) buffer(k).arrived.wait(packed(k).size_bytes());
  for (std::size_t i = 0; i < panel_at(k).width; ++i) {
    solution_.pivots.push_back(pivot(packed(k), i));
  }
}

// Takes panel k in. The process that has the next panel brings that up to date first, factors it
// and sends it: so it arrives while the others are still busy with this one. It goes to where the
// panel before this one was, which all have done with when they have met; nobody waits for that but
// the sender, until its own work is done.
void Solver::eliminate(std::size_t k) {
  const Panel panel = panel_at(k);
  const bool next_is_mine = k + 1 < panels_ && mine(k + 1);
  std::size_t behind = panel.first + panel.width;
  if (next_is_mine) {
    const std::size_t width = panel_at(k + 1).width;
    update(panel, packed(k), columns_from(behind, width));
    make(k + 1);
    behind += width;
    if (k > 0) barrier_wait();
    send(k + 1);
  }
  update(panel, packed(k), columns_from(behind));
  if (!next_is_mine && k > 0) barrier_wait();
  barrier_notify();
}

void Solver::factor_all(examples::Progress& progress) {
  if (mine(0)) {
    make(0);
    send(0);
  }
  for (std::size_t k = 0; k < panels_; ++k) {
    receive(k);
    eliminate(k);
    progress.step(work_of_panel(system_.size, k * width_));
  }
  barrier_wait();
}

bool Solver::complete() const noexcept {
  return std::ranges::find(solution_.pivots, kNoPivot) == solution_.pivots.end();
}

// --- Back substitution

// The unknowns of panel k, and the right side less what they make of it, for the panel before.
void Solver::substitute(std::size_t k) {
  const Panel panel = panel_at(k);
  const Columns columns = columns_from(panel.first, panel.width);
  const std::span<double> right = right_.mine().first(panel.first + panel.width);
  right_arrived_.wait(right.size_bytes());
  for (std::size_t l = panel.width; l-- > 0;) {
    const double* const column = columns.column(l);
    const std::size_t j = panel.first + l;
    right[j] /= column[j];
    for (std::size_t i = 0; i < j; ++i) right[i] -= column[i] * right[j];
  }
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    bulk_store(unknowns_.on(proc) + panel.first, right.subspan(panel.first));
  }
  if (k > 0) bulk_store(right_.on(owner_of_panel(k - 1)), right.first(panel.first), right_arrived_);
}

// The right side has gone through the elimination as one more column. It goes from the process that
// has the last panel to that of the one before, and so on.
void Solver::substitute_all() {
  const std::size_t n = system_.size;
  if (owner_of_column(n) == my_proc()) {
    const std::span<const double> column(columns_from(n).column(0), n);
    bulk_store(right_.on(owner_of_panel(panels_ - 1)), column, right_arrived_);
  }
  for (std::size_t k = panels_; k-- > 0;) {
    if (mine(k)) substitute(k);
  }
  all_store_sync();
  const auto unknowns = unknowns_.mine();
  solution_.unknowns.assign(unknowns.begin(), unknowns.end());
}

Solution Solver::solve(examples::Progress& progress) {
  fill();
  barrier();
  const double start = get_seconds();
  factor_all(progress);
  if (complete()) substitute_all();
  solution_.seconds = get_seconds() - start;
  return std::move(solution_);
}

}  // namespace lu
