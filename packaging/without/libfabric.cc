// Compiled instead of am/job/network.cc, and of all that uses libfabric, where there are no headers
// of it.
#include <string>

#include "am/job/network.h"

namespace am {

std::string join_network(Bootstrap&, const Config&, bool, Router& router) {
  throw Error(
      "rank " + std::to_string(router.rank()) +
      ": Job: its processes are on several nodes, and this library was built without "
      "libfabric, so it knows one node only; build it again where the headers are installed "
      "(Debian: libfabric-dev)");
}

}  // namespace am
