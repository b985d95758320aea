#include "am/c/binding/handles.h"

#include <mutex>
#include <string>

#include "am/c/binding/errors.h"
#include "am/c/binding/library.h"
#include "am/c/binding/own_queue.h"
#include "am/types/forked.h"

namespace am::c {

constinit std::array<AM_Bundle, kMaxBundles> bundles{};
constinit std::array<AM_Endpoint, kMaxEndpoints> endpoints{};

namespace {

// Guards the taking and freeing of places, not the use of what is in them.
std::mutex mutex;

// The free place after the one that was taken last, so that a place is used again late, and a
// handle of something that was freed is recognized as long as possible.
template <class Handle, std::size_t kSize>
Handle* find_place(std::array<Handle, kSize>& table, std::size_t& last) noexcept {
  for (std::size_t tried = 0; tried < kSize; ++tried) {
    last = (last + 1) % kSize;
    if (table[last].core == nullptr) return &table[last];
  }
  return nullptr;
}

int check(const char* call, bool is_one, const void* handle, const char* what) noexcept {
  if (const int code = check_in_use(call)) return code;
  if (is_one) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              handle == nullptr
                  ? std::string("NULL is no ") + what
                  : std::string("the handle is that of no ") + what + ", or of one that was freed");
}

}  // namespace

void spoil_handles() noexcept {
  for (AM_Bundle& bundle : bundles) bundle.core = nullptr;
  for (AM_Endpoint& endpoint : endpoints) endpoint.core = nullptr;
}

int check_in_use(const char* call) noexcept {
  if (is_forked()) return fail(AM_ERR_RESOURCE, call, fork_sentence());
  if (Library::get().in_use()) return AM_OK;
  return fail(AM_ERR_NOT_INIT, call, "call AM_Init() or AMX_SPMDStartup() first");
}

int check_bundle(const char* call, eb_t bundle) noexcept {
  return check(call, is_bundle(bundle), bundle, "bundle");
}

int check_endpoint(const char* call, ep_t endpoint) noexcept {
  return check(call, is_endpoint(endpoint), endpoint, "endpoint");
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
  static std::size_t last = kMaxBundles - 1;
  const std::lock_guard lock(mutex);
  AM_Bundle* const place = find_place(bundles, last);
  if (place != nullptr) {
    place->mask = AM_NOEVENTS;
    place->core = core.release();
  }
  return place;
}

ep_t take_place(std::unique_ptr<EndpointState> core) {
  static std::size_t last = kMaxEndpoints - 1;
  const std::lock_guard lock(mutex);
  AM_Endpoint* const place = find_place(endpoints, last);
  if (place == nullptr) return nullptr;
  core->handle = place;
  place->core = core.release();
  return place;
}

void free_endpoint(ep_t endpoint) {
  if (OwnQueue* const queue = endpoint->core->queue.get())
    queue->wait_until_sent("AM_FreeEndpoint");
  delete endpoint->core;
  const std::lock_guard lock(mutex);
  *endpoint = {};
}

void free_bundle(eb_t bundle) {
  const auto& members = bundle->core->endpoints();
  // What one of them has for another is sent while that is there.
  for (std::size_t i = 0; i < members.size(); ++i) {
    OwnQueue* const queue = state_of(*members[i]).queue.get();
    if (queue != nullptr) queue->wait_until_sent("AM_FreeBundle");
  }
  while (!members.empty()) free_endpoint(state_of(*members.back()).handle);
  delete bundle->core;
  const std::lock_guard lock(mutex);
  bundle->core = nullptr;
}

void free_all_bundles() {
  for (AM_Bundle& bundle : bundles) {
    if (bundle.core != nullptr) free_bundle(&bundle);
  }
}

}  // namespace am::c
