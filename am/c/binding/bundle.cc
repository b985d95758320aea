// Bundles: their life, polling and waiting, and their descriptors for event loops of the program.

#include "am/core/bundle.h"

#include <memory>
#include <string>

#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/event_loop.h"

using namespace am::c;

int AM_AllocateBundle(AM_type_t type, eb_t* bundle) {
  return guarded("AM_AllocateBundle", [&] {
    check_in_use();
    check_no_handler();
    check_result(bundle);
    if (type != AM_SEQ && type != AM_PAR) {
      refuse(AM_ERR_BAD_ARG, std::to_string(type) + " is neither AM_SEQ nor AM_PAR");
    }
    const auto access = type == AM_PAR ? am::Access::kParallel : am::Access::kSequential;
    *bundle = hold(bundles, std::make_unique<am::Bundle>(Library::get().job(), access), "bundles");
    (*bundle)->mask = AM_NOEVENTS;
  });
}

int AM_FreeBundle(eb_t bundle) {
  return guarded("AM_FreeBundle", [bundle] {
    outside_handlers(core_of(bundle));
    free_bundle(bundle);
  });
}

int AM_Poll(eb_t bundle) {
  try {
    if (!is_bundle(bundle)) [[unlikely]]
      core_of(bundle);
    bundle->core->poll();
    return AM_OK;
  } catch (...) {  // which in a handler or callback is how poll() refuses
    if (am::Bundle::handling())
      return guarded("AM_Poll", [bundle] { outside_handlers(core_of(bundle)); });
    return fail_by_exception("AM_Poll");
  }
}

int AM_SetEventMask(eb_t bundle, int mask) {
  return guarded("AM_SetEventMask", [=] {
    core_of(bundle);
    if ((mask & ~(AM_NOTEMPTY | AM_ONESHOT)) != 0 || mask == AM_ONESHOT) {
      refuse(AM_ERR_BAD_ARG,
             std::to_string(mask) +
                 " is no event mask; give AM_NOEVENTS, AM_NOTEMPTY or AM_NOTEMPTY | AM_ONESHOT");
    }
    bundle->mask = mask;
  });
}

int AM_GetEventMask(eb_t bundle, int* mask) {
  return answer("AM_GetEventMask", mask, [=] {
    core_of(bundle);
    return bundle->mask.load();
  });
}

int AM_Wait(eb_t bundle) {
  return guarded("AM_Wait", [bundle] {
    am::Bundle& core = outside_handlers(core_of(bundle));
    if ((bundle->mask & AM_NOTEMPTY) == 0) {
      refuse(AM_ERR_BAD_ARG,
             "the event mask is AM_NOEVENTS, so this would never return; set AM_NOTEMPTY with "
             "AM_SetEventMask()");
    }
    core.wait(am::Events::kNotEmpty, -1, am::SourceLocation());
    if ((bundle->mask & AM_ONESHOT) != 0) bundle->mask = AM_NOEVENTS;
  });
}

int AMX_GetEventFd(eb_t bundle, int* fd) {
  return answer("AMX_GetEventFd", fd, [=] { return core_of(bundle).event_fd(); });
}

int AMX_Arm(eb_t bundle) {
  constexpr const char* kCall = "AMX_Arm";
  return guarded(kCall, [&] {
    if (outside_handlers(core_of(bundle)).arm()) return AM_OK;
    return fail(AM_ERR_NOT_SENT, kCall, "something is there; AM_Poll() and try again");
  });
}
