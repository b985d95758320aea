// Compiled instead of tools/splitcrun/topology.cc where there are no headers of hwloc.
#include "tools/splitcrun/topology.h"

namespace am::launcher {

std::optional<std::vector<Processors>> find_domains(Domain, const Processors&) {
  return std::nullopt;
}

}  // namespace am::launcher
