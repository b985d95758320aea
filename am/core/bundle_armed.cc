// Bundles whose thread sleeps outside the library, in an event loop of the program.

#include <memory>

#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/route/event_descriptor.h"
#include "am/route/router.h"
#include "am/types/forked.h"

namespace am {

int Bundle::event_fd() {
  check_not_forked("Bundle::event_fd");
  if (monitor_) {
    refuse(
        "Bundle::event_fd",
        "a parallel bundle has none, as a poll of any thread would end the sleep of another; "
        "wait in it with wait() or wait_until(), or make a sequential bundle for the event loop");
  }
  if (event_ == nullptr) event_ = std::make_unique<EventDescriptor>(router_);
  return event_->fd();
}

// The order is that of every sleep (shmem/doorbell.h): what has made the descriptor readable is
// taken back, the sleep is announced, and then comes the look, which finds what was written before.
bool Bundle::arm() {
  if (handling()) refuse("Bundle::arm", "a handler may not wait; let it return first");
  event_fd();
  take_over();
  disarm();
  event_->clear();
  const Nap nap(*this);
  if (has_message() || !event_->arm(nap.ticket())) return false;
  inside_ = Inside::kArmed;
  signal_late_siblings();
  return true;
}

// The look may have read from the network what is for another bundle of this thread, which looked
// before and is armed.
void Bundle::signal_late_siblings() noexcept {
  if (far_ == nullptr || !process_.several_bundles()) return;
  process_.for_bundles(this_thread(), [&](Bundle& sibling) {
    const bool armed = &sibling != this && sibling.inside_ == Inside::kArmed;
    if (armed && sibling.is_late()) sibling.event_->signal();
  });
}

void Bundle::disarm() noexcept {
  if (inside_ != Inside::kArmed) return;
  inside_ = Inside::kNothing;
  event_->disarm();
}

int Bundle::poll_armed(bool spinning) {
  disarm();
  const int count = poll(spinning);
  if (count != 0) event_->found();
  return count;
}

}  // namespace am
