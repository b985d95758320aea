// The descriptor of a bundle, for event loops of the program.

#include "am/c/event_loop.h"

#include "am/c/am2.h"
#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/token.h"
#include "am/core/bundle.h"

using am::c::check_bundle;
using am::c::check_no_handler;
using am::c::check_result;
using am::c::guarded;

int AMX_GetEventFd(eb_t bundle, int* fd) {
  constexpr const char* kCall = "AMX_GetEventFd";
  if (const int code = check_bundle(kCall, bundle)) return code;
  if (const int code = check_result(kCall, fd)) return code;
  return guarded(kCall, [&] { *fd = bundle->core->event_fd(); });
}

int AMX_Arm(eb_t bundle) {
  constexpr const char* kCall = "AMX_Arm";
  if (const int code = check_bundle(kCall, bundle)) return code;
  if (const int code = check_no_handler(kCall)) return code;
  return guarded(kCall, [&]() -> int {
    if (bundle->core->arm()) return AM_OK;
    return am::c::fail(AM_ERR_NOT_SENT, kCall, "something is there; AM_Poll() and try again");
  });
}
