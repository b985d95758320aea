#include "tests/examples/example.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace examples::test {

Program::Result run(int procs, const std::string& example, const Words& arguments) {
  Words command{"am/job/launcher/splitcrun", "-n", std::to_string(procs), "examples/" + example};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return am::test::run(command);
}

void expect_refused(const std::string& example, const Words& arguments, std::string_view part) {
  for (const int procs : {1, 3}) {
    const auto result = run(procs, example, arguments);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_LT(result.exit_code, 128) << "ended by a signal: " << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

std::string new_path() {
  static int number = 0;
  return ::testing::TempDir() + "/file" + std::to_string(++number);
}

std::string file_with(std::string_view contents) {
  const std::string path = new_path();
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

std::string contents_of(const std::string& path) {
  std::ostringstream contents;
  contents << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(contents).str();
}

}  // namespace examples::test
