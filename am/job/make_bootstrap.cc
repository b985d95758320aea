#include "am/job/make_bootstrap.h"

#include "am/job/bootstrap/launch.h"
#include "am/job/bootstrap/pmi1.h"
#include "am/job/bootstrap/pmix.h"
#include "am/job/bootstrap/rendezvous/rendezvous.h"
#include "am/job/bootstrap/single.h"
#include "am/job/descriptors.h"

namespace am {

std::unique_ptr<Bootstrap> make_bootstrap(const Config& config) {
  fill_standard_streams();
  raise_open_files_limit();
  if (config.job_fd >= 0) {
    return std::make_unique<BootstrapLaunch>(config.rank, config.size, config.job_fd);
  }
  if (config.rendezvous) {
    return std::make_unique<BootstrapRendezvous>(config.rank, config.size, *config.rendezvous);
  }
  if (config.pmix) return std::make_unique<BootstrapPmix>();
  if (config.pmi) return std::make_unique<BootstrapPmi1>(*config.pmi);
  if (!config.stranger.empty()) throw Error(config.stranger);
  return std::make_unique<BootstrapSingle>();
}

}  // namespace am
