#include "am/c/binding/handles.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/library.h"
#include "am/c/binding/own_queue.h"
#include "am/types/forked.h"

namespace am::c {

constinit Places<AM_Bundle, kMaxBundles> bundles;
constinit Places<AM_Endpoint, kMaxEndpoints> endpoints;

namespace {

constexpr std::size_t kMostEnders = 4;  // rooms above
constinit std::array<std::atomic<void (*)(eb_t)>, kMostEnders> enders{};

}  // namespace

void spoil_handles() noexcept {
  bundles.forget();
  endpoints.forget();
}

int check_in_use(const char* call) noexcept {
  if (is_forked()) return fail(AM_ERR_RESOURCE, call, fork_sentence());
  if (Library::get().in_use()) return AM_OK;
  return fail(AM_ERR_NOT_INIT, call, "call AM_Init() or AMX_SPMDStartup() first");
}

int check_handle(const char* call, bool is_one, const void* handle, const char* what) noexcept {
  if (const int code = check_in_use(call)) return code;
  if (is_one) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              handle == nullptr
                  ? std::string("NULL is no ") + what
                  : std::string("the handle is that of no ") + what + ", or of one that was freed");
}

int check_bundle(const char* call, eb_t bundle) noexcept {
  return check_handle(call, is_bundle(bundle), bundle, "bundle");
}

int check_endpoint(const char* call, ep_t endpoint) noexcept {
  return check_handle(call, is_endpoint(endpoint), endpoint, "endpoint");
}

int check_no_handler(const char* call) noexcept {
  if (!Bundle::handling()) return AM_OK;
  return fail(AM_ERR_IN_USE, call,
              "a handler may not call this; let it return, and call it after AM_Poll()");
}

int check_result(const char* call, const void* result) noexcept {
  if (result != nullptr) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call, "NULL is no place for a result");
}

// Handlers of other threads use all of it until then.
EndpointState::~EndpointState() { leave_bundle(); }

// The queue of a parallel bundle's endpoint is there before anybody looks for it.
void EndpointState::join(eb_t bundle) {
  const bool now_parallel = bundle->core->access() == Access::kParallel;
  if (parallel != now_parallel) parallel = now_parallel;  // others read it while it stays
  if (parallel && !queue) queue = std::make_unique<OwnQueue>(*this);
  bundle_handle = bundle;
}

eb_t take_place(std::unique_ptr<Bundle> core) {
  AM_Bundle* const place =
      bundles.take(core.get(), [](eb_t bundle) { bundle->mask = AM_NOEVENTS; });
  if (place != nullptr) static_cast<void>(core.release());
  return place;
}

ep_t take_place(std::unique_ptr<EndpointState> core) {
  AM_Endpoint* const place =
      endpoints.take(core.get(), [&](ep_t endpoint) { core->handle = endpoint; });
  if (place != nullptr) static_cast<void>(core.release());
  return place;
}

void before_bundle_ends(void (*end)(eb_t bundle)) {
  for (auto& ender : enders) {
    void (*free)(eb_t) = nullptr;
    if (ender.compare_exchange_strong(free, end) || free == end) return;
  }
  throw Error("am/c: kMostEnders is too small");
}

void free_endpoint(ep_t endpoint) {
  drop_prepared(endpoint);
  if (OwnQueue* const queue = endpoint->core->queue.get())
    queue->wait_until_sent("AM_FreeEndpoint");
  delete endpoint->core;
  endpoints.free(endpoint);
}

void free_bundle(eb_t bundle) {
  for (const auto& ender : enders) {
    if (const auto end = ender.load()) end(bundle);
  }
  const auto& members = bundle->core->endpoints();
  // What one of them has for another is sent while that is there.
  for (std::size_t i = 0; i < members.size(); ++i) {
    OwnQueue* const queue = state_of(*members[i]).queue.get();
    if (queue != nullptr) queue->wait_until_sent("AM_FreeBundle");
  }
  while (!members.empty()) free_endpoint(state_of(*members.back()).handle);
  delete bundle->core;
  bundles.free(bundle);
}

void free_all_bundles() { bundles.for_each(free_bundle); }

}  // namespace am::c
