// Jacobi's method on a square by OpenMP and Split-C: each process has a block of rows, each of its
// threads a range of columns, for which it fetches the rows beside the block itself.
//
//   c++ -std=c++20 -O2 -fopenmp jacobi_openmp.cc $(pkg-config --cflags --libs splitphase-splitc)
//   splitcrun -n 4 ./a.out 400 100

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "splitc/splitc.h"

using namespace splitc;

namespace {

// Rows `first` to before `end` of `width` columns each, with a row above and one below.
struct Block {
  std::size_t width, first, end;
  global_ptr<double> rows;  // in the segment: others fetch from here

  Block(std::size_t n)
      : width(n),
        first(n * my_proc() / procs()),
        end(n * (my_proc() + 1) / procs()),
        rows(toglobal(my_proc(), local_malloc<double>((end - first + 2) * n))) {
    std::fill_n(tolocal(rows), (end - first + 2) * n, 0.0);
    if (my_proc() == 0) std::fill_n(tolocal(rows), n, 1.0);  // the upper rim is kept at 1
  }
  ~Block() { local_free(tolocal(rows)); }
  double* row(std::size_t i) const { return tolocal(rows) + i * width; }
  std::size_t height() const { return end - first; }
};

// Starts to fetch columns `from` to before `to` of the neighbours' rows.
void get_ghosts(const Block& mine, const std::vector<global_ptr<double>>& blocks,
                const std::vector<std::size_t>& heights, std::size_t from, std::size_t to) {
  const std::size_t bytes = (to - from) * sizeof(double);
  const auto column = [&](std::size_t row) {
    return static_cast<std::ptrdiff_t>(row * mine.width + from);
  };
  const std::uint32_t me = my_proc();
  if (me != 0) bulk_get(mine.row(0) + from, blocks[me - 1] + column(heights[me - 1]), bytes);
  if (me + 1 != procs())
    bulk_get(mine.row(mine.height() + 1) + from, blocks[me + 1] + column(1), bytes);
}

double solve(std::size_t n, int steps) {
  Block one(n), other(n);
  Block* now = &one;
  Block* next = &other;
  const std::vector<global_ptr<double>> blocks[] = {all_gather(one.rows), all_gather(other.rows)};
  const std::vector<std::size_t> heights = all_gather(one.height());
#pragma omp parallel
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t from = n * thread / threads, to = n * (thread + 1) / threads;
    for (int step = 0; step < steps; ++step) {
#pragma omp master
      barrier();  // all processes have their rows of this step
#pragma omp barrier
      get_ghosts(*now, blocks[step % 2], heights, from, to);
      sync();  // for what this thread has fetched
#pragma omp barrier
      for (std::size_t i = 1; i <= now->height(); ++i) {
        for (std::size_t j = std::max<std::size_t>(from, 1); j < std::min(to, n - 1); ++j) {
          next->row(i)[j] = 0.25 * (now->row(i - 1)[j] + now->row(i + 1)[j] + now->row(i)[j - 1] +
                                    now->row(i)[j + 1]);
        }
      }
#pragma omp barrier
#pragma omp master
      std::swap(now, next);
#pragma omp barrier
    }
  }
  double sum = 0;
  for (std::size_t i = 1; i <= now->height(); ++i) {
    for (std::size_t j = 0; j < n; ++j) sum += now->row(i)[j];
  }
  const double all = all_reduce(sum, std::plus<>());
  barrier();  // nobody fetches any more
  return all;
}

double solve_alone(std::size_t n, int steps) {
  std::vector<double> now((n + 2) * n), next;
  std::fill_n(now.begin(), n, 1.0);
  next = now;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t at = n; at < (n + 1) * n; at += n) {
      for (std::size_t j = at + 1; j + 1 < at + n; ++j)
        next[j] = 0.25 * (now[j - n] + now[j + n] + now[j - 1] + now[j + 1]);
    }
    now.swap(next);
  }
  double sum = 0;
  for (std::size_t at = n; at < (n + 1) * n; ++at) sum += now[at];
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = static_cast<std::uint32_t>(omp_get_max_threads());
  return run(argc, argv, {.threads = threads}, [&](Args args) {
    const std::size_t n = args.size() > 1 ? std::strtoul(args[1], nullptr, 10) : 200;
    const int steps = args.size() > 2 ? std::atoi(args[2]) : 50;
    const double start = get_seconds();
    const double sum = solve(n, steps);
    const double seconds = get_seconds() - start;
    const double alone = solve_alone(n, steps);
    const bool right = std::abs(sum - alone) <= 1e-9 * alone;
    on_one([&] {
      std::printf("%zu x %zu, %d steps, %u processes of %u threads: sum %.12g %s, %.3g s\n", n, n,
                  steps, procs(), threads, sum, right ? "as alone" : "WRONG", seconds);
    });
    return right ? 0 : 1;
  });
}
