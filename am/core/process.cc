#include "am/core/process.h"

#include <sched.h>

#include "am/core/bundle.h"
#include "am/core/far/messages.h"
#include "am/far/far_memory.h"
#include "am/route/port.h"
#include "am/types/forked.h"

namespace am {

Process::Process(Router& router) : router_(router) {
  the_ = this;
  spoil_in_children([]() noexcept {
    if (the_ != nullptr) the_->spoil();
  });
  Port* const port = router.port();
  if (port == nullptr) return;
  far_memory_ = std::make_unique<FarMemory>(router, *port);
  far_messages_ = std::make_unique<FarMessages>(*this, *port, far_memory_->transfers());
}

// The progress thread may be sending what a transfer has copied.
Process::~Process() {
  if (the_ == this) the_ = nullptr;
  if (Port* const port = router_.port()) port->stop_progress();
}

void Process::spoil() noexcept {
  for (Bundle* const bundle : bundles_) bundle->spoil();
  if (channels) channels->spoil();
  if (Port* const port = router_.port()) port->spoil();
}

void Process::add(Bundle& bundle) {
  const std::lock_guard lock(mutex_);
  bundles_.push_back(&bundle);
  bundle_count_.store(bundles_.size(), std::memory_order_relaxed);
}

void Process::remove(Bundle& bundle) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase(bundles_, &bundle);
    bundle_count_.store(bundles_.size(), std::memory_order_relaxed);
  }
  // pairs with: Unpin
  while (bundle.pins_.load(std::memory_order_acquire) != 0) sched_yield();
}

void Process::Unpin::operator()(Bundle* bundle) const noexcept {
  // pairs with: Process::remove()
  if (pinned) bundle->pins_.fetch_sub(1, std::memory_order_release);
}

Process::Pinned Process::next_bundle(const void* thread, std::size_t& index, Pinned last) const {
  const std::lock_guard lock(mutex_);
  if (last != nullptr && index < bundles_.size() && bundles_[index] == last.get()) ++index;
  for (; index < bundles_.size(); ++index) {
    Bundle* const next = bundles_[index];
    if (thread != nullptr && !next->belongs_to(thread)) continue;
    const bool pinned = next->access() == Access::kParallel;
    if (pinned) next->pins_.fetch_add(1, std::memory_order_relaxed);  // remove() takes the mutex
    return Pinned(next, Unpin{pinned});
  }
  return nullptr;
}

bool Process::lend_activity(const void* thread) {
  const std::lock_guard lock(mutex_);
  if (borrowed_ == 0) borrower_ = thread;
  if (borrower_ != thread) return false;
  ++borrowed_;
  return true;
}

void Process::give_back_activity() noexcept {
  const std::lock_guard lock(mutex_);
  --borrowed_;
}

void Process::note_thrown(const Activity::Running& handler) {
  std::exception_ptr last = std::current_exception();
  const std::lock_guard lock(mutex_);
  thrown_.swap(last);  // what it was before may end with a call of the program's: after the lock
  thrower_ = handler;
}

Activity::Running Process::thrower_of_current() const {
  const std::lock_guard lock(mutex_);
  const bool same = thrown_ != nullptr && thrown_ == std::current_exception();
  return same ? thrower_ : Activity::Running{};
}

}  // namespace am
