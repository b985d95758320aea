// Rank 1 dies, and the others come to the end of a program that needs it no more.
#include <signal.h>
#include <unistd.h>

#include "splitc/splitc.h"

using namespace splitc;

shared<long> box;

int main(int argc, char** argv) {
  return run(argc, argv, [](Args) {
    barrier();
    if (my_proc() == 1) {
      store_sync(sizeof(long) * (procs() - 1));  // all have passed the barrier
      kill(getpid(), SIGKILL);
    }
    store(box.on(1), 1L);
  });
}
