#include "am/message/handler_table.h"

#include <algorithm>

namespace am {

HandlerIndex HandlerTable::lowest_free() const noexcept {
  for (int index = 1; index < kHandlers; ++index) {
    if (!has(static_cast<HandlerIndex>(index))) return static_cast<HandlerIndex>(index);
  }
  return 0;
}

HandlerIndex HandlerTable::find(Invoke invoke) const noexcept {
  const auto found = std::ranges::find_if(invokes_, [&](const Invoke& one) {
    return of(one).load(std::memory_order_relaxed) == invoke;
  });
  return found == invokes_.end() ? HandlerIndex{0}
                                 : static_cast<HandlerIndex>(found - invokes_.begin());
}

void HandlerTable::set(HandlerIndex index, const HandlerEntry& entry) {
  HandlerEntry& now = entries_[index];
  if (now.shape != entry.shape && takes_long(now.shape)) {
    std::erase_if(replaced_, [&](const Replaced& one) {
      return one.index == index && one.entry.shape == now.shape;
    });
    replaced_.push_back({index, now});
  }
  now = entry;
  of(invokes_[index]).store(entry.invoke, std::memory_order_relaxed);
  has_had_long_ |= takes_long(entry.shape);
}

const HandlerEntry& HandlerTable::admitted(HandlerIndex index, Shape shape) const noexcept {
  if (takes(entries_[index].shape, shape)) return entries_[index];
  const auto last = std::find_if(replaced_.rbegin(), replaced_.rend(), [&](const Replaced& one) {
    return one.index == index && takes(one.entry.shape, shape);
  });
  return last != replaced_.rend() ? last->entry : entries_[index];
}

void* HandlerTable::object_of(Invoke invoke) const noexcept {
  if (const HandlerIndex index = find(invoke); index != 0) return entries_[index].context;
  for (const Replaced& one : replaced_) {
    if (one.entry.invoke == invoke) return one.entry.context;
  }
  return nullptr;
}

}  // namespace am
