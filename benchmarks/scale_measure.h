#pragma once

#include <map>
#include <string>

namespace bench {

// What one job of a size costs; the largest of all its processes.
//   heap_KiB         of the heap when the job has started, touched or not
//   private_KiB      private pages then
//   used_KiB         the same when it has passed barriers and reductions
//   address_MiB      address space, by then
//   connections      sockets that this opened
//   start_ms         from the launch to the last process's first line
//   start_cpu_ms     processor time of a process until then
//   barrier_us, broadcast_us, ...: of predicted_calls() (scale_collectives.h)
// Of the first process with the second:
//   round_trip_us    a request and its reply
//   overhead_us      the call of that request
//   per_KiB_us       what a put takes longer for each KiB
using Figures = std::map<std::string, double>;

// Runs as one process of a job, which was launched at `since` on the steady clock, in ns. The first
// prints the figures, "name value" a line. Returns the exit code.
int measure_scale(int argc, char** argv, double since, int reps);

}  // namespace bench
