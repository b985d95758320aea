// Endpoints: their life, tag and segment.

#include "am/core/endpoint.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/handles.h"
#include "am/c/binding/library.h"
#include "am/c/binding/own_queue.h"
#include "am/message/admission.h"
#include "am/route/router.h"
#include "shmem/mailbox_layout.h"

namespace am::c {
namespace {

// The most bytes that a segment may have: all memory of the process.
constexpr std::uintptr_t kMaxSegment = UINTPTR_MAX;

int set_segment(const char* call, Endpoint& endpoint, void* address, std::uintptr_t nbytes) {
  if (nbytes > kMaxSegment - reinterpret_cast<std::uintptr_t>(address)) {
    return fail(AM_ERR_BAD_ARG, call,
                std::to_string(nbytes) + " bytes from there on go beyond the last address");
  }
  if (address == nullptr && nbytes != 0 && nbytes != kMaxSegment) {
    return fail(AM_ERR_BAD_ARG, call,
                "NULL is no memory of " + std::to_string(nbytes) +
                    " bytes; it goes with 0 bytes, or with (uintptr_t)-1 for all memory");
  }
  endpoint.set_segment({static_cast<std::byte*>(address), nbytes});
  return AM_OK;
}

// The usual ones, but for inboxes: AM-II sets no limit to the translations that lead to an
// endpoint, and has no call to ask for one. One that is not used costs about 170 bytes, and address
// space.
Endpoint::Options options(const Bundle& bundle) {
  return {.translations = std::max(256U, bundle.router().size()), .inboxes = shmem::kMaxInboxes};
}

int allocate(const char* call, eb_t bundle, ep_t* endpoint, en_t* name) {
  if (const int code = check_bundle(call, bundle)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_result(call, endpoint)) return code;
  if (const int code = check_result(call, name)) return code;
  return guarded(call, [&] {
    auto core = std::make_unique<EndpointState>(*bundle->core, options(*bundle->core));
    core->set_segment({});
    core->join(bundle);
    AM_Endpoint* const made = take_place(std::move(core));
    if (made == nullptr) {
      return fail(AM_ERR_RESOURCE, call,
                  "there are " + std::to_string(kMaxEndpoints) + " endpoints; free some");
    }
    *endpoint = made;
    *name = to_c(made->core->name());
    return static_cast<int>(AM_OK);
  });
}

int move(const char* call, ep_t endpoint, eb_t from, eb_t to) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (const int code = check_bundle(call, from)) return code;
  if (const int code = check_bundle(call, to)) return code;
  if (const int code = check_no_handler(call)) return code;
  EndpointState& core = *endpoint->core;
  if (core.bundle_handle != from) {
    return fail(AM_ERR_BAD_ARG, call, "the endpoint is not in the bundle that it is to leave");
  }
  return guarded(call, [&] {
    const std::lock_guard lock(core.moving);
    to->core->adopt(core);
    core.join(to);
    if (core.queue) {
      core.queue->leave(*from->core);
      core.queue->join(*to->core);
    }
  });
}

int set_loopback(const char* call, ep_t endpoint, bool at_once) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  EndpointState& core = *endpoint->core;
  return guarded(call, [&] {
    if (!core.queue && !at_once) return;
    if (!core.queue) core.queue = std::make_unique<OwnQueue>(core);
    core.queue->set_at_once(at_once);
  });
}

int expect(const char* call, ep_t endpoint, int endpoints, int outstanding) {
  if (const int code = check_endpoint(call, endpoint)) return code;
  if (endpoints < 1 || outstanding < 1) {
    return fail(AM_ERR_BAD_ARG, call,
                std::to_string(endpoints) + " endpoints and " + std::to_string(outstanding) +
                    " requests to each; both are at least 1");
  }
  const auto wanted = static_cast<std::uint32_t>(endpoints);
  if (wanted <= endpoint->core->translations()) return AM_OK;
  return guarded(call, [&] { endpoint->core->resize_translations(wanted); });
}

}  // namespace
}  // namespace am::c

using am::c::check_endpoint;
using am::c::check_no_handler;
using am::c::check_result;
using am::c::guarded;

int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name) {
  return am::c::allocate("AM_AllocateEndpoint", bundle, endpoint, name);
}

int AM_FreeEndpoint(ep_t endpoint) {
  constexpr const char* kCall = "AM_FreeEndpoint";
  if (const int code = check_endpoint(kCall, endpoint)) return code;
  if (const int code = check_no_handler(kCall)) return code;
  return guarded(kCall, [endpoint] { am::c::free_endpoint(endpoint); });
}

int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to) {
  return am::c::move("AM_MoveEndpoint", endpoint, from, to);
}

int AM_GetEndpointName(ep_t endpoint, en_t* name) {
  return am::c::get("AM_GetEndpointName", endpoint, name,
                    [](auto& core) { return am::c::to_c(core.name()); });
}

int AM_GetEndpointBundle(ep_t endpoint, eb_t* bundle) {
  return am::c::get("AM_GetEndpointBundle", endpoint, bundle,
                    [](auto& core) { return core.bundle_handle.load(); });
}

int AM_SameEndpoint(en_t one, en_t other) {
  const am::Name a = am::c::from_c(one);
  const am::Name b = am::c::from_c(other);
  return a.rank == b.rank && a.serial == b.serial ? 1 : 0;
}

int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding) {
  return am::c::expect("AM_SetExpectedResources", endpoint, endpoints, outstanding);
}

int AMX_SetLoopback(ep_t endpoint, int at_once) {
  return am::c::set_loopback("AMX_SetLoopback", endpoint, at_once != 0);
}

int AM_SetTag(ep_t endpoint, tag_t tag) {
  constexpr const char* kCall = "AM_SetTag";
  if (const int code = check_endpoint(kCall, endpoint)) return code;
  return guarded(kCall, [&] { endpoint->core->set_tag(tag); });
}

int AM_GetTag(ep_t endpoint, tag_t* tag) {
  return am::c::get("AM_GetTag", endpoint, tag, [](auto& core) { return core.tag(); });
}

int AM_SetSeg(ep_t endpoint, void* address, uintptr_t nbytes) {
  constexpr const char* kCall = "AM_SetSeg";
  if (const int code = check_endpoint(kCall, endpoint)) return code;
  return guarded(kCall,
                 [&] { return am::c::set_segment(kCall, *endpoint->core, address, nbytes); });
}

int AM_GetSeg(ep_t endpoint, void** address, uintptr_t* nbytes) {
  constexpr const char* kCall = "AM_GetSeg";
  if (const int code = check_endpoint(kCall, endpoint)) return code;
  if (const int code = check_result(kCall, address)) return code;
  if (const int code = check_result(kCall, nbytes)) return code;
  const std::span<std::byte> segment = endpoint->core->segment();
  *address = segment.empty() ? nullptr : segment.data();
  *nbytes = segment.size();
  return AM_OK;
}

int AM_GetProcessSegment(void** address, uintptr_t* nbytes) {
  constexpr const char* kCall = "AM_GetProcessSegment";
  if (const int code = am::c::check_in_use(kCall)) return code;
  if (const int code = check_result(kCall, address)) return code;
  if (const int code = check_result(kCall, nbytes)) return code;
  const am::Router& router = am::c::Library::get().job().router();
  *address = router.segment();
  *nbytes = router.segment_bytes();
  return AM_OK;
}

int AM_MaxSegLength(uintptr_t* nbytes) {
  if (const int code = check_result("AM_MaxSegLength", nbytes)) return code;
  *nbytes = am::c::kMaxSegment;
  return AM_OK;
}
