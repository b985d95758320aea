#include "tests/examples/example.h"

#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <sstream>

namespace examples::test {
namespace {

// What the environment says of it.
Words settings_of(const std::string& provider) {
  if (provider.empty()) return {};
  const std::string datagrams = "SPLITC_LINK=datagram";
  if (provider == kDatagrams) return {datagrams};
  if (provider == kFewLost) return {datagrams, "SPLITC_FAULT=drop:5,dup:5,reorder:5,seed=1"};
  if (provider == kManyLost) {
    return {datagrams, "SPLITC_FAULT=drop:20,dup:10,reorder:20,corrupt:2,seed=1"};
  }
  return {"SPLITC_PROVIDER=" + provider};
}

}  // namespace

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.procs << " on " << shape.nodes << " nodes";
  if (!shape.provider.empty()) *out << " by " << shape.provider;
}

const std::vector<Shape>& shapes_across_nodes() {
  static const std::vector<Shape> all = [] {
    std::vector<Shape> shapes{{5, 2}, {3, 3, kDatagrams}};
    for (const char* provider :
         {"tcp;ofi_rxm", "net", "sockets", "shm", "udp;ofi_rxd", kDatagrams, kFewLost, kManyLost}) {
      shapes.push_back({4, 2, provider});
    }
    shapes.push_back({8, 8});
    return shapes;
  }();
  return all;
}

const std::vector<Shape>& few_shapes() {
  static const std::vector<Shape> some{
      {4, 2}, {3, 3, "tcp;ofi_rxm"}, {4, 2, kDatagrams}, {4}, {2, 2}, {5, 2},
      {8, 3}, {8, 3, kDatagrams},    {3, 3, kManyLost},
  };
  return some;
}

Program::Result run(const Shape& shape, const std::string& example, const Words& arguments) {
  Words command = settings_of(shape.provider);
  if (!command.empty()) command.insert(command.begin(), "env");
  const Words launcher{"tools/splitcrun/splitcrun", "-n", std::to_string(shape.procs)};
  command.insert(command.end(), launcher.begin(), launcher.end());
  if (shape.nodes > 1) {
    command.insert(command.end(), {"--nodes", std::to_string(shape.nodes)});
  }
  command.push_back("examples/" + example);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return am::test::run(command);
}

Program::Result run(int procs, const std::string& example, const Words& arguments) {
  return run(Shape{procs}, example, arguments);
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
