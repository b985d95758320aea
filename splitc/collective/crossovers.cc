#include "splitc/collective/crossovers.h"

#include "am/job/config/collective_text.h"
#include "am/job/config/config.h"
#include "am/job/job.h"
#include "am/job/log.h"
#include "splitc/collective/round.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

am::Crossovers chosen{};

}  // namespace

const am::Crossovers& crossovers() { return chosen; }

void choose_crossovers() {
  const am::Job& job = world().job();
  chosen = job.crossovers(Round::most_shown());
  if (!job.config().verbose || my_proc() != 0) return;
  const std::string network = has_far_peers() ? ", by SPLITC_LOGGP=" + text_of(job.network()) : "";
  am::log_info("collective calls: SPLITC_COLLECTIVES=" + text_of(chosen) + network);
}

}  // namespace splitc::detail
