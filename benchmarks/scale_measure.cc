#include "benchmarks/scale_measure.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/memory.h"
#include "splitc/splitc.h"

namespace bench {
namespace {

std::uint64_t answers = 0;
void on_answer(am::Reply) { ++answers; }
void on_hello(am::Request request) { std::move(request).reply<&on_answer>(); }

double processor_ms() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

double address_space_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmSize:" && status >> kib) return kib / 1024;
  }
  return 0;
}

double open_sockets() {
  double count = 0;
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    if (std::filesystem::read_symlink(file, gone).string().starts_with("socket:")) ++count;
  }
  return count;
}

double private_kib() {
  return static_cast<double>(measure_memory(splitc::my_proc()).private_pages);
}

// The median, in microseconds. Collective, if the work is.
template <class Work>
double median_us(int reps, Work&& work) {
  std::vector<double> times;
  for (int i = 0; i < reps; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.ns() / 1e3);
  }
  std::nth_element(times.begin(), times.begin() + reps / 2, times.end());
  return times[static_cast<std::size_t>(reps) / 2];
}

// Of the first process with the second; the others only wait.
double round_trip_us(int reps) {
  am::Endpoint& endpoint = splitc::world().endpoint();
  am::Bundle& bundle = splitc::world().bundle();
  double us = 0;
  if (splitc::my_proc() == 0) {
    us = median_us(reps, [&] {
      const std::uint64_t before = answers;
      endpoint.request<&on_hello>(1);
      bundle.wait_until([before] { return answers == before + 1; });
    });
  }
  splitc::barrier();
  return us;
}

double heap_kib() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / 1024;
}

// Of the start, before anybody has been talked to.
Figures measure_start(double since) {
  return {{"start_ms", (now_ns() - since) / 1e6},
          {"start_cpu_ms", processor_ms()},
          {"heap_KiB", heap_kib()},
          {"private_KiB", private_kib()},
          {"connections", -open_sockets()}};
}

// What is added by the use of the job.
void measure_use(Figures& mine, int reps) {
  std::uint64_t sum = 0;
  mine["barrier_us"] = median_us(reps, [] { splitc::barrier(); });
  mine["all_reduce_us"] =
      median_us(reps, [&] { sum += splitc::all_reduce(std::uint64_t{1}, std::plus()); });
  if (sum != std::uint64_t{splitc::procs()} * static_cast<unsigned>(reps)) {
    throw splitc::Error("all_reduce gave a wrong sum");
  }
  mine["used_KiB"] = private_kib();
  mine["address_MiB"] = address_space_mib();
  mine["connections"] += open_sockets();
  mine["round_trip_us"] = round_trip_us(reps);
}

}  // namespace

int measure_scale(int argc, char** argv, double since, int reps) {
  return splitc::run(argc, argv, [&](splitc::Args) {
    Figures mine = measure_start(since);
    splitc::world().endpoint().add_handlers<&on_answer, &on_hello>();
    splitc::barrier();
    measure_use(mine, reps);
    for (const auto& [name, value] : mine) {
      const double most = splitc::all_reduce(value, splitc::maximum());
      if (splitc::my_proc() == 0) std::printf("%s %.3f\n", name.c_str(), most);
    }
    return 0;
  });
}

}  // namespace bench
