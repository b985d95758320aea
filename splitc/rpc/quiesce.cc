#include "am/core/endpoint.h"
#include "am/types/source_location.h"
#include "splitc/group/calls.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/world.h"

namespace splitc {

void quiesce(am::SourceLocation where) {
  const detail::OfGroup job = detail::of_job({"quiesce", where});
  world().endpoint().flush(where);
  detail::run_plan(job, {});
}

}  // namespace splitc
