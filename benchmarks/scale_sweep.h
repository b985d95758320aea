#pragma once

#include <string>
#include <vector>

#include "benchmarks/scale_measure.h"
#include "benchmarks/scale_model.h"

namespace bench {

struct ScaleRun {
  Size size;
  Figures figures;
};

// Jobs on one node, jobs of one process a node, and jobs between, from 2 processes to `most`, the
// largest last.
std::vector<Size> sizes_up_to(unsigned most);

// The launcher that has started this process. Throws std::runtime_error: none has.
std::string launcher_of_this();

// Runs a job of each size by `launcher`, one after the other, and says on standard error which one
// it is at. Throws std::runtime_error: a job failed.
std::vector<ScaleRun> run_all(const std::string& launcher, const std::vector<Size>& sizes,
                              int reps);

}  // namespace bench
