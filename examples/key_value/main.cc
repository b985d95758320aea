// A key-value store over all processes, and a load on it: each process keeps a part of the keys,
// and asks for keys of all.
//
//   ./run key_value                                               95 % reads of popular keys
//   ./run -n 8 key_value --reads 50 --distribution uniform --bytes 4096
//   ./run -n 2 --nodes 2 key_value --outstanding 1
//
// Prints the rate, and the latencies of each kind of request to other processes: the median, and
// what 10, 1 and 0.1 % of the requests exceed. Those for keys of the process itself, which take a
// call of a function, are a line of their own. It is a closed loop: a client asks again when it has
// its answer, so a store that is slow is asked less.
//
// Checks every answer (session.h), and in the end that all values are whole, at their place, and
// have seen all writes that were made. Exit code 1 if not.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "examples/command_line.h"
#include "examples/key_value/session.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace key_value {
namespace {

using namespace splitc;

constexpr std::uint32_t kMaxKeys = 40'000'000;
constexpr std::uint64_t kMaxBytes = 1 << 20;

// Gives every key its first value. Collective.
void fill(Store& store, const Workload& workload, examples::Progress& progress) {
  Words value(workload.bytes / sizeof(std::uint64_t));
  for (Key key = my_proc(); key < workload.keys; key += procs()) {
    make_value(key, Stamp::of(my_proc(), 0), value);
    store.put_one_way(key, value);
    progress.step();
  }
  quiesce();
}

// The histogram of all processes. Collective.
Histogram of_all(const Histogram& mine) {
  std::vector<std::uint64_t> counts(mine.counts().size());
  all_reduce(mine.counts(), std::span(counts), std::plus());
  return {std::move(counts), all_reduce(mine.max(), maximum())};
}

void print(const char* name, const Histogram& latencies, double seconds) {
  const auto us = [](std::uint64_t ns) { return 1e-3 * static_cast<double>(ns); };
  const auto count = latencies.count();
  std::printf("%-8s%10lu%12.1f", name, count, 1e-3 * static_cast<double>(count) / seconds);
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    std::printf("%11.2f", us(latencies.percentile(percent)));
  }
  std::printf("%11.2f\n", us(latencies.max()));
}

// Collective.
void report_requests(const Session& session, const Workload& workload, double seconds) {
  const std::uint64_t popular = all_reduce(session.requests_for(0), std::plus());
  on_one([&] {
    const double all = static_cast<double>(workload.requests) * procs();
    std::printf("%.6f seconds, %.1f thousand requests a second, %.2f %% of them for one key (%s)\n",
                seconds, 1e-3 * all / seconds, 100 * static_cast<double>(popular) / all,
                workload.distribution.c_str());
  });
}

// Collective.
void report_latencies(const Session& session, double seconds) {
  on_one([] {
    std::printf("%-8s%10s%12s%11s%11s%11s%11s%11s us\n", "", "requests", "thousand/s", "50 %",
                "90 %", "99 %", "99.9 %", "max");
  });
  const auto print_all = [seconds](const char* name, const Histogram& mine) {
    const Histogram latencies = of_all(mine);
    if (latencies.count() > 0) on_one([&] { print(name, latencies, seconds); });
  };
  print_all("read", session.latencies(Kind::kRead));
  print_all("put", session.latencies(Kind::kPut));
  print_all("update", session.latencies(Kind::kUpdate));
  print_all("here", session.latencies_here());
}

// What is wrong with the values that this process keeps; adds their writes up.
std::uint64_t wrong_values(const Store& store, const Workload& workload, std::uint64_t& keys,
                           std::uint64_t& writes) {
  std::uint64_t wrong = 0;
  store.for_all([&](Key key, const Store::Record& record) {
    const bool right = record.words.size() == workload.bytes / sizeof(std::uint64_t) &&
                       is_value(key, record.words) && Store::owner(key) == my_proc();
    wrong += right ? 0 : 1;
    ++keys;
    writes += record.writes;
  });
  return wrong;
}

