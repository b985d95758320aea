// The doctor as the processes of a job: one of each node looks, and rank 0 says what all have
// found.
#pragma once

#include <vector>

#include "am/job/config/config.h"
#include "tools/doctor/checks/facts.h"
#include "tools/doctor/report.h"

namespace am::doctor {

// Whether a launcher, or somebody by SPLITC_RENDEZVOUS, has started this process as one of several.
bool is_in_job(const Config& config);

struct JobReport {
  std::vector<NodeReport> nodes;  // at rank 0 of all; if the job does not start, of this one alone
  bool to_print = false;          // by this process: others are silent
};

// Starts the job that `config` describes, collects, and ends the job. Collective, and waits for all
// processes. A job that does not start is a finding, and so is libfabric crashing.
JobReport examine_job(const Config& config);

// What is found here without a job. `shape`: what somebody wants of the machine.
NodeReport examine_alone(const Config& config, const JobShape& shape);

// Joins the job as splitc::run() does, measures up to which sizes the algorithms of collective
// calls are the fastest between its processes, and prints that at process 0 as SPLITC_COLLECTIVES
// takes it (am/collective/limits.h). Returns the exit code: 2, and a sentence, unless there are
// several processes, each on a node of its own.
int tune(int argc, char** argv);

}  // namespace am::doctor
