#include "tools/splitcrun/placement.h"

#include <cstdint>

#include "shmem/node.h"
#include "tools/number_ranges.h"

namespace am::launcher {
namespace {

#ifdef SPLITPHASE_WITHOUT_HWLOC
constexpr const char* kHowToHaveIt =
    "it was missing where splitcrun was built; build it again where its headers are installed "
    "(Debian: libhwloc-dev)";
#else
constexpr const char* kHowToHaveIt = "it is not here; install it (Debian: libhwloc15)";
#endif

// Without hwloc in the order of the system's numbers, each hardware thread as a core of its own.
std::vector<Processors> find_cores() {
  const Processors allowed = shmem::allowed_processors();
  auto cores = find_domains(Domain::kCore, allowed);
  if (cores && !cores->empty()) return std::move(*cores);
  std::vector<Processors> all;
  for (const int processor : allowed) all.push_back({processor});
  return all;
}

std::vector<Processors> bind_to_cores(const Options& options) {
  const bool asked = options.bind == Bind::kCore;
  // A process alone has nobody to keep off its core; jobs of one would all meet on the first.
  if (options.processes == 1 && !asked) return {};
  const std::uint64_t wanted = std::uint64_t{options.processes} * options.threads;
  const unsigned usable = shmem::usable_cores();
  std::vector<Processors> all;
  if (wanted <= usable) all = give_cores(find_cores(), options.processes, options.threads);
  if (!all.empty() || !asked) return all;
  throw Failure(
      kExitUsage,
      "--bind core: " + std::to_string(options.processes) + " processes" +
          (options.threads > 1 ? " of " + std::to_string(options.threads) + " threads" : "") +
          " need " + (options.threads > 1 ? std::to_string(wanted) : "as many") + " cores, and " +
          std::to_string(usable) + " can be used here; write --bind auto or start fewer");
}

std::vector<Processors> bind_to_domains(const Options& options, Domain kind, const char* name,
                                        const char* what) {
  const auto domains = find_domains(kind, shmem::allowed_processors());
  const std::string call = std::string("--bind ") + name + ": ";
  if (!domains) {
    throw Failure(kExitUsage, call + "only hwloc knows where the machine has " + what + ", and " +
                                  kHowToHaveIt + ", or write --bind core");
  }
  if (domains->empty()) {
    throw Failure(kExitUsage, call + "hwloc knows of no " + what +
                                  " here; `lstopo` shows what there is; write --bind core or none");
  }
  return spread(*domains, options.processes);
}

}  // namespace

std::vector<Processors> choose_processors(const Options& options) {
  switch (options.bind) {
    case Bind::kNone: return {};
    case Bind::kL3: return bind_to_domains(options, Domain::kL3, "l3", "level-3 caches");
    case Bind::kNuma: return bind_to_domains(options, Domain::kNuma, "numa", "NUMA nodes");
    case Bind::kSocket: return bind_to_domains(options, Domain::kSocket, "socket", "sockets");
    default: return bind_to_cores(options);
  }
}

std::string describe(const Processors& processors) {
  return (processors.size() == 1 ? "processor " : "processors ") + number_ranges(processors);
}

}  // namespace am::launcher
