// Sorts keys of 32 bits over all processes: radix sort and sample sort, each in four versions of
// moving the keys, of nine distributions of keys (keys.h).
//
//   key_sort                                        both sorts, all versions, uniform keys
//   key_sort --sort radix --version bulk --keys all
//
// messages stores every key by itself, bulk those for one place in a row, blocks sends all for one
// process at once, and that sorts them again; aggregator sends blocks of {place, key}. That the
// keys are in order, over all processes, and the same as before is checked; with --check also that
// they are what std::sort makes of them.
//
// The sorts are those of Dusseau, Culler, Schauser, Martin: Fast Parallel Sorting under LogP, IEEE
// Transactions on Parallel and Distributed Systems 7, 1996, which were written in Split-C.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "examples/command_line.h"
#include "examples/key_sort/check.h"
#include "examples/key_sort/sorts.h"
#include "examples/keys/local_sort.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace key_sort {
namespace {

using namespace splitc;

struct Options {
  std::string sort = "all";
  std::string version = "all";
  std::string keys = "uniform";
  std::uint64_t size = 1'000'000;
  std::uint64_t seed = 1;
  int digit_bits = 11;
  int repetitions = 3;
  bool check = false;
};

bool read_options(Args args, Options& options) {
  examples::CommandLine line("sorts keys over all processes by radix sort and sample sort",
                             "key_sort");
  std::vector<std::string> versions(kVersionNames.begin(), kVersionNames.end()), keys;
  for (const key_distribution& one : key_distributions) keys.emplace_back(one.name);
  for (auto* const names : {&versions, &keys}) names->emplace_back("all");
  line.option("--sort", options.sort, "how they are sorted").one_of({"radix", "sample", "all"});
  line.option("--version", options.version, "how they are moved").one_of(versions);
  line.option("--keys", options.keys, "their distribution").one_of(keys);
  line.option("--size", options.size, "keys of each process")
      .range(std::uint64_t{0}, kMostKeys / procs());
  line.option("--seed", options.seed, "of the keys");
  line.option("--digit", options.digit_bits, "bits of a digit of radix sort")
      .range(1, static_cast<int>(kMostDigitBits));
  line.option("--repetitions", options.repetitions, "of each, of which the fastest counts")
      .range(1, 1'000'000);
  line.flag("--check", options.check, "process 0 sorts all keys alone, too, and compares");
  return line.parse(args);
}

struct Input {
  const key_distribution& distribution;
  std::vector<Key> keys;  // of this process
  Census census;
  std::uint64_t digest;  // by std::sort, if options say so
};

Input make_input(const Options& options, const key_distribution& distribution) {
  const sort_problem problem{procs(), options.size, options.seed};
  std::vector<Key> keys(options.size);
  make_keys(&distribution, &problem, my_proc(), keys.data());
  const Census census = all_count(keys);
  const bool mine = options.check && my_proc() == 0;
  const std::uint64_t digest = all_bcast(mine ? digest_by_one(distribution, problem) : 0);
  return {distribution, std::move(keys), census, digest};
}

// One sort, and how it moves the keys.
struct Contender {
  bool radix;
  Version version;
};
std::vector<Contender> asked_for(const Options& options) {
  const auto asked = [](const std::string& option, const char* name) {
    return option == "all" || option == name;
  };
  std::vector<Contender> contenders;
  for (const bool radix : {true, false}) {
    if (!asked(options.sort, radix ? "radix" : "sample")) continue;
    for (std::size_t version = 0; version < kVersionNames.size(); ++version) {
      if (!asked(options.version, kVersionNames[version])) continue;
      contenders.push_back({radix, static_cast<Version>(version)});
    }
  }
  return contenders;
}

struct Result {
  double seconds = 0;  // of the fastest repetition
  std::uint64_t digest = 0;
  std::size_t largest = 0;  // part
};

void print(const Input& input, const Contender& contender, const Result& result) {
  const double all = static_cast<double>(input.census.keys);
  const double even = std::max(all / procs(), 1.0);
  std::printf(
      "%-6s %-10s %-17s %9.3f million keys a second, largest part %.2f of the average, "
      "digest %016" PRIx64 "\n",
      contender.radix ? "radix" : "sample",
      kVersionNames[static_cast<std::size_t>(contender.version)], input.distribution.name,
      result.seconds > 0 ? all / result.seconds / 1e6 : 0.0,
      static_cast<double>(result.largest) / even, result.digest);
}

// Sorts, checks, and prints how fast it was.
void measure(const Options& options, const Input& input, const Contender& contender, Room& room,
             examples::Progress& progress) {
  Result result;
  for (int i = 0; i < options.repetitions; ++i) {
    barrier();
    const double start = get_seconds();
    const std::span<const Key> sorted =
        contender.radix ? radix_sort(input.keys, contender.version, options.digit_bits, room)
                        : sample_sort(input.keys, contender.version, room);
    const double seconds = all_reduce(get_seconds() - start, maximum());
    result.seconds = i == 0 ? seconds : std::min(result.seconds, seconds);
    result.digest = all_check(sorted, input.census);
    result.largest = all_reduce(sorted.size(), maximum());
    progress.step();
  }
  if (options.check && result.digest != input.digest) {
    throw std::runtime_error("the keys are not in the order that std::sort gives");
  }
  on_one([&] { progress.print([&] { print(input, contender, result); }); });
}

void program(Args args) {
  Options options;
  if (!read_options(args, options)) return;
  Room room(options.size);
  const std::vector<Contender> contenders = asked_for(options);
  const std::size_t distributions = options.keys == "all" ? std::size(key_distributions) : 1;
  examples::Progress progress(distributions * contenders.size() *
                              static_cast<std::uint64_t>(options.repetitions));
  for (const key_distribution& distribution : key_distributions) {
    if (options.keys != "all" && options.keys != distribution.name) continue;
    const Input input = make_input(options, distribution);
    for (const Contender& contender : contenders) {
      measure(options, input, contender, room, progress);
    }
  }
}

}  // namespace
}  // namespace key_sort

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { key_sort::program(args); });
}
