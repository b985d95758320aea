// Topological sort: the rows and columns of a matrix that is upper triangular but for their order
// are put in an order in which it is.
//
// A row with one entry goes to the end, and the column of that entry as well. Without them there is
// another such row, and so on. As in Bale nothing is taken out of the matrix: of each row it is
// known how many entries it has left, and the sum of their columns, which is the last one's when
// one is left. All rows that have one entry at a time are a level.
#include <functional>
#include <numeric>
#include <utility>

#include "examples/bale/assemble.h"
#include "examples/bale/input.h"

namespace bale {
namespace {

using namespace splitc;

// What a row has left, in one word, from which one addition takes an entry.
constexpr unsigned kCountAt = 48;
constexpr std::uint64_t entry_in(std::uint32_t column) {
  return (std::uint64_t{1} << kCountAt) + column;
}
constexpr bool has_one(std::uint64_t left) { return left >> kCountAt == 1; }
// If it has one.
constexpr std::uint32_t last_column(std::uint64_t left) { return static_cast<std::uint32_t>(left); }

// A row that has one entry left, and the column of that.
struct Pivot {
  std::uint32_t row;
  std::uint32_t column;
};

// The entries of columns, one behind another, which gets bring.
struct Fetched {
  std::vector<std::uint32_t> ends;  // pairs: where each begins and ends, where it is
  std::vector<std::uint32_t> rows;
};

class TopologicalSort final : public Kernel {
 public:
  explicit TopologicalSort(const Problem& problem)
      : rows_were_(make_permutation(problem.all(), problem.seed + 1)),
        columns_were_(make_permutation(problem.all(), problem.seed + 2)),
        matrix_(make_permuted(problem)),
        columns_(Assembler().transpose({Style::kAggregator}, matrix_)),
        left_(problem.all()),
        row_to_(problem.all()),
        column_to_(problem.all()),
        placed_(procs()) {}

  std::uint64_t updates() const override { return matrix_.entries(); }

  void run(const Way& way) override {
    const std::vector<Pivot> first = begin();
    if (way.style == Style::kPlain) {
      sort_plainly(first);
    } else {
      sort_by_senders(way, first);
    }
  }

  // Both are permutations, and put every entry on the diagonal or right of it.
  Verdict check() override {
    spread_array<std::uint32_t> rows(matrix_.size()), columns(matrix_.size());
    std::uint64_t wrong = 0;
    for (std::uint32_t mine = 0; mine < matrix_.my_rows(); ++mine) {
      fetch_and_add(rows.pointer(row_to_.mine()[mine]), 1u);
      fetch_and_add(columns.pointer(column_to_.mine()[mine]), 1u);
    }
    matrix_.for_each_mine([&](std::uint32_t row, std::uint32_t column) {
      wrong += *column_to_.pointer(column) < row_to_.mine()[local(row)] ? 1u : 0u;
    });
    barrier();
    for (std::uint32_t mine = 0; mine < matrix_.my_rows(); ++mine) {
      wrong += rows.mine()[mine] != 1 || columns.mine()[mine] != 1 ? 1u : 0u;
    }
    return {all_reduce(wrong, std::plus()), matrix_.digest()};
  }

 private:
  // Row i of the triangle is row rows_were_(i) here, and column j column columns_were_(j).
  SparseMatrix make_permuted(const Problem& problem) const {
    const random_matrix triangle = matrix_of(problem, kUpperWithDiagonal);
    SparseMatrix::Rows rows;
    std::uint32_t columns[kMostDegree + 1];
    for (std::uint32_t mine = 0; mine < problem.size; ++mine) {
      const std::uint32_t count =
          make_row(&triangle, permute_back(&rows_were_, global(mine)), columns);
      rows.counts.push_back(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        rows.columns.push_back(permute(&columns_were_, columns[i]));
      }
    }
    return {triangle.size, rows};
  }

  // Nothing has been taken yet. Returns the rows of this process that have one entry.
  std::vector<Pivot> begin() {
    std::vector<Pivot> pivots;
    for (std::uint32_t mine = 0; mine < matrix_.my_rows(); ++mine) {
      std::uint64_t& left = left_.mine()[mine];
      left = 0;
      for (const std::uint32_t column : matrix_.row(mine)) left += entry_in(column);
      if (has_one(left)) pivots.push_back({global(mine), last_column(left)});
    }
    placed_.mine()[0] = 0;
    barrier();
    return pivots;
  }

  // The last of `count` places that are free; the others are those before it.
  std::uint32_t take_places(std::size_t count) {
    if (count == 0) return 0;
    return matrix_.size() - 1 - fetch_and_add(placed_.on(0), static_cast<std::uint32_t>(count));
  }

  // --- By gets, puts and atomics: the process that leaves a row with one entry goes on with that
  // row, also if another process owns it.

