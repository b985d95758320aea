// Runs a program as a job on two hosts (network namespaces of this machine, so only root can) with
// a bad path between them, and says what happened on it.
//
//   two_hosts [NAME=NUMBER...] PROGRAM [ARGUMENTS]
//
//   drop= dup= reorder= corrupt=   so many percent of datagrams
//   delay=                         all are late, by up to so many microseconds
//   partition_at= partition=       from that datagram on none gets through, for so many
//   milliseconds pause_at= pause=               from that datagram on nothing arrives, for so many
//   milliseconds seed=                          of all chances each= processes on either host; 2 if
//   not given
//
// Variables for the processes stand before it: SPLITC_WAIT=block two_hosts drop=5 examples/em3d
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "tests/am/link/forwarder/two_hosts.h"

namespace {

using am::link::test::Weather;
using Numbers = std::map<std::string, std::uint64_t>;

// Takes the numbers from the front of the command line.
Numbers take_numbers(int argc, char** argv, int& next) {
  Numbers numbers{{"drop", 0},         {"dup", 0},       {"reorder", 0}, {"corrupt", 0},
                  {"delay", 0},        {"partition", 0}, {"pause", 0},   {"seed", 1},
                  {"partition_at", 0}, {"each", 2},      {"pause_at", 0}};
  for (; next < argc; ++next) {
    const std::string word = argv[next];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) break;
    const auto found = numbers.find(word.substr(0, equals));
    if (found == numbers.end()) break;
    found->second = std::strtoull(word.c_str() + equals + 1, nullptr, 10);
  }
  return numbers;
}

Weather weather_of(const Numbers& numbers) {
  const auto percent = [&](const char* name) { return static_cast<unsigned>(numbers.at(name)); };
  const auto ns = [&](const char* name, std::int64_t unit) {
    return static_cast<std::int64_t>(numbers.at(name)) * unit;
  };
  return {.drop = percent("drop"),
          .dup = percent("dup"),
          .reorder = percent("reorder"),
          .corrupt = percent("corrupt"),
          .delay_ns = ns("delay", 1'000),
          .partition_at = numbers.at("partition_at"),
          .partition_ns = ns("partition", 1'000'000),
          .pause_at = numbers.at("pause_at"),
          .pause_ns = ns("pause", 1'000'000),
          .seed = numbers.at("seed")};
}

}  // namespace

int main(int argc, char** argv) {
  int next = 1;
  const Numbers numbers = take_numbers(argc, argv, next);
  if (next == argc) {
    std::fprintf(stderr, "usage: two_hosts [NAME=NUMBER...] PROGRAM [ARGUMENTS]\n");
    return 2;
  }
  try {
    const auto outcome =
        am::link::test::run_on_two_hosts(weather_of(numbers), {argv + next, argv + argc}, {},
                                         static_cast<unsigned>(numbers.at("each")));
    std::fputs(outcome.text().c_str(), stdout);
    return outcome.good() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "two_hosts: %s\n", error.what());
    return 1;
  }
}
