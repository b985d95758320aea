// Bundles: their life, polling and waiting.

#include "am/core/bundle.h"

#include <memory>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"

namespace am::c {
namespace {

constexpr int kKnownEvents = AM_NOTEMPTY | AM_ONESHOT;

std::unique_ptr<Bundle> make_bundle(AM_type_t type) {
  return std::make_unique<Bundle>(Library::get().job(),
                                  type == AM_PAR ? Access::kParallel : Access::kSequential);
}

int check_type(const char* call, AM_type_t type) {
  if (type == AM_SEQ || type == AM_PAR) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call, std::to_string(type) + " is neither AM_SEQ nor AM_PAR");
}

int allocate(const char* call, AM_type_t type, eb_t* bundle) {
  if (const int code = check_in_use(call)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_result(call, bundle)) return code;
  if (const int code = check_type(call, type)) return code;
  return guarded(call, [&] {
    AM_Bundle* const made = take_place(make_bundle(type));
    if (made == nullptr) {
      return fail(AM_ERR_RESOURCE, call,
                  "there are " + std::to_string(kMaxBundles) + " bundles; free some");
    }
    *bundle = made;
    return static_cast<int>(AM_OK);
  });
}

int wait(const char* call, eb_t bundle) {
  if (const int code = check_bundle(call, bundle)) return code;
  if (const int code = check_no_handler(call)) return code;
  if ((bundle->mask & AM_NOTEMPTY) == 0) {
    return fail(AM_ERR_BAD_ARG, call,
                "the event mask is AM_NOEVENTS, so this would never return; set AM_NOTEMPTY with "
                "AM_SetEventMask()");
  }
  return guarded(call, [&] {
    bundle->core->wait(Events::kNotEmpty, -1, SourceLocation());
    if ((bundle->mask & AM_ONESHOT) != 0) bundle->mask = AM_NOEVENTS;
  });
}

}  // namespace
}  // namespace am::c

using am::c::check_bundle;
using am::c::check_no_handler;
using am::c::check_result;
using am::c::fail;
using am::c::guarded;

int AM_AllocateBundle(AM_type_t type, eb_t* bundle) {
  return am::c::allocate("AM_AllocateBundle", type, bundle);
}

int AM_FreeBundle(eb_t bundle) {
  constexpr const char* kCall = "AM_FreeBundle";
  if (const int code = check_bundle(kCall, bundle)) return code;
  if (const int code = check_no_handler(kCall)) return code;
  return guarded(kCall, [bundle] { am::c::free_bundle(bundle); });
}

int AM_Poll(eb_t bundle) {
  if (!am::c::is_bundle(bundle)) [[unlikely]]
    return check_bundle("AM_Poll", bundle);
  try {
    bundle->core->poll();
    return AM_OK;
  } catch (...) {  // which in a handler or callback is how poll() refuses
    if (am::Bundle::handling()) return check_no_handler("AM_Poll");
    return am::c::fail_by_exception("AM_Poll");
  }
}

int AM_SetEventMask(eb_t bundle, int mask) {
  constexpr const char* kCall = "AM_SetEventMask";
  if (const int code = check_bundle(kCall, bundle)) return code;
  if ((mask & ~am::c::kKnownEvents) != 0 || mask == AM_ONESHOT) {
    return fail(AM_ERR_BAD_ARG, kCall,
                std::to_string(mask) +
                    " is no event mask; give AM_NOEVENTS, AM_NOTEMPTY or AM_NOTEMPTY | AM_ONESHOT");
  }
  bundle->mask = mask;
  return AM_OK;
}

int AM_GetEventMask(eb_t bundle, int* mask) {
  constexpr const char* kCall = "AM_GetEventMask";
  if (const int code = check_bundle(kCall, bundle)) return code;
  if (const int code = check_result(kCall, mask)) return code;
  *mask = bundle->mask;
  return AM_OK;
}

int AM_Wait(eb_t bundle) { return am::c::wait("AM_Wait", bundle); }
