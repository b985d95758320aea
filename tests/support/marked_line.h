// Lines of test programs that reports are to name.
#pragma once

#include <string>

namespace test {

// "tests/jobs/hang.cc:40": the line of `source`, a file that the test has as data, that ends with
// "// line: <mark>". Fails if there is none.
std::string marked_line(const std::string& source, const std::string& mark);

}  // namespace test
