#include <iterator>

#include "tools/doctor/checks/checks.h"

namespace am::doctor {

Findings check_all(const Facts& facts) {
  const JobShape& job = facts.job;
  Findings all = check_start(facts.start, job);
  const Finding single[] = {
      check_settings(facts.settings),
      check_size(job),
      check_shared_memory(facts.shared_memory, job),
      check_memory(facts.memory, job),
      check_memory_limits(facts.memory, job),
      check_leftovers(facts.leftovers),
      check_cores(facts.cores, job),
      check_quota(facts.cores, job),
      check_placement(facts.cores, job),
      check_libfabric(facts.network, job),
      check_provider(facts.network, job),
      check_interfaces(facts.network, job),
      check_memlock(facts.memlock),
      check_open_files(facts.open_files, job),
      check_cross_memory(facts.cross_memory),
      check_userfault(facts.userfault),
      check_membarrier(facts.membarrier),
      check_clock(facts.clock),
      check_launchers(facts.launchers),
      check_pmix(facts.launchers),
      check_sodium(facts.launchers),
  };
  all.insert(all.end(), std::begin(single), std::end(single));
  const Findings faults = check_faults(facts.network);
  all.insert(all.end(), faults.begin(), faults.end());
  sort_by_severity(all);
  return all;
}

}  // namespace am::doctor
