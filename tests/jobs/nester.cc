// A job whose rank 0 starts a program by the shell, which its arguments are, and says how that
// ended: what the launcher set for rank 0 is inherited.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "am/am.h"

int main(int, char** argv) {
  try {
    am::Job job;
    am::Bundle bundle(job);
    job.barrier(bundle);
    if (job.rank() == 0) {
      const int status = std::system(argv[1]);
      std::printf("it exited with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    job.barrier(bundle);
    job.finish(bundle);
    // As soon as the job has ended its place may be another's.
    if (std::getenv("SPLITC_JOINED") != nullptr) std::printf("the mark is still there\n");
  } catch (const am::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
