// What it takes to start a job, to use it a little and to end it, in time and in memory. Meant for
// many more processes than cores: splitcrun -n 64 start_up.

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/memory.h"
#include "benchmarks/support/options.h"
#include "benchmarks/support/report.h"
#include "splitc/splitc.h"

namespace {

using bench::Memory;
using bench::Report;

const std::vector<bench::Entry> kEntries{
    {"times", "from the launcher's start to the world, barriers, all to all, finish, all of it"},
    {"memory", "of the process that uses most, after the start and at the end, in KiB"},
};

// Nanoseconds since boot at which process `pid` was started; the kernel counts in steps of 10 ms.
double start_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;  // the 22nd is its start
  return std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK)) * 1e9;
}

double since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void say_time(const Report& report, const std::string& name, double ns) {
  report.add({.name = name, .value = ns, .median = ns});
}

// The largest of each over all processes, so they need not add up. Collective.
void say_memory(const Report& report, const std::string& when) {
  const Memory mine = bench::measure_memory(splitc::my_proc());
  const auto say = [&](const char* what, std::uint64_t kib) {
    const auto most = static_cast<double>(splitc::all_reduce(kib, splitc::maximum()));
    report.add({.name = when + "_" + what, .value = most, .median = most, .unit = "KiB"});
  };
  say("beyond_segment", mine.beyond_segment());
  say("peak", mine.peak);
  say("resident", mine.resident);
  say("private", mine.private_pages);
  say("files", mine.files);
  say("own_segment", mine.own_segment);
  say("other_segments", mine.other_segments);
  say("other_shared", mine.other_shared);
  say("proportional_share", mine.share);
}

void all_to_all() {
  std::vector<std::uint64_t> to(splitc::procs()), from(splitc::procs());
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    to[proc] = std::uint64_t{splitc::my_proc()} << 32 | proc;
  }
  splitc::all_to_all(std::span(to), std::span(from));
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) {
    if (from[proc] != (std::uint64_t{proc} << 32 | splitc::my_proc())) {
      throw splitc::Error("all_to_all gave a wrong word");
    }
  }
}

std::uint64_t answers = 0;
void on_answer(am::Reply) { ++answers; }
void on_hello(am::Request request) { std::move(request).reply<&on_answer>(); }

// A request of everybody to everybody, answered.
void greet() {
  am::Endpoint& endpoint = splitc::world().endpoint();
  for (std::uint32_t proc = 0; proc < splitc::procs(); ++proc) endpoint.request<&on_hello>(proc);
  splitc::world().bundle().wait_until([] { return answers == splitc::procs(); });
}

struct Run {
  double launched_ns;  // since boot
  double ended_ns;     // the program's last word, on the steady clock
  bench::Options options;
  bool chosen(const std::string& name) const {
    const auto& only = options.only;
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  }
};

int measure(int argc, char** argv, Run& run) {
  const double now = since_boot();
  const bool alone = splitc::world().job().launcher() == "none";
  run.launched_ns = start_of(alone ? getpid() : getppid());
  const double started = now - run.launched_ns;
  int exit_code = 0;
  const bool first = splitc::my_proc() == 0;
  const auto options = bench::parse_options(argc, argv, {"start_up", "start, use and end of a job"},
                                            kEntries, first, exit_code);
  if (!options) return exit_code;
  run.options = *options;
  const Report report(options->csv, first);
  report.say("start_up: start, use and end of a job. It can measure:\n" + bench::list_of(kEntries) +
             std::to_string(splitc::procs()) + " processes");
  report.begin();
  splitc::world().endpoint().add_handlers<&on_answer, &on_hello>();
  if (run.chosen("memory")) say_memory(report, "start");
  splitc::barrier();
  const auto timed = [&](const std::string& name, auto&& work) {
    const bench::Stopwatch watch;
    work();
    if (run.chosen("times")) say_time(report, name, watch.ns());
  };
  if (run.chosen("times")) say_time(report, "start", started);
  timed("barrier", [] { splitc::barrier(); });
  timed("all_to_all_word", [] { all_to_all(); });
  timed("all_to_all_request", [] { greet(); });
  const int barriers = options->quick ? 20 : 1000;
  timed("barriers_" + std::to_string(barriers), [&] {
    for (int i = 0; i < barriers; ++i) splitc::barrier();
  });
  if (run.chosen("memory")) say_memory(report, "end");
  run.ended_ns = bench::now_ns();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Run run{.launched_ns = 0, .ended_ns = 0, .options = {}};
  bool first = false;
  const int exit_code = splitc::run(argc, argv, [&](splitc::Args) {
    first = splitc::my_proc() == 0;
    return measure(argc, argv, run);
  });
  if (first && run.ended_ns != 0 && run.chosen("times")) {
    const Report report(run.options.csv, true);
    say_time(report, "finish", bench::now_ns() - run.ended_ns);
    say_time(report, "start_to_finish", since_boot() - run.launched_ns);
  }
  return exit_code;
}
