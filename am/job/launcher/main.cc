// splitcrun: starts N processes of a program on this machine, as one job.
//
//   splitcrun -n 4 ./sample_sort words.txt
//
// The job ends when all processes have ended. When one dies, the others are ended within a second,
// the first one's fate is told, and its exit code becomes splitcrun's (128 + the signal's number).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <optional>

#include "am/job/config.h"
#include "am/job/launcher/guard.h"
#include "am/job/launcher/options.h"
#include "am/job/launcher/output.h"
#include "am/job/launcher/supervisor.h"

namespace am::launcher {
namespace {

// A pipe must not become descriptor 0, 1 or 2 because splitcrun was started without them.
void fill_standard_streams() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

int main_with(int argc, char** argv) {
  try {
    const std::optional<Options> options = parse_options(argc, argv);
    if (!options) return 0;
    read_config();  // a nonsense variable is told once, not by every process
    return guarded([&](const sigset_t& mask) { return supervise(*options, mask); });
  } catch (const Failure& failure) {
    say(failure.what());
    return failure.exit_code;
  } catch (const std::exception& error) {
    say(error.what());
    return kExitUsage;
  }
}

}  // namespace
}  // namespace am::launcher

int main(int argc, char** argv) {
  am::launcher::fill_standard_streams();
  signal(SIGPIPE, SIG_IGN);  // --label: a closed reader is an error of write, told by its errno
  return am::launcher::main_with(argc, argv);
}
