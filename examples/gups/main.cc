// Giga updates per second: how many words all over the memory of a job can be changed in a second.
//
// A table is spread over all processes in blocks. Each process makes updates, of which each
// combines a word, anywhere in the table, with a number by exclusive or: HPC Challenge's
// RandomAccess, in the six styles of styles.h. The same updates once more, which each process
// makes to its own words only, have to give the table as it was at first. Words that are not are
// errors: a style that is exact has none.
//
//   gups                            a table of 2^18 words a process, all styles
//   gups --bits 20 --style gather   8 MiB a process
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

#include "examples/command_line.h"
#include "examples/gups/styles.h"
#include "examples/progress.h"
#include "splitc/splitc.h"

namespace gups {
namespace {

using namespace splitc;

struct Options {
  Problem problem{.bits = 18, .updates = 200'000, .seed = 1};
  std::string style = "all";
  std::uint32_t repetitions = 1;
};

bool read_options(Args args, Options& options) {
  examples::CommandLine line("updates of random words in the memory of all processes", "gups");
  line.option("--bits", options.problem.bits, "2^N words on each process").range(0, 30);
  line.option("--updates", options.problem.updates, "made by each process")
      .range(std::uint64_t{0}, std::uint64_t{1} << 40);
  line.option("--seed", options.problem.seed, "of the random numbers");
  std::vector<std::string> names{"all"};
  for (const Style& style : styles()) names.emplace_back(style.name);
  line.option("--style", options.style, "how they are written").one_of(names);
  line.option("--repetitions", options.repetitions, "of each; the fastest counts")
      .range(1u, 1'000'000u);
  return line.parse(args);
}

void fill(Table& table) {
  const auto mine = table.mine();
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = i;
  barrier();
}

// Makes the updates of all processes to this one's words, and counts what is then wrong.
std::uint64_t errors(const Problem& problem, Table& table) {
  const auto mine = table.mine();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    for (std::uint64_t i = 0; i < problem.updates; ++i) {
      const Update update(problem, proc, i);
      if (update.proc(procs()) == my_proc()) mine[update.word(problem)] ^= update.value;
    }
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) wrong += mine[i] != i ? 1u : 0u;
  return all_reduce(wrong, std::plus());
}

// Whether the style has done what it promises.
bool measure(const Style& style, const Options& options, Table& table,
             examples::Progress& progress) {
  const Problem& problem = options.problem;
  const double all = static_cast<double>(problem.updates) * procs();
  double seconds = std::numeric_limits<double>::infinity();
  std::uint64_t wrong = 0;  // in the worst repetition
  for (std::uint32_t i = 0; i < options.repetitions; ++i) {
    fill(table);
    const double start = get_seconds();
    style.run(problem, table);
    seconds = std::min(seconds, all_reduce(get_seconds() - start, maximum()));
    wrong = std::max(wrong, errors(problem, table));
    progress.step();
  }
  const bool right = style.exact ? wrong == 0 : static_cast<double>(wrong) <= all / 100;
  const auto print = [&] {
    std::printf("%-15s %9.3f million updates a second, %" PRIu64 " words wrong%s\n", style.name,
                seconds > 0 ? all / seconds / 1e6 : 0.0, wrong, right ? "" : ": TOO MANY");
  };
  on_one([&] { progress.print(print); });
  return right;
}

int main(Args args) {
  Options options;
  if (!read_options(args, options)) return 0;
  const Problem& problem = options.problem;
  on_one([&] {
    std::printf("%" PRIu64 " words and %" PRIu64 " updates on each of %u processes, seed %" PRIu64
                "\n",
                problem.words(), problem.updates, procs(), problem.seed);
  });
  Table table(problem.words() * procs(), blocked);
  const std::size_t count = options.style == "all" ? styles().size() : 1;
  examples::Progress progress(count * options.repetitions);
  bool right = true;
  for (const Style& style : styles()) {
    if (options.style != "all" && options.style != style.name) continue;
    right = measure(style, options, table, progress) && right;
  }
  return right || my_proc() != 0 ? 0 : 1;
}

}  // namespace
}  // namespace gups

int main(int argc, char** argv) { return splitc::run(argc, argv, &gups::main); }
