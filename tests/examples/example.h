// Runs the programs of examples/ as people do, and the files they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/am/job/program.h"

namespace examples::test {

using Words = std::vector<std::string>;
using am::test::Program;

// The sizes of job that every program is run with.
inline constexpr int kProcs[] = {1, 2, 3, 5, 8};

// `splitcrun -n procs example arguments`, to its end.
Program::Result run(int procs, const std::string& example, const Words& arguments = {});

// Expects that the program, as a job of 1 and of 3, ends with an exit code other than 0, says
// `part` on standard error and nothing on standard output.
void expect_refused(const std::string& example, const Words& arguments, std::string_view part);

// A new file with these contents that is there while the test runs; returns its path.
std::string file_with(std::string_view contents);
std::string new_path();  // of a file that is not there

std::string contents_of(const std::string& path);

}  // namespace examples::test
