// Compiled instead of am/job/bootstrap/pmix.cc where there are no headers of PMIx.
#include "am/job/bootstrap/launchers.h"

namespace am {

std::unique_ptr<Bootstrap> join_pmix() {
  throw Error(
      "the launcher offers PMIx (PMIX_RANK is set), and this library was built without it; build "
      "it again where the headers are installed (Debian: libpmix-dev), or use mpiexec.hydra or "
      "splitcrun");
}

}  // namespace am
