#pragma once

#include <atomic>

namespace am {

class Bundle;

// The bundle that an endpoint is in. Another thread may move it from one parallel bundle to
// another.
class InBundle {
 public:
  explicit InBundle(Bundle* bundle) noexcept : bundle_(bundle) {}
  InBundle& operator=(Bundle* bundle) noexcept {
    bundle_.store(bundle, std::memory_order_relaxed);
    return *this;
  }
  Bundle* get() const noexcept { return bundle_.load(std::memory_order_relaxed); }
  Bundle* operator->() const noexcept { return get(); }
  Bundle& operator*() const noexcept { return *get(); }

 private:
  std::atomic<Bundle*> bundle_;
};

}  // namespace am
