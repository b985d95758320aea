// Rank 1 dies, and the others go on to a call that needs it, which the first argument names.
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "splitc/splitc.h"

using namespace splitc;

int main(int argc, char** argv) {
  return run(argc, argv, [](Args args) {
    spread_array<long> box(procs());
    barrier();
    if (my_proc() == 1) {
      store_sync(sizeof(long) * (procs() - 1));  // all have passed the barrier
      kill(getpid(), SIGKILL);
    }
    store(box.pointer(1), 1L);
    const std::string call = args[1];
    while (call == "sync") {         // until it throws
      std::vector<long> in(10'000);  // more than can be in flight
      for (long& one : in) get(one, box.pointer(1));
      for (std::size_t i = 0; i < in.size(); ++i) put(box.pointer(1), 2L);
      sync();
    }
    if (call == "barrier") barrier();
    if (call == "all_reduce") (void)all_reduce(1L, std::plus());
    if (call == "store_sync") store_sync(8);
    if (call == "start_all_reduce") {  // which is polled, and not waited for
      auto sum = start_all_reduce(1L, std::plus());
      while (!sum.ready()) continue;
      sum.wait();
    }
  });
}
