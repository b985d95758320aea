// splitcrun: starts N processes of a program on this machine, as one job.
//
//   splitcrun -n 4 ./sample_sort words.txt
//
// The job ends when all processes have ended. When one dies, the others are ended within a second,
// the first one's fate is reported, and its exit code becomes splitcrun's (128 + the signal's
// number). With --survive the others go on (survival.h).
#include <signal.h>
#include <sys/prctl.h>

#include <exception>
#include <optional>

#include "am/job/config/config.h"
#include "am/job/descriptors.h"
#include "tools/splitcrun/console.h"
#include "tools/splitcrun/guard.h"
#include "tools/splitcrun/inherited.h"
#include "tools/splitcrun/options.h"
#include "tools/splitcrun/supervisor.h"

namespace am::launcher {
namespace {

// What `work` returns, or the exit code of what it throws, said once `before_saying` has run.
template <class Work, class Before>
int reporting(const Work& work, const Before& before_saying) {
  try {
    return work();
  } catch (const Failure& failure) {
    before_saying();
    say_and_wait(failure.what());
    return failure.exit_code;
  } catch (const std::exception& error) {
    before_saying();
    say_and_wait(error.what());
    return kExitUsage;
  }
}

// No process is left: nothing but the reader of standard error is waited for, and any signal, and
// the guard's death, may end that.
void become_mortal(const Inherited& inherited) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  inherited.restore_mask();
}

int main_with(int argc, char** argv) {
  fill_standard_streams();
  const Inherited inherited;
  std::optional<Options> options = parse_options(argc, argv);
  if (!options) return 0;
  const Config config =
      read_config();  // a nonsense variable is reported once, not by every process
  options->survive |= config.survive;
  return guarded(inherited, [&](pid_t guard) {
    return reporting([&] { return supervise(*options, inherited, guard); },
                     [&] { become_mortal(inherited); });
  });
}

}  // namespace
}  // namespace am::launcher

int main(int argc, char** argv) {
  return am::launcher::reporting([&] { return am::launcher::main_with(argc, argv); }, [] {});
}
