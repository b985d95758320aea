// Sorts the lines of a file over all processes: what `LC_ALL=C sort FILE` does, for any bytes.
//
//   ./run sample_sort FILE -o OUT
//
// Sample sort: every process sorts its own part of the file; a sample of all parts tells where the
// order of all lines can be cut into parts of equal size; every process sends each cut to where it
// belongs and merges what it gets. The data cross the machine once.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "examples/command_line.h"
#include "examples/sample_sort/check.h"
#include "examples/sample_sort/file.h"
#include "examples/sample_sort/redistribute.h"
#include "examples/sample_sort/splitters.h"
#include "splitc/splitc.h"

namespace sample_sort {
namespace {

using namespace splitc;

std::vector<Place> sorted_lines(const Part& part) {
  std::vector<Place> lines;
  for_each_line(part.text, [&](Line line) {
    const auto before = static_cast<std::uint64_t>(line.data() - part.text.data());
    lines.push_back({line, part.begin + before});
  });
  std::ranges::sort(lines);
  return lines;
}

// This process's part of the order of all lines, of which it has read `part`. Collective.
Text sort(Part part, std::uint64_t bytes) {
  const std::vector<Place> lines = sorted_lines(part);
  const std::vector<Splitter> splitters = choose_splitters(lines, bytes);
  Text text;
  text.reserve(part.text.size());
  std::vector<std::uint64_t> cuts{0};
  for (const Place& place : lines) {
    while (cuts.size() <= splitters.size() && splitters[cuts.size() - 1].place() <= place) {
      cuts.push_back(text.size());
    }
    append(text, place.line);
  }
  cuts.resize(procs() + 1, text.size());
  part = {};  // two copies of the text are enough
  return merge_runs(redistribute(text, cuts));
}

// Writes the texts of all processes, one behind the other. Collective.
void write_all(const File& out, const Text& text) {
  const std::uint64_t before = all_exscan<std::uint64_t>(text.size(), std::plus(), 0);
  const std::uint64_t all = all_reduce<std::uint64_t>(text.size(), std::plus());
  if (out.regular()) {
    on_one([&] { out.resize(all); });
    barrier();
    out.write_at(before, text);
  } else {  // a terminal, a pipe: it takes bytes in their order only
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      on_proc(proc, [&] { out.write(text); });
      barrier();
    }
  }
}

struct Options {
  std::string file;
  std::string out;  // empty: standard output
};

void sort_file(const Options& options) {
  const double start = get_seconds();
  const File in = File::to_read(options.file);
  const File out = options.out.empty() ? File::standard_output() : File::to_write(options.out);
  const std::uint64_t bytes = all_bcast(in.bytes());
  Part part = read_part(in, bytes, my_proc(), procs());
  const Census census = all_count(part.text);
  const Text text = sort(std::move(part), bytes);
  all_check(text, census);
  write_all(out, text);  // not before everything was read: OUT may be FILE
  const std::uint64_t largest = all_reduce<std::uint64_t>(text.size(), maximum());
  if (options.out.empty()) return;
  on_one([&] {
    std::printf("sorted %lu lines, %lu bytes, on %u processes in %.4f s: in order, nothing lost\n",
                census.lines, census.bytes, procs(), get_seconds() - start);
    std::printf("the largest part has %lu bytes\n", largest);
  });
}

void program(Args args) {
  Options options;
  examples::CommandLine line("Sorts the lines of FILE as LC_ALL=C sort does.", "sample_sort");
  line.option("FILE", options.file, "any regular file").required();
  line.option("-o", options.out, "where to write; standard output otherwise").type_name("OUT");
  if (line.parse(args)) sort_file(options);
}

}  // namespace
}  // namespace sample_sort

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { sample_sort::program(args); });
}
