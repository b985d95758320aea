#pragma once

// How an endpoint keeps the threads of a parallel bundle apart; included by am/core/endpoint.h.

#include <atomic>
#include <optional>

#include "am/core/endpoint.h"

namespace am {

// A call of this endpoint that waits.
struct Endpoint::Call {
  explicit Call(std::atomic<int>& calls) noexcept : count(calls) {
    count.fetch_add(1, std::memory_order_relaxed);
  }
  ~Call() { count.fetch_sub(1, std::memory_order_relaxed); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  std::atomic<int>& count;
};

// While one lives, the parallel bundle that the endpoint is in is locked. Else it does nothing.
class Endpoint::Locked {
 public:
  explicit Locked(const Endpoint& endpoint) noexcept;
  ~Locked() {
    if (monitor_ != nullptr) monitor_->unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Monitor* monitor_;
};
// ... polls of a parallel bundle leave the endpoint out, from the next on.
class Endpoint::Hold {
 public:
  explicit Hold(Endpoint& endpoint) noexcept : endpoint_(endpoint) {
    const Locked inside(endpoint_);
    ++endpoint_.holds_;
  }
  ~Hold() {
    const Locked inside(endpoint_);
    --endpoint_.holds_;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  Endpoint& endpoint_;
};
// ... both, and no handler of it runs. Of a sequential bundle it does nothing. Throws Error of
// `call` where it would wait in a handler or callback, which might be one of those to wait for.
class Endpoint::Quiet {
 public:
  Quiet(Endpoint& endpoint, const char* call);

 private:
  std::optional<Hold> hold_;  // ends after the lock
  std::optional<Locked> inside_;
};

inline Endpoint::Locked::Locked(const Endpoint& endpoint) noexcept {
  for (;;) {
    Bundle* const bundle = endpoint.bundle_.get();
    monitor_ = bundle->monitor_.get();
    if (monitor_ == nullptr) return;
    monitor_->lock();
    if (endpoint.bundle_.get() == bundle) return;
    monitor_->unlock();
  }
}

}  // namespace am
