#include "am/job/launcher/placement.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "shmem/cores.h"

namespace am::launcher {

std::vector<int> choose_processors(const Options& options) {
  if (options.bind == Bind::kNone) return {};
  std::vector<int> processors = shmem::allowed_processors();
  const std::size_t cores = std::min<std::size_t>(processors.size(), shmem::usable_cores());
  if (options.processes <= cores) {
    // A process alone has nobody to keep off its core; jobs of one would all meet on the first.
    if (options.processes == 1 && options.bind == Bind::kAuto) return {};
    processors.resize(options.processes);
    return processors;
  }
  if (options.bind == Bind::kAuto) return {};
  throw Failure(kExitUsage, "--bind core: " + std::to_string(options.processes) +
                                " processes need as many cores, and " + std::to_string(cores) +
                                " can be used here; write --bind auto or start fewer");
}

}  // namespace am::launcher
