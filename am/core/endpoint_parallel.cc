// An endpoint of a parallel bundle: what has to wait until no other thread is at it.

#include <sched.h>

#include <utility>

#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/types/forked.h"

namespace am {

Endpoint::Quiet::Quiet(Endpoint& endpoint, const char* call) {
  check_not_forked(call);
  if (endpoint.bundle_->access() == Access::kSequential) return;
  hold_.emplace(endpoint);
  for (;; sched_yield()) {
    inside_.emplace(endpoint);
    if (endpoint.visits_ == 0) return;
    inside_.reset();
    if (!Bundle::handling()) continue;
    endpoint.bundle_->refuse(
        call,
        "a handler or callback may not do this to an endpoint of a parallel "
        "bundle whose handlers run, as it waits for them; let it return first");
  }
}

// From here on other threads leave alone what has come for it.
void Endpoint::leave_bundle() {
  if (left_ || is_forked()) return;
  const bool parallel = bundle_->access() == Access::kParallel;
  if (parallel && Bundle::thread().active != this) {
    const Hold hold(*this);
    for (;; sched_yield()) {
      const Locked inside(*this);
      if (visits_ != 0) continue;
      left_ = true;
      return bundle_->leave(*this);
    }
  }
  left_ = true;
  bundle_->leave(*this);
}

void Endpoint::suit_threads() {
  if (bundle_->access() == Access::kSequential) {
    if (!traced_) direct_ = {boxes_.data(), boxes_.size()};
  } else {
    if (!direct_.empty()) direct_ = {};  // other threads read it, once it is empty
    for (Correspondent& from : correspondents_) suit_threads(from);
  }
}

// Handlers of two kinds of messages of one sender may reply at the same time.
void Endpoint::suit_threads(Correspondent& from) const {
  const bool in_use = from.admission != nullptr;
  if (bundle_->access() == Access::kSequential || !in_use || !from.reply_offsets.empty()) return;
  from.reply_offsets.resize(shmem::kLanes);
}

void Endpoint::unmap_among_threads(const To& to) {
  const std::uint32_t index = to.index;
  {
    const Locked inside(*this);
    if (used_translation(index, "Endpoint::unmap").closing)
      refuse_unmapped(index, "Endpoint::unmap");
    translations_[index].closing = true;
  }
  try {
    say_farewell(to, "unmap");
    if (far_) far_->close(to);
    wait_until(to, "unmap", detail::kAnswer, [&] { return try_unbind(index); });
  } catch (...) {  // a handler's
    const Locked inside(*this);
    translations_[index].closing = false;
    throw;
  }
}

bool Endpoint::try_unbind(std::uint32_t index) {
  const Locked inside(*this);
  if (shmem::Outbox* const box = boxes_[index]) {
    if (box->awaited() != 0 || box->busy()) return false;
    disconnect(index);
  }
  translations_.unbind(index);
  return true;
}

}  // namespace am
