// Hello, global address space: the ways in which processes use one another's memory.
//
//   ./run hello_splitc            4 processes
//   ./run -n 2 hello_splitc       2 of them
//
// All processes run the same program, each with its own variables. What a spread array holds is the
// exception: every process may use all of it.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "splitc/splitc.h"

using namespace splitc;

namespace {

void hello() {
  const std::uint32_t right = (my_proc() + 1) % procs();

  // One number on each process. Elements are read and written like those of any array; where they
  // are shows only in the time it takes.
  spread_array<std::uint32_t> greeting(procs());
  greeting[right] = my_proc();
  barrier();  // all have written
  const std::uint32_t left = greeting[my_proc()];
  std::printf("process %u of %u was greeted by %u\n", my_proc(), procs(), left);

  // Split-phase: all reads are on their way at the same time, and sync() waits once.
  std::vector<std::uint32_t> greeters(procs());
  for (std::uint32_t p = 0; p < procs(); ++p) get(greeters[p], greeting[p]);
  sync();
  on_one([&] {
    std::printf("the greeters, by process:");
    for (const std::uint32_t greeter : greeters) std::printf(" %u", greeter);
    std::printf("\n");
  });

  // One-way: the writer goes on at once. Who gets something knows how much it waits for.
  spread_array<double> mail(procs(), 2);  // a block of 2 on each process
  const global_ptr<double> box = mail.on(right);
  store(box, 0.5);
  store(box + 1, my_proc() + 0.5);
  store_sync(2 * sizeof(double));
  const double sum = mail.mine()[0] + mail.mine()[1];

  // Together: every process gives a value, and all get the result.
  const double total = all_reduce(sum, std::plus());
  on_one([&] { std::printf("all mail together: %g\n", total); });
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv, [](Args) { hello(); });
}
