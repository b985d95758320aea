#include "am/job/network.h"

#include <memory>
#include <string>
#include <utility>

#include "am/job/links.h"
#include "am/route/port.h"
#include "rdma/error.h"
#include "rdma/library.h"
#include "shmem/region.h"

namespace am {

std::string join_network(Bootstrap& bootstrap, const Config& config, bool one_host,
                         Router& router) {
  const std::string who = "rank " + std::to_string(router.rank()) + ": Job: ";
  if (config.progress_thread && config.link != LinkChoice::kFabric) {
    // Not by SPLITC_PROGRESS, which is refused sooner.
    throw Error(who +
                "a program that starts beside MPI has a thread that keeps the network going, which "
                "datagrams cannot have; set SPLITC_LINK=fabric");
  }
  if (router.deaths() != nullptr && config.provider.starts_with("shm")) {
    throw Error(
        who +
        "SPLITC_PROVIDER=shm: its processes wait for the dead in memory that they share, so "
        "the job cannot go on without them; name another provider, such as tcp;ofi_rxm, or "
        "do without --survive (SPLITC_SURVIVE)");
  }
  try {
    router.add_port(
        std::make_unique<Port>(router, Links(bootstrap, config, one_host, router).take(),
                               Port::Options{.progress_thread = config.progress_thread}));
    return rdma::library_text();
  } catch (const rdma::Error& error) {
    throw Error(who + error.what());
  } catch (const shmem::Error& error) {
    throw Error(who + error.what());
  }
}

}  // namespace am
