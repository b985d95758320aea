// A table of places that handles of C programs point to. It is never freed, so any pointer can be
// distinguished from a handle without following it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace am::c {

// `Handle` has a pointer `core` to what the program names by it; nullptr: the place is free.
//
// Thread rule: any. The mutex guards the taking and freeing of places, not the use of what is in
// them.
template <class Handle, std::size_t kSize>
class Places {
 public:
  // Whether that is a place that is in use. Costs a subtraction and a load.
  bool holds(const Handle* handle) const noexcept {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(all_.data());
    return offset < sizeof all_ && offset % sizeof(Handle) == 0 && handle->core != nullptr;
  }

  // A free place becomes that of `core`; nullptr: there is none. It is the one after the place that
  // was taken last: so a place is used again late, and a handle of something that was freed is
  // recognized as long as possible.
  template <class Core>
  Handle* take(Core* core) noexcept {
    const std::lock_guard lock(mutex_);
    for (std::size_t tried = 0; tried < kSize; ++tried) {
      last_ = (last_ + 1) % kSize;
      Handle& place = all_[last_];
      if (place.core != nullptr) continue;
      used_ = std::max(used_, last_ + 1);
      place.core = core;
      return &place;
    }
    return nullptr;
  }
  void free(Handle* handle) noexcept {
    const std::lock_guard lock(mutex_);
    handle->core = nullptr;
  }

  // Calls f(handle) for each that is in use.
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < used_; ++i) {
      if (all_[i].core != nullptr) f(&all_[i]);
    }
  }
  // Frees all places, and nothing that was in them.
  void forget() noexcept {
    for (std::size_t i = 0; i < used_; ++i) all_[i].core = nullptr;
  }

 private:
  // All zero at first, so that a large table takes neither memory nor room in the file.
  std::array<Handle, kSize> all_{};
  std::mutex mutex_;
  std::size_t last_ = 0;  // taken
  std::size_t used_ = 0;  // none from here on has ever been taken
};

}  // namespace am::c
