#include "am/job/make_bootstrap.h"

#include "am/job/bootstrap/launchers.h"
#include "am/job/bootstrap/rendezvous/rendezvous.h"
#include "am/job/descriptors.h"

namespace am {
namespace {

// splitcrun's processes are strangers to any other runtime, which would make N jobs of one of them.
std::unique_ptr<Bootstrap> meet_by(const OutOfBand& others, const Config& config) {
  if (config.job_fd < 0 || config.size == 1) return join_runtime(others);
  throw Error("rank " + std::to_string(others.rank) + ": Job: " + others.name +
              " is to bring the job together, but splitcrun started this process and " +
              std::to_string(config.size - 1) + " others that " + others.name +
              " knows nothing of; start the program with the launcher of " + others.name);
}

}  // namespace

std::unique_ptr<Bootstrap> make_bootstrap(const Config& config) {
  fill_standard_streams();
  raise_open_files_limit();
  if (config.out_of_band) return meet_by(*config.out_of_band, config);
  if (!config.inherited.empty()) throw Error(config.inherited);
  if (config.job_fd >= 0) return join_splitcrun(config.rank, config.size, config.job_fd);
  if (config.rendezvous) {
    return join_rendezvous(config.rank, config.size, *config.rendezvous);
  }
  if (config.pmix) return join_pmix();
  if (config.pmi) return join_pmi1(*config.pmi);
  if (!config.stranger.empty()) throw Error(config.stranger);
  return std::make_unique<BootstrapSingle>();
}

}  // namespace am
