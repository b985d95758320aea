#include "splitc/world/waiter.h"

#include <utility>

namespace splitc::detail {

void WaiterList::push(Waiter& waiter) noexcept {
  waiter.list_ = this;
  waiter.next_ = nullptr;
  waiter.previous_ = last_;
  (last_ == nullptr ? first_ : last_->next_) = &waiter;
  last_ = &waiter;
}

Waiter* WaiterList::pop() noexcept {
  Waiter* const waiter = first_;
  if (waiter != nullptr) remove(*waiter);
  return waiter;
}

void WaiterList::remove(Waiter& waiter) noexcept {
  (waiter.previous_ == nullptr ? first_ : waiter.previous_->next_) = waiter.next_;
  (waiter.next_ == nullptr ? last_ : waiter.next_->previous_) = waiter.previous_;
  waiter.list_ = nullptr;
}

void WaiterList::move_to(WaiterList& other) noexcept {
  while (Waiter* const waiter = pop()) other.push(*waiter);
}

void WaiterList::clear() noexcept {
  while (pop() != nullptr) {
  }
}

int run_ready() {
  Tasks& tasks = *my_tasks;
  if (tasks.run) return 0;
  tasks.run = true;
  int count = 0;
  while (Waiter* const waiter = tasks.ready.pop()) {
    waiter->run(*waiter);
    ++count;
  }
  tasks.run = false;
  if (tasks.orphan) std::rethrow_exception(std::exchange(tasks.orphan, nullptr));
  return count;
}

}  // namespace splitc::detail