// Whether everybody found everything right, of which process 0 speaks. Collective.
bool check(const Session& session, const Store& store, const Workload& workload) {
  std::uint64_t keys = 0, writes = 0;
  const std::uint64_t wrong =
      all_reduce(session.wrong() + wrong_values(store, workload, keys, writes), std::plus());
  keys = all_reduce(keys, std::plus());
  writes = all_reduce(writes, std::plus());
  const std::uint64_t made = workload.keys + all_reduce(session.writes(), std::plus());

  // Nobody has read what was never written.
  std::vector<std::uint64_t> latest(procs());
  all_reduce(std::span(session.latest()), std::span(latest),
             [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  const int invented = all_reduce(latest[my_proc()] > session.writes() ? 1 : 0, std::plus());

  const bool right = wrong == 0 && invented == 0 && keys == workload.keys && writes == made;
  on_one([&] {
    if (right) {
      std::printf("right: what was read was written, and of %lu writes none is lost\n", made);
    } else {
      std::printf(
          "WRONG: %lu wrong values and answers, %lu keys instead of %u, %lu writes instead "
          "of %lu, and writes of %d processes that they have not made\n",
          wrong, keys, workload.keys, writes, made, invented);
    }
  });
  return right;
}

// Fills the store and makes all requests. Returns the seconds that those take. Collective.
double load(Store& store, Session& session, const Workload& workload) {
  // Process 0's values and requests, which take about as long. Nothing is drawn while requests are
  // made: those that are waited for meanwhile would take longer.
  const std::uint64_t values = (workload.keys + procs() - 1) / procs();
  examples::Progress progress(values + workload.requests);
  fill(store, workload, progress);
  barrier();
  const double start = get_seconds();
  session.run();
  const double mine = get_seconds() - start;
  barrier();  // the requests of others have been served, too
  return all_reduce(mine, maximum());
}

int measure(const Workload& workload) {
  on_one([&] {
    std::printf(
        "%u processes, %u keys, values of %lu bytes; of each %lu requests, %u outstanding\n",
        procs(), workload.keys, workload.bytes, workload.requests, workload.outstanding);
  });
  Store store;
  Session session(workload, store);
  const double seconds = load(store, session, workload);
  report_requests(session, workload, seconds);
  report_latencies(session, seconds);
  const bool right = check(session, store, workload);
  return right || my_proc() != 0 ? 0 : 1;  // who exits with 1 ends the job: only once it is printed
}

int program(Args args) {
  Workload workload;
  examples::CommandLine line("A key-value store over all processes, and a load on it.",
                             "key_value");
  line.option("--keys", workload.keys, "in the store").range(1u, kMaxKeys);
  line.option("--bytes", workload.bytes, "of a value, a multiple of 8")
      .range(kMinWords * sizeof(std::uint64_t), kMaxBytes);
  line.option("--requests", workload.requests, "that each process makes")
      .range(std::uint64_t{1}, std::uint64_t{100'000'000});
  line.option("--outstanding", workload.outstanding, "of these, that it makes at a time")
      .range(1u, 100'000u);
  line.option("--reads", workload.reads, "percent of the requests").range(0.0, 100.0);
  line.option("--updates", workload.updates,
              "percent of the others that change a value where it is, and do not send a new one")
      .range(0.0, 100.0);
  line.option("--distribution", workload.distribution, "of the requests over the keys")
      .one_of({"zipfian", "uniform"});
  line.option("--skew", workload.skew, "of the zipfian one: the i-th key gets 1 / i^SKEW")
      .range(0.0, 10.0);
  line.option("--seed", workload.seed, "another seed, other requests");
  if (!line.parse(args)) return 0;
  if (workload.bytes % sizeof(std::uint64_t) != 0) {
    throw std::runtime_error("key_value: --bytes " + std::to_string(workload.bytes) +
                             " is no multiple of 8; make it " +
                             std::to_string(workload.bytes / 8 * 8 + 8));
  }
  return measure(workload);
}

}  // namespace
}  // namespace key_value

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return key_value::program(args); });
}
