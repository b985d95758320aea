// Reduce: every process adds a vector of ones to its vector, and then process 0 adds those of all
// others to its own, element by element.

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "examples/prk/kernel.h"

namespace prk {
namespace {

using namespace splitc;

void add(std::span<const double> from, double* __restrict to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

class Reduce : public Kernel {
 public:
  explicit Reduce(std::size_t length) : ones_(length, 1.0), vectors_(procs(), length) {
    std::ranges::fill(mine(), 1.0);
  }
  void iterate() override {
    add(ones_, mine().data());
    to_process_0();
  }
  double found(std::uint32_t iterations) override {
    if (my_proc() != 0) return 0;
    const double timed = iterations - 1.0;
    const double element =
        timed + 2 + (timed * timed + 5 * timed + 4) * (static_cast<double>(procs()) - 1) / 2;
    double wrong = 0;
    for (const double value : mine()) wrong += std::abs(value - element);
    return wrong;
  }

 protected:
  virtual void to_process_0() = 0;
  std::span<double> mine() const { return vectors_.mine(); }
  global_ptr<double> vector_of(std::uint32_t proc) const { return vectors_.on(proc); }

 private:
  std::vector<double> ones_;
  spread_array<double> vectors_;
};

// Each process adds up a part of the elements of all, and writes it to process 0.
class ReduceSlices : public Reduce {
 public:
  explicit ReduceSlices(std::size_t length)
      : Reduce(length),
        slice_(part(length, procs(), my_proc())),
        sum_(slice_.size()),
        others_(procs(), std::vector<double>(slice_.size())) {}

 protected:
  void to_process_0() override {
    barrier();  // all vectors have their new values
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!is_near(proc)) bulk_get(others_[proc], slice_of(proc));
    }
    sync();
    // Process 0 has the sum where it is to be, if that can be written directly.
    const bool direct = is_near(0);
    double* const sum = direct ? tolocal(slice_of(0)) : sum_.data();
    if (!direct) std::ranges::copy(others_[0], sum);
    for (std::uint32_t proc = 1; proc < procs(); ++proc) add(numbers_of(proc), sum);
    if (!direct) bulk_put(slice_of(0), sum_);
    sync();
    barrier();  // the vectors may change again
  }

 private:
  global_ptr<double> slice_of(std::uint32_t proc) const {
    return vector_of(proc) + static_cast<std::ptrdiff_t>(slice_.begin);
  }
  std::span<const double> numbers_of(std::uint32_t proc) const {
    if (!is_near(proc)) return others_[proc];
    return {tolocal(slice_of(proc)), slice_.size()};
  }

  Range slice_;
  std::vector<double> sum_;
  std::vector<std::vector<double>> others_;  // copies, by process
};

// By a channel from all processes to one.
class ReduceChannel : public Reduce {
 public:
  explicit ReduceChannel(std::size_t length)
      : Reduce(length), sum_(length), channel_(mine(), std::span(sum_)) {}

 protected:
  void to_process_0() override {
    channel_.put();
    if (my_proc() == 0) {
      channel_.wait();
      std::ranges::copy(sum_, mine().begin());
      channel_.ready();
    }
    wait_until([this] { return channel_.reusable(); });
    barrier();  // process 0 is ready for the next vectors
  }

 private:
  std::vector<double> sum_;
  reduce_channel<double> channel_;
};

}  // namespace

int reduce(Args args) {
  Runs runs;
  std::size_t length = 100'000;
  examples::CommandLine line("A sum of the vectors of all processes, at process 0.", "prk reduce");
  line.option("--length", length, "of each vector").range(std::size_t{1}, std::size_t{1} << 40);
  add_options(line, runs, {"slices", "channel"});
  if (!line.parse(args)) return 0;
  const Way ways[] = {
      {"slices", [=] { return std::make_unique<ReduceSlices>(length); }},
      {"channel", [=] { return std::make_unique<ReduceChannel>(length); }},
  };
  return measure(runs,
                 {.title = "reduce: vectors of " + std::to_string(length) + " elements",
                  .verified = "the sum of all errors",
                  .expected = [](double) { return 0; },
                  .unit = "MFlop",
                  .work = (2.0 * procs() - 1) * static_cast<double>(length) / 1e6},
                 ways);
}

}  // namespace prk
