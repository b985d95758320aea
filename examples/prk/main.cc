// The Parallel Research Kernels (https://github.com/ParRes/Kernels): small programs, each with one
// pattern of a parallel application, an answer that is known beforehand, and a rate.
//
//   ./run prk                                             lists the kernels
//   ./run -n 4 --nodes 2 prk stencil --radius 4           one kernel, in all ways
//   ./run -n 4 prk transpose --order 2000 --with stores   in one
//   ./run prk stencil --help                              its options
//
// Prints a line for each way of communicating: the rate, in the unit of the original, and whether
// the answer is right. Exit code 1 if one is not.

#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "examples/prk/kernel.h"

namespace prk {
namespace {

struct Named {
  std::string_view name;
  std::string_view sentence;
  int (*run)(splitc::Args args);
};
constexpr Named kKernels[] = {
    {"nstream", "a triad of vectors, in memory alone", nstream},
    {"stencil", "a filter on a square of points, with halos", stencil},
    {"transpose", "a matrix in blocks of columns, all to all", transpose},
    {"synch_p2p", "a wavefront, from process to process", synch_p2p},
    {"sparse", "a sparse matrix with scattered columns, by a vector", sparse},
    {"random", "updates of random words everywhere", random_access},
    {"dgemm", "the product of dense matrices, by panels", dgemm},
    {"reduce", "a sum of vectors, at process 0", reduce},
    {"pic", "particles, which move between the processes", particles},
};

void list() {
  std::printf("prk KERNEL [OPTION]... of the Parallel Research Kernels; prk KERNEL --help\n");
  for (const Named& kernel : kKernels) {
    std::printf("  %-10s  %s\n", kernel.name.data(), kernel.sentence.data());
  }
}

int program(splitc::Args args) {
  const std::string_view asked = args.size() > 1 ? args[1] : "--help";
  if (asked == "--help" || asked == "-h") {
    splitc::on_one(list);
    return 0;
  }
  for (const Named& kernel : kKernels) {
    if (kernel.name == asked) return kernel.run({args.argc() - 1, args.argv() + 1});
  }
  throw std::runtime_error("prk: " + std::string(asked) + " is no kernel; --help lists them");
}

}  // namespace
}  // namespace prk

int main(int argc, char** argv) {
  return splitc::run(argc, argv, [](splitc::Args args) { return prk::program(args); });
}
