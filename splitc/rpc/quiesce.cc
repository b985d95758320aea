#include "am/core/endpoint.h"
#include "am/types/source_location.h"
#include "splitc/collective/barrier.h"
#include "splitc/group/groups.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/world.h"

namespace splitc {

void quiesce(am::SourceLocation where) {
  const detail::Call call("quiesce", where);
  detail::check_may_wait(call);
  detail::Groups::before_call_of_job(call);
  world().endpoint().flush(where);
  detail::meet(call);
}

}  // namespace splitc
