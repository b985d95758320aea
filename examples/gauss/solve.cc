#include "examples/gauss/solve.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace gauss {

using namespace splitc;

namespace {

// The rows without a pivot are as many as the columns from `column` on.
std::uint64_t work_of_column(std::size_t size, std::size_t column) noexcept {
  return std::uint64_t{size - column} * (size - column);
}

}  // namespace

std::uint64_t Solver::work(std::size_t size) noexcept {
  std::uint64_t sum = 0;
  for (std::size_t column = 0; column < size; ++column) sum += work_of_column(size, column);
  return sum;
}

Solver::Solver(const System& system)
    : system_(system),
      rows_(procs(), (system.size + procs() - 1) / procs() * system.columns()),
      pivot_(system.columns()),
      unknowns_(system.size) {}

global_ptr<double> Solver::row_at(std::size_t row) const {
  return rows_.on(owner(row)) + row / procs() * system_.columns();
}

std::span<double> Solver::own_row(std::size_t row) const {
  return rows_.mine().subspan(row / procs() * system_.columns(), system_.columns());
}

void Solver::fill() {
  for (std::size_t i = my_proc(); i < system_.size; i += procs()) {
    const std::span<double> row = own_row(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = system_.at(i, j);
  }
  used_.assign(system_.size, false);
  order_.clear();
  solution_ = {};
}

// Whatever waits for another process lives as long as one of these, so that it is counted.
class Solver::Exchange {
 public:
  explicit Exchange(Solution& solution) : solution_(solution) {}
  ~Exchange() {
    solution_.communication += get_seconds() - start_;
    ++solution_.exchanges;
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

 private:
  Solution& solution_;
  const double start_ = get_seconds();
};

double Solver::value_at(std::size_t row, std::size_t column) {
  if (owner(row) == my_proc()) return own_row(row)[column];
  const Exchange counted(solution_);
  return row_at(row)[static_cast<std::ptrdiff_t>(column)];
}

// One candidate after the other, each by a read that waits: as the programs did of which "The
// influence of system calls and interrupts on the performances of a PC cluster" tells.
Solver::Pivot Solver::read_each(std::size_t column) {
  Pivot best{-1, 0};
  for (std::size_t i = 0; i < system_.size; ++i) {
    if (used_[i]) continue;
    const double magnitude = std::abs(value_at(i, column));
    if (magnitude > best.magnitude) best = {magnitude, i};
  }
  return best;
}

// Or the first of equals, as one process alone finds it.
bool Solver::is_larger(const Pivot& a, const Pivot& b) noexcept {
  return a.magnitude != b.magnitude ? a.magnitude > b.magnitude : a.row < b.row;
}

Solver::Pivot Solver::largest_here(std::size_t column) const {
  Pivot best{-1, system_.size};
  for (std::size_t i = my_proc(); i < system_.size; i += procs()) {
    const double magnitude = used_[i] ? -1 : std::abs(own_row(i)[column]);
    if (magnitude > best.magnitude) best = {magnitude, i};
  }
  return best;
}

std::size_t Solver::find_pivot(std::size_t column, Search search) {
  if (search == Search::kNone) return column;
  if (search == Search::kReduce) return reduce(largest_here(column)).row;
  synchronize();  // everybody's rows are those of this column now
  const std::uint32_t reader = owner(column);
  Pivot found{};
  if (my_proc() == reader) found = read_each(column);
  const Exchange counted(solution_);
  return all_bcast(found, reader).row;
}

std::size_t Solver::gather_pivot(std::size_t column) {
  const std::size_t elements = system_.columns() - column;
  const Pivot mine = largest_here(column);
  candidate_.assign(1 + elements, 0);
  candidate_[0] = static_cast<double>(mine.row);
  if (mine.row < system_.size) std::ranges::copy(own_row(mine.row).subspan(column), &candidate_[1]);
  candidates_.resize(procs() * candidate_.size());
  {
    const Exchange counted(solution_);
    all_gather(candidate_, candidates_);
  }
  std::span<const double> best(candidate_);
  for (std::size_t i = 0; i < candidates_.size(); i += candidate_.size()) {
    const std::span<const double> other = std::span(candidates_).subspan(i, candidate_.size());
    if (is_larger({std::abs(other[1]), static_cast<std::uint64_t>(other[0])},
                  {std::abs(best[1]), static_cast<std::uint64_t>(best[0])})) {
      best = other;
    }
  }
  std::ranges::copy(best.subspan(1), &pivot_.mine()[column]);
  return static_cast<std::size_t>(best[0]);
}

void Solver::synchronize() {
  const Exchange counted(solution_);
  barrier();
}

Solver::Pivot Solver::reduce(const Pivot& mine) {
  const Exchange counted(solution_);
  return all_reduce(mine, [](const Pivot& a, const Pivot& b) { return is_larger(a, b) ? a : b; });
}

// After a collective search all have done with the row before: then the owner may store the next
// one at all others. Without one it is a broadcast; also where candidates are read one by one, so
// that all is done by exchanges for which somebody waits.
bool Solver::stores(Search search) noexcept {
  return search == Search::kReduce || search == Search::kRows;
}

void Solver::spread(std::size_t row, std::size_t column, Search search) {
  const bool mine = owner(row) == my_proc();
  const std::span<double> part = pivot_.mine().subspan(column);
  if (mine) std::ranges::copy(own_row(row).subspan(column), part.begin());
  if (stores(search) && mine) return pivot_.store_at_others(column, part.size());
  const Exchange counted(solution_);
  if (stores(search)) return pivot_.wait(part.size());
  all_bcast(part, owner(row));
}

// An unknown is stored at all others as soon as it is there; who wants to go on waits for as many
// as there are behind its own. Or each is broadcast.
void Solver::substitute_all(Search search) {
  const std::span<double> unknowns = unknowns_.mine();
  std::size_t missing = 0;
  const auto await_missing = [&] {
    if (missing == 0) return;
    const Exchange counted(solution_);
    unknowns_.wait(std::exchange(missing, 0));
  };
  for (std::size_t column = system_.size; column-- > 0;) {
    const std::uint32_t proc = owner(order_[column]);
    const bool mine = proc == my_proc();
    if (mine) await_missing();
    if (mine) unknowns[column] = substitute(own_row(order_[column]), unknowns, column);
    if (!stores(search)) {
      const Exchange counted(solution_);
      unknowns[column] = all_bcast(unknowns[column], proc);
    } else if (mine) {
      unknowns_.store_at_others(column, 1);
    } else {
      ++missing;
    }
  }
  await_missing();
  solution_.unknowns.assign(unknowns.begin(), unknowns.end());
}

std::size_t Solver::next_pivot(std::size_t column, Search search) {
  if (search == Search::kRows) return gather_pivot(column);
  const std::size_t row = find_pivot(column, search);
  spread(row, column, search);
  return row;
}

Solution Solver::solve(Search search, examples::Progress& progress) {
  fill();
  barrier();
  const double start = get_seconds();
  for (std::size_t column = 0; column < system_.size; ++column) {
    const std::size_t pivot = next_pivot(column, search);
    if (pivot_.mine()[column] == 0) {
      solution_.singular = true;
      return std::move(solution_);
    }
    used_[pivot] = true;
    order_.push_back(pivot);
    for (std::size_t i = my_proc(); i < system_.size; i += procs()) {
      if (!used_[i]) eliminate(own_row(i), pivot_.mine(), column);
    }
    progress.step(work_of_column(system_.size, column));
  }
  substitute_all(search);
  solution_.seconds = get_seconds() - start;
  return std::move(solution_);
}

}  // namespace gauss
