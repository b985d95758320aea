// Each process forks a child that returns from the program, and one that leaves it by an exception:
// that ends the child, with a sentence, and nobody else. Exits with 0 if that is so.

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

#include "splitc/splitc.h"
#include "tests/support/in_child.h"

namespace {

struct Returns {};

bool has_ended(const test::Child& child, const std::string& why) {
  const std::string who = "a child of rank " + std::to_string(splitc::my_proc()) + ": ";
  if (child.exit_code == 1 && child.said.starts_with(who) &&
      child.said.find(why) != std::string::npos) {
    return true;
  }
  std::fprintf(stderr, "the child ended with code %d and said: %s\n", child.exit_code,
               child.said.c_str());
  return false;
}

int program(splitc::Args) {
  const splitc::spread_array<int> words(splitc::procs());
  try {
    const test::Child child = test::in_child([]() -> std::string { throw Returns(); });
    const std::string why = "was forked from rank " + std::to_string(splitc::my_proc());
    if (!has_ended(child, why)) return 1;
  } catch (const Returns&) {
    return 0;  // in the child
  }
  const test::Child child =
      test::in_child([]() -> std::string { throw std::runtime_error("on purpose"); });
  if (!has_ended(child, "on purpose")) return 1;
  const unsigned all = splitc::all_reduce(1u, std::plus<>());
  return all == splitc::procs() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return splitc::run(argc, argv, &program); }
