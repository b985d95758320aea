#include "am/c/binding/handles.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

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

void check_in_use() {
  if (is_forked()) refuse(AM_ERR_RESOURCE, fork_sentence());
  if (!Library::get().in_use()) {
    refuse(AM_ERR_NOT_INIT, "call AM_Init() or AMX_SPMDStartup() first");
  }
}

void check_handle(bool is_one, const void* handle, const char* what) {
  check_in_use();
  if (is_one) return;
  refuse(AM_ERR_BAD_ARG, handle == nullptr ? std::string("NULL is no ") + what
                                           : std::string("the handle is that of no ") + what +
                                                 ", or of one that was freed");
}

Bundle& core_of(eb_t bundle) {
  check_handle(is_bundle(bundle), bundle, "bundle");
  return *bundle->core;
}

EndpointState& core_of(ep_t endpoint) {
  check_handle(is_endpoint(endpoint), endpoint, "endpoint");
  return *endpoint->core;
}

void check_no_handler() {
  if (!Bundle::handling()) return;
  refuse(AM_ERR_IN_USE, "a handler may not call this; let it return, and call it after AM_Poll()");
}

void check_result(const void* result) {
  if (result == nullptr) refuse(AM_ERR_BAD_ARG, "NULL is no place for a result");
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
