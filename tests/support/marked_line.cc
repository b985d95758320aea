#include "tests/support/marked_line.h"

#include <gtest/gtest.h>

#include <fstream>

namespace test {

std::string marked_line(const std::string& source, const std::string& mark) {
  std::ifstream file(source);
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with("// line: " + mark)) return source + ":" + std::to_string(number);
  }
  ADD_FAILURE() << "no line " << mark;
  return "";
}

}  // namespace test
