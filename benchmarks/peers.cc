// What a process pays in memory for each other process of its job that it has never talked to, and
// for one that it has. The first needs jobs of several sizes; benchmarks/peers.sh starts them.

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/memory.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"

namespace {

using bench::Report;

std::uint64_t answers = 0;
void on_answer(am::Reply) { ++answers; }
void on_hello(am::Request request) { std::move(request).reply<&on_answer>(); }

// Bytes that malloc has given away, large pieces that are mappings of their own included.
std::uint64_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct State {
  std::uint64_t heap;           // bytes
  std::uint64_t private_pages;  // KiB
};

State now(am::Job& job) { return {heap_bytes(), bench::measure_memory(job.rank()).private_pages}; }

// The largest of all processes. Collective; by the launcher's means, so that nobody talks.
void say(const Report& report, am::Job& job, const std::string& when, const State& mine) {
  State most{};
  for (const State& state : job.exchange(mine)) {
    most.heap = std::max(most.heap, state.heap);
    most.private_pages = std::max(most.private_pages, state.private_pages);
  }
  const auto add = [&](const char* what, std::uint64_t amount, const char* unit) {
    const auto value = static_cast<double>(amount);
    report.add({.name = when + "_" + what, .value = value, .median = value, .unit = unit});
  };
  add("heap", most.heap, "B");
  add("private", most.private_pages, "KiB");
}

int measure(int argc, char** argv, am::Job& job) {
  const State start = now(job);
  const std::vector<bench::Entry> entries{
      {"memory", "heap in bytes and private pages of a job, and with a connected endpoint"},
      {"greeting", "the same after a greeting to the next process, and a barrier"}};
  const bool first = job.rank() == 0;
  int exit_code = 0;
  const auto options = bench::parse_options(
      argc, argv, {"peers", "memory for the other processes of a job"}, entries, first, exit_code);
  am::Bundle bundle(job);
  if (!options) {
    job.finish(bundle);
    return exit_code;
  }
  const Report report(options->csv, first, "job");
  report.say("peers: memory for the other processes of a job. It can measure:\n" +
             bench::list_of(entries) + std::to_string(job.size()) + " processes");
  report.begin();
  const auto chosen = [&only = options->only](const char* name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  if (chosen("memory")) say(report, job, "job", start);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_answer, &on_hello>();
  job.connect(endpoint);
  if (chosen("memory")) say(report, job, "endpoint", now(job));
  if (chosen("greeting")) {
    endpoint.request<&on_hello>((job.rank() + 1) % job.size());
    bundle.wait_until([] { return answers == 1; });
    job.barrier(bundle);
    say(report, job, "greeted", now(job));
  }
  job.finish(bundle);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    am::Job job;
    return measure(argc, argv, job);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers: %s\n", error.what());
    return 1;
  }
}
