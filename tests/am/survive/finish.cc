// Processes that die, or begin another job, while others end it.
//
//   finish serving   rank 2 dies; rank 1, which has finished but serves the others still, dies in a
//                    handler of a request of rank 0, which comes back to it
//   finish aborting  rank 1 dies when it was about to say why it ends the job; rank 0 ends it
//   finish killed    rank 1 is killed between two jobs
//   finish leaves    ... leaves with 0
//   finish twice     two jobs, one after the other, in the same processes; nobody dies
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "am/am.h"
#include "am/job/config/control.h"
#include "shmem/region.h"

namespace am {
namespace {

[[noreturn]] void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

void on_die(OneWay) { die(); }

// The launcher's own account of this job.
shmem::Region control_region() {
  const char* const fd = std::getenv("SPLITC_JOB_FD");
  return shmem::Region::adopt(fcntl(std::atoi(fd), F_DUPFD_CLOEXEC, 3));
}

int serving() {
  Job job;
  Bundle bundle(job);
  Endpoint endpoint(bundle);
  int returned = 0;
  endpoint.add_handlers<&on_die>();
  endpoint.on_returned([&](const Returned& r) {
    returned += r.status == Status::kUnreachable && r.destination == 1;
  });
  job.connect(endpoint, 5);
  if (job.rank() == 2) die();
  bundle.wait_until([&] { return job.is_dead(2); });
  if (job.rank() == 0) {
    const shmem::Region region = control_region();
    const ControlRank& one = control_rank(control_at(region.data()), 1);
    // No partner: nothing is read that rank 1 has written before.
    bundle.wait_until([&] { return one.finished.load(std::memory_order_relaxed) == 1; });
    endpoint.request<&on_die>(1);
    bundle.wait_until([&] { return job.is_dead(1); });
    endpoint.request<&on_die>(1);
    endpoint.flush();
    if (returned == 0) return 1;
  }
  job.finish(bundle);
  std::printf("rank %u is well\n", job.rank());
  return 0;
}

int aborting() {
  Job job;
  Bundle bundle(job);
  if (job.rank() == 1) {
    const shmem::Region region = control_region();
    control_at(region.data()).abort_claimed.store(2, std::memory_order_relaxed);
  }
  job.barrier(bundle);
  if (job.rank() == 1) die();
  if (job.rank() == 0) job.abort(5, "as it was told");
  bundle.wait_until([] { return false; });
  return 0;
}

// What rank 1 does between the two.
template <class Between>
int twice(Between&& between) {
  for (int i = 0; i < 2; ++i) {
    Job job;
    Bundle bundle(job);
    job.barrier(bundle);
    job.finish(bundle);
    if (i == 1) std::printf("rank %u is well\n", job.rank());
    if (i == 0 && job.rank() == 1) between();
  }
  return 0;
}

}  // namespace
}  // namespace am

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string what = argv[1];
  if (what == "twice") return am::twice([] {});
  if (what == "killed") return am::twice(am::die);
  if (what == "leaves") return am::twice([] { std::_Exit(0); });
  return what == "aborting" ? am::aborting() : am::serving();
}
