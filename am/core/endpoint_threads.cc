#include "am/core/endpoint_threads.h"

#include <sched.h>

#include "am/core/parts.h"
#include "am/types/forked.h"

namespace am {

// Another thread may move the endpoint to another bundle until that is locked.
EndpointLock::EndpointLock(const EndpointParts& parts) noexcept {
  for (;;) {
    Bundle* const bundle = parts.bundle.get();
    Monitor* const monitor = bundle->monitor_.get();
    if (monitor == nullptr) return;
    static_cast<unique_lock&>(*this) = unique_lock(*monitor);
    if (parts.bundle.get() == bundle) return;
    unlock();
  }
}

PauseGuard::PauseGuard(EndpointParts& parts) noexcept : parts_(parts) {
  const EndpointLock lock(parts_);
  ++parts_.threads.holds;
}

PauseGuard::~PauseGuard() {
  const EndpointLock lock(parts_);
  --parts_.threads.holds;
}

ExclusiveLock::ExclusiveLock(EndpointParts& parts, const char* call) {
  check_not_forked(call);
  if (parts.bundle->access() == Access::kSequential) return;
  pause_.emplace(parts);
  for (;; sched_yield()) {
    lock_.emplace(parts);
    if (parts.threads.visits == 0) return;
    lock_.reset();
    if (!Bundle::handling()) continue;
    parts.bundle->refuse(call,
                         "a handler or callback may not do this to an endpoint of a parallel "
                         "bundle whose handlers run, as it waits for them; let it return first");
  }
}

// From here on other threads leave alone what has come for it.
void EndpointParts::leave_bundle() {
  if (threads.left || is_forked()) return;
  const bool waits = bundle->access() == Access::kParallel && !bundle->is_active(endpoint);
  if (waits) {
    const PauseGuard pause(*this);
    for (;; sched_yield()) {
      const EndpointLock lock(*this);
      if (threads.visits != 0) continue;
      threads.left = true;
      return bundle->leave(endpoint);
    }
  }
  threads.left = true;
  bundle->leave(endpoint);
}

void EndpointParts::suit_bundle() {
  outgoing.suit_bundle();
  incoming.suit_bundle();
}

void Incoming::suit_bundle() {
  for (Correspondent& from : correspondents_) suit_bundle(from);
}

// In a parallel bundle handlers of two kinds of messages of one sender may reply at the same time.
void Incoming::suit_bundle(Correspondent& from) const {
  const bool in_use = from.admission != nullptr;
  if (parts_.bundle->access() == Access::kSequential || !in_use || !from.reply_offsets.empty()) {
    return;
  }
  from.reply_offsets.resize(shmem::kLanes);
}

}  // namespace am
