// What the figures of jobs of several sizes say of other sizes: each figure is a sum of a few
// known functions of the size, whose factors are fitted.
#pragma once

#include <string>
#include <vector>

namespace bench {

// How large a job is.
struct Size {
  unsigned processes;
  unsigned nodes;

  double near() const { return static_cast<double>(processes) / nodes; }  // of each node
  double far() const { return processes - near(); }                       // of other nodes
};

// What a figure grows by.
enum class Term {
  kOne,
  kNear,       // processes of the node
  kFar,        // processes of other nodes
  kRoom,       // of these the first 64, and 8 at least: room for what they send grows no further
  kProcesses,  // of the job
  kDepth,      // the logarithm of the nodes
};
double value_of(Term term, const Size& size);
const char* name_of(Term term);

struct Sample {
  Size size;
  double value;
};

// factors[i] of terms[i].
struct Model {
  std::vector<Term> terms;
  std::vector<double> factors;

  double at(const Size& size) const;
};

// Least squares of what is off in proportion to the value, as figures of large jobs are no more
// precise than those of small ones. Terms that the samples cannot tell apart, or that would shrink
// the figure, get 0.
Model fit(std::vector<Term> terms, const std::vector<Sample>& samples);

}  // namespace bench
