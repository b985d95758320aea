// Rank 1 dies, and the others go on to a call that needs it, which the first argument names.
#include <signal.h>
#include <unistd.h>

#include <string>

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
    if (call == "barrier") barrier();
    if (call == "all_reduce") (void)all_reduce_to_all_add(1L);
    if (call == "store_sync") store_sync(8);
  });
}
