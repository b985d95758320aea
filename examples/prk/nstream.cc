// Nstream: A += B + 3 C, for vectors in blocks. Nothing communicates: the rate is that of memory.

#include <numeric>
#include <stdexcept>
#include <vector>

#include "examples/prk/kernel.h"

namespace prk {
namespace {

class Triad : public Kernel {
 public:
  explicit Triad(std::size_t length)
      : a_(part(length, splitc::procs(), splitc::my_proc()).size()),
        b_(a_.size(), 2.0),
        c_(a_.size(), 2.0) {}

  void iterate() override {
    double* const a = a_.data();
    const double *const b = b_.data(), *const c = c_.data();
#pragma GCC ivdep
    for (std::size_t i = 0; i < a_.size(); ++i) a[i] += b[i] + 3.0 * c[i];
  }
  double found(std::uint32_t) override { return std::accumulate(a_.begin(), a_.end(), 0.0); }

 private:
  std::vector<double> a_, b_, c_;
};

}  // namespace

int nstream(splitc::Args args) {
  Runs runs;
  std::size_t length = 1'000'000;
  examples::CommandLine line("A triad of vectors: the rate of memory.", "prk nstream");
  line.option("--length", length, "elements of each of the three vectors")
      .range(std::size_t{1}, std::size_t{1} << 40);
  add_options(line, runs, {"memory"});
  if (!line.parse(args)) return 0;
  if (length < splitc::procs()) {
    throw std::runtime_error("prk nstream: --length " + std::to_string(length) +
                             " has no element for some of " + std::to_string(splitc::procs()) +
                             " processes; give at least one for each");
  }
  const auto n = static_cast<double>(length);
  const Way ways[] = {{"memory", [=] { return std::make_unique<Triad>(length); }}};
  return measure(runs,
                 {.title = "nstream: vectors of " + std::to_string(length) + " elements",
                  .verified = "the sum of the vector",
                  .expected = [=](double iterations) { return n * 8 * iterations; },
                  .unit = "MB",
                  .work = 4 * sizeof(double) * n / 1e6},
                 ways);
}

}  // namespace prk