  void sort_plainly(std::vector<Pivot> pivots) {
    while (all_reduce(pivots.size(), std::plus()) != 0) {
      std::uint32_t to = take_places(pivots.size());
      for (const Pivot& pivot : pivots) {
        put(row_to_.pointer(pivot.row), to);
        put(column_to_.pointer(pivot.column), to--);
      }
      pivots = take_columns(pivots, fetch_columns(pivots));
    }
    sync();
    barrier();
  }

  Fetched fetch_columns(const std::vector<Pivot>& pivots) {
    Fetched all;
    all.ends.resize(2 * pivots.size());
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      bulk_get(std::span(&all.ends[2 * i], 2), columns_.begin_of(pivots[i].column));
    }
    sync();
    std::size_t rows = 0;
    for (std::size_t i = 0; i < pivots.size(); ++i) rows += all.ends[2 * i + 1] - all.ends[2 * i];
    all.rows.resize(rows);
    std::uint32_t* to = all.rows.data();
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      const std::size_t count = all.ends[2 * i + 1] - all.ends[2 * i];
      bulk_get(std::span(to, count), columns_.columns_beside(pivots[i].column) + all.ends[2 * i]);
      to += count;
    }
    sync();
    return all;
  }

  // Takes the entries of these columns; returns the rows that have one left after that.
  std::vector<Pivot> take_columns(const std::vector<Pivot>& pivots, const Fetched& fetched) {
    std::vector<std::uint64_t> before(fetched.rows.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      const std::uint64_t taken = -entry_in(pivots[i].column);
      for (std::uint32_t k = fetched.ends[2 * i]; k < fetched.ends[2 * i + 1]; ++k, ++next) {
        start_fetch_and_add(before[next], left_.pointer(fetched.rows[next]), taken);
      }
    }
    sync();
    std::vector<Pivot> found;
    next = 0;
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      for (std::uint32_t k = fetched.ends[2 * i]; k < fetched.ends[2 * i + 1]; ++k, ++next) {
        const std::uint64_t left = before[next] - entry_in(pivots[i].column);
        if (has_one(left)) found.push_back({fetched.rows[next], last_column(left)});
      }
    }
    return found;
  }

  // --- By updates at the owners of rows and columns, which keep what they have to go on with.

  struct Owned {
    std::span<std::uint64_t> left;       // of each row here
    std::span<std::uint32_t> column_to;  // of each column here
    std::vector<std::uint32_t> rows;     // that have one entry left
    std::vector<std::uint32_t> columns;  // that are to be taken
  };
  struct Taken {
    std::uint32_t local_row;
    std::uint32_t column;
  };
  struct Settled {
    std::uint32_t local_column;
    std::uint32_t to;
  };

  void sort_by_senders(const Way& way, const std::vector<Pivot>& first) {
    dist_object<Owned> owned(Owned{left_.mine(), column_to_.mine(), {}, {}});
    for (const Pivot& pivot : first) owned->rows.push_back(local(pivot.row));
    const auto settle = [](Owned& mine, Settled column) {
      mine.column_to[column.local_column] = column.to;
      mine.columns.push_back(column.local_column);
    };
    const auto take = [](Owned& mine, Taken entry) {
      std::uint64_t& left = mine.left[entry.local_row] -= entry_in(entry.column);
      if (has_one(left)) mine.rows.push_back(entry.local_row);
    };
    with_sender<Settled>(way, owned, settle, [&](auto& columns) {
      with_sender<Taken>(way, owned, take, [&](auto& rows) {
        // Those of the processes before this one get the places behind its own.
        std::size_t free = matrix_.size();
        for (;;) {
          const auto counts = all_gather(owned->rows.size());
          const auto mine = counts.begin() + my_proc();
          const std::size_t before = std::accumulate(counts.begin(), mine, std::size_t{0});
          const std::size_t all = std::accumulate(mine, counts.end(), before);
          if (all == 0) break;
          take_level(*owned, static_cast<std::uint32_t>(free - 1 - before), columns, rows);
          free -= all;
        }
      });
    });
  }

  // The places are `to` and those before it.
  template <class Columns, class Rows>
  void take_level(Owned& owned, std::uint32_t to, Columns& columns, Rows& rows) {
    for (const std::uint32_t row : std::exchange(owned.rows, {})) {
      const std::uint32_t column = last_column(owned.left[row]);
      row_to_.mine()[row] = to;
      columns.send(owner(column), {local(column), to--});
    }
    columns.flush_all();
    for (const std::uint32_t column : std::exchange(owned.columns, {})) {
      for (const std::uint32_t row : columns_.row(column)) {
        rows.send(owner(row), {local(row), global(column)});
      }
    }
    rows.flush_all();
  }

  permutation rows_were_, columns_were_;
  SparseMatrix matrix_;
  SparseMatrix columns_;  // the matrix transposed: of each column the rows
  spread_array<std::uint64_t> left_;
  spread_array<std::uint32_t> row_to_, column_to_;  // the permutations that are found
  spread_array<std::uint32_t> placed_;              // of process 0: rows that have a place
};

}  // namespace

std::unique_ptr<Kernel> make_topological_sort(const Problem& problem) {
  return std::make_unique<TopologicalSort>(problem);
}

}  // namespace bale
