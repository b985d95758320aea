// Runs the programs of examples/ as people do, and the files they need.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tests/am/job/program.h"

namespace examples::test {

using Words = std::vector<std::string>;
using am::test::Program;

// Of each of these lists `./test` takes the first two or three, and `./test --all` all
// (tests/examples/BUILD).

// The sizes of job that every program is run with.
inline constexpr int kProcs[] = {1, 3, 2, 4, 8};

// In place of a provider: unreliable datagrams under the library's own window; and the same where
// so many of a hundred are lost, others come twice or too late, and some are damaged.
inline constexpr const char* kDatagrams = "datagrams";
inline constexpr const char* kFewLost = "datagrams, 5 % of them lost";
inline constexpr const char* kManyLost = "datagrams, 20 % of them lost";

// A job: how many processes, on how many (pretended) nodes, and what the nodes are joined by.
struct Shape {
  int procs;
  int nodes = 1;
  std::string provider = {};  // as libfabric names it; "": chosen; or one of the above
};
void PrintTo(const Shape& shape, std::ostream* out);

// Every provider between two nodes; and nodes of one process, and of several. (All providers in all
// shapes are for tests/am/link.)
const std::vector<Shape>& shapes_across_nodes();
// A few of all kinds.
const std::vector<Shape>& few_shapes();

// `splitcrun -n procs --nodes nodes example arguments`, to its end.
Program::Result run(const Shape& shape, const std::string& example, const Words& arguments = {});
Program::Result run(int procs, const std::string& example, const Words& arguments = {});

// Expects that the program, as a job of 1 and of 3, ends with an exit code other than 0, says
// `part` on standard error and nothing on standard output.
void expect_refused(const std::string& example, const Words& arguments, std::string_view part);

// A new file with these contents that is there while the test runs; returns its path.
std::string file_with(std::string_view contents);
std::string new_path();  // of a file that is not there

std::string contents_of(const std::string& path);

}  // namespace examples::test
