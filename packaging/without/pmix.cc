// Compiled instead of am/job/bootstrap/pmix.cc where there are no headers of PMIx.
#include "am/job/bootstrap/pmix.h"

namespace am {
namespace {

[[noreturn]] void refuse() {
  throw Error(
      "the launcher offers PMIx (PMIX_RANK is set), and this library was built without it; build "
      "it "
      "again where the headers are installed (Debian: libpmix-dev), or use mpiexec.hydra or "
      "splitcrun");
}

}  // namespace

struct BootstrapPmix::Library {};

BootstrapPmix::BootstrapPmix() { refuse(); }
BootstrapPmix::~BootstrapPmix() = default;

// There is no object of which these could be called.
Rank BootstrapPmix::rank() const { refuse(); }
std::vector<std::vector<std::byte>> BootstrapPmix::exchange(std::span<const std::byte>) {
  refuse();
}
void BootstrapPmix::barrier() { refuse(); }
void BootstrapPmix::finished() { refuse(); }
void BootstrapPmix::report_abort(int, std::string_view) { refuse(); }

}  // namespace am
