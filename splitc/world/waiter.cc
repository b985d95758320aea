#include "splitc/world/waiter.h"

namespace splitc::detail {
void WaiterList::remove(const Waiter& waiter) noexcept {
  WaiterList rest;
  while (Waiter* const one = pop()) {
    if (one != &waiter) rest.push(*one);
  }
  rest.move_to(*this);
}

void WaiterList::move_to(WaiterList& other) noexcept {
  if (empty()) return;
  (other.first_ == nullptr ? other.first_ : other.last_->next) = std::exchange(first_, nullptr);
  other.last_ = last_;
}

int run_ready() {
  if (waiters_run) return 0;
  waiters_run = true;
  int count = 0;
  while (Waiter* const waiter = ready_waiters.pop()) {
    waiter->run(*waiter);
    ++count;
  }
  waiters_run = false;
  if (orphan_error) std::rethrow_exception(std::exchange(orphan_error, nullptr));
  return count;
}

}  // namespace splitc::detail
