#include "benchmarks/scale_measure.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/memory.h"
#include "benchmarks/support/samples.h"
#include "splitc/splitc.h"

namespace bench {
namespace {

using Block = std::array<std::byte, 65'536>;  // of a put from which the cost of a byte is taken

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
  Samples times;
  for (int i = 0; i < reps; ++i) {
    const Stopwatch watch;
    work();
    times.add(watch.ns() / 1e3);
  }
  return times.median();
}

// Of the first process with the second; the others only wait.
void measure_messages(Figures& mine, int reps) {
  am::Endpoint& endpoint = splitc::world().endpoint();
  am::Bundle& bundle = splitc::world().bundle();
  const auto blocks = splitc::all_spread_malloc<Block>(splitc::procs());
  for (const char* name : {"round_trip_us", "overhead_us", "per_KiB_us"}) mine[name] = 0;
  if (splitc::my_proc() == 0) {
    Samples issues;
    mine["round_trip_us"] = median_us(reps, [&] {
      answers = 0;
      const Stopwatch watch;
      endpoint.request<&on_hello>(1);
      issues.add(watch.ns() / 1e3);
      bundle.wait_until([] { return answers == 1; });
    });
    mine["overhead_us"] = issues.median();
    const auto block = std::make_unique<Block>();
    const auto put = [&](std::size_t bytes) {
      return median_us(reps,
                       [&] { splitc::sync(splitc::bulk_put(blocks.on(1), block->data(), bytes)); });
    };
    mine["per_KiB_us"] = std::max(0.0, (put(sizeof(Block)) - put(8)) / (sizeof(Block) / 1024.0));
  }
  splitc::all_spread_free(blocks);
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

// The median of what a call takes all of them, in microseconds.
template <class Work>
double together_us(int reps, Work&& work) {
  return median_us(reps, [&] {
    work();
    splitc::barrier();
  });
}

// By the names of predicted_calls(). With those that not everybody waits in, a barrier is measured.
void measure_calls(Figures& mine, int reps) {
  const std::uint64_t one = 1;
  std::vector<std::uint64_t> words(8192, one), sums(words.size());
  std::vector<std::uint64_t> parts(splitc::procs(), one), from(parts.size());
  std::uint64_t sum = 0;
  mine["barrier_us"] = median_us(reps, [] { splitc::barrier(); });
  mine["all_reduce_us"] = median_us(reps, [&] { sum += splitc::all_reduce(one, std::plus()); });
  if (sum != std::uint64_t{splitc::procs()} * static_cast<unsigned>(reps)) {
    throw splitc::Error("all_reduce gave a wrong sum");
  }
  mine["all_reduce_64K_us"] =
      median_us(reps, [&] { splitc::all_reduce(words, std::span(sums), std::plus()); });
  mine["broadcast_us"] = together_us(reps, [&] { (void)splitc::all_bcast(one); });
  mine["broadcast_64K_us"] = together_us(reps, [&] { splitc::all_bcast(std::span(words)); });
  mine["reduce_us"] = together_us(reps, [&] { splitc::all_reduce_to_one(one, std::plus()); });
  mine["scan_us"] = together_us(reps, [&] { splitc::all_scan(one, std::plus()); });
  mine["gather_to_one_us"] = together_us(reps, [&] { (void)splitc::all_gather_to_one(one); });
  mine["all_gather_us"] = median_us(reps, [&] { (void)splitc::all_gather(one); });
  mine["all_to_all_us"] = median_us(reps, [&] { splitc::all_to_all(parts, std::span(from)); });
}

// What is added by the use of the job.
void measure_use(Figures& mine, int reps) {
  measure_calls(mine, reps);
  mine["used_KiB"] = private_kib();
  mine["address_MiB"] = address_space_mib();
  mine["connections"] += open_sockets();
  measure_messages(mine, reps);
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
