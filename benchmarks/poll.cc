// What Bundle::poll costs with nothing to do, in a job of any size: start it with 2 and with 64
// processes and compare. Rank 0 polls; all others sleep.

#include <string>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;

std::uint64_t answers = 0;

void on_answer(am::Reply) { ++answers; }
void on_hello(am::Request request) { std::move(request).reply<&on_answer>(); }

void report_polls(Bench& b, const std::string& name) {
  if (b.job.rank() != 0) return;
  const int n = b.count(10000);
  const int reps = b.reps(100);
  bench::Samples samples;
  for (int rep = 0; rep < reps; ++rep) {
    const bench::Stopwatch watch;
    for (int i = 0; i < n; ++i) b.bundle.poll();
    samples.add(watch.ns() / n);
  }
  b.report.add_time(name + "_of_" + std::to_string(b.job.size()), 0, samples);
}

void idle(Bench& b) {
  report_polls(b, "poll");
  b.job.barrier(b.bundle);
}

// Everybody has sent to everybody and been answered.
void acquainted(Bench& b) {
  b.endpoint.add_handlers<&on_answer, &on_hello>();
  b.job.barrier(b.bundle);
  const std::uint64_t end = answers + b.job.size();
  for (am::Rank to = 0; to < b.job.size(); ++to) b.endpoint.request<&on_hello>(to);
  b.bundle.wait_until([end] { return answers == end; });
  b.job.barrier(b.bundle);
  report_polls(b, "poll_acquainted");
  b.job.barrier(b.bundle);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "poll",
       .what = "Bundle::poll with nothing to do, in a job of this size",
       .measurements =
           {
               {"idle", "before anybody has sent anything", idle, true},
               {"acquainted", "after everybody has sent a request to everybody", acquainted, true},
           },
       .anywhere = true});
}
