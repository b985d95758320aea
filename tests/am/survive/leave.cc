// Each process ends as its argument says, the first as the first one:
//   well      finishes, and leaves with 0        after:N  finishes, and leaves with N
//   kill      is killed                          code:N   leaves with N before it finishes
//   abort:N   ends the job with N                child:N  leaves a child behind and leaves with N
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "am/am.h"

namespace am {
namespace {

int leave(const std::string& how) {
  Job job;
  Bundle bundle(job);
  const std::string kind = how.substr(0, how.find(':'));
  const int code = std::atoi(how.substr(how.find(':') + 1).c_str());
  if (kind == "kill") kill(getpid(), SIGKILL);
  if (kind == "code") std::exit(code);
  if (kind == "abort") job.abort(code, "as it was told");
  if (kind == "child" && fork() == 0) pause();  // splitcrun ends it
  job.finish(bundle);
  return kind == "after" || kind == "child" ? code : 0;
}

}  // namespace
}  // namespace am

int main(int argc, char** argv) {
  const int rank = std::atoi(std::getenv("SPLITC_RANK"));
  return rank + 1 < argc ? am::leave(argv[rank + 1]) : 2;
}
