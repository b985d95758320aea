#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "am/message/handler.h"
#include "am/types/types.h"

namespace am {

// The handlers of an endpoint, by index; index 0 is never used.
//
// Thread rule: the bundle's, but for what is said to be for any thread.
class HandlerTable {
 public:
  const HandlerEntry& operator[](HandlerIndex index) const noexcept { return entries_[index]; }
  bool has(HandlerIndex index) const noexcept { return invoke_of(index) != nullptr; }
  // The `invoke` of what is there. Any thread, also while another one calls set().
  Invoke invoke_of(std::uint32_t index) const noexcept {
    return of(invokes_[index]).load(std::memory_order_relaxed);
  }

  // The lowest index that is free, from 1 up; 0: none.
  HandlerIndex lowest_free() const noexcept;
  // The index of the handler with that `invoke`; 0: it is not there. Any thread.
  HandlerIndex find(Invoke invoke) const noexcept;
  void set(HandlerIndex index, const HandlerEntry& entry);

  // The handler of a long message that was admitted, which may have been replaced by one of another
  // shape since: the last that takes it, with the object that it had.
  const HandlerEntry& admitted(HandlerIndex index, Shape shape) const noexcept;
  // The object of a member function's handler, also of one that was replaced; nullptr: none.
  void* object_of(Invoke invoke) const noexcept;
  // Whether some handler takes long messages, or did.
  bool has_had_long() const noexcept { return has_had_long_; }

 private:
  // (There is no std::atomic_ref to what is const.)
  static std::atomic_ref<Invoke> of(const Invoke& invoke) noexcept {
    return std::atomic_ref<Invoke>(const_cast<Invoke&>(invoke));
  }

  struct Replaced {
    HandlerIndex index;
    HandlerEntry entry;
  };

  std::array<HandlerEntry, kHandlers> entries_{};
  std::array<Invoke, kHandlers> invokes_{};  // of these, close together for fast searching
  std::vector<Replaced> replaced_;  // long handlers, by others of another shape: the last of each
  bool has_had_long_ = false;
};

}  // namespace am
