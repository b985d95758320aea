// A way for the processes of a test job to wait for one another that does not go through the
// library, so that a process can be made not to poll until the others have come to some point.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace test {

// A number that all processes of a job on this machine share, 0 at first. It only grows.
//
// Thread rule: any thread.
class SideChannel {
 public:
  // Collective: in all processes the same `name`, a new one for each channel of a test run.
  // Throws std::runtime_error when no memory can be shared. A barrier comes before its destructor:
  // the first process that gets there removes the name.
  explicit SideChannel(const std::string& name);
  ~SideChannel();
  SideChannel(const SideChannel&) = delete;
  SideChannel& operator=(const SideChannel&) = delete;

  // At least that value; a later one stays. What this process wrote before is visible to those who
  // see the new value.
  void advance_to(std::uint64_t value) noexcept {
    std::uint64_t now = value_->load(std::memory_order_relaxed);
    // pairs with: reached()
    while (now < value && !value_->compare_exchange_weak(now, value, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
    }
  }
  // pairs with: reached()
  void add(std::uint64_t n) noexcept { value_->fetch_add(n, std::memory_order_release); }
  // pairs with: advance_to(), add()
  bool reached(std::uint64_t value) const noexcept {
    return value_->load(std::memory_order_acquire) >= value;
  }
  // Waits for it, yielding the processor and nothing else.
  void await(std::uint64_t value) const noexcept;

 private:
  const std::string path_;
  std::atomic<std::uint64_t>* value_;
};

}  // namespace test
