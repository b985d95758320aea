#pragma once

#include <deque>
#include <exception>
#include <functional>

#include "am/core/poller.h"
#include "splitc/collective/started.h"
#include "splitc/world/shared_owner.h"

namespace splitc::detail {

// The collective calls that this process has started and that have not ended, in order. Part of
// every poll of the world's bundle while there are some.
//
// Thread rule: the world's thread.
class StartedCalls final : public am::Poller {
 public:
  // That of the world; made at its first use, and ends with its bundle.
  static StartedCalls& of_world();
  static StartedCalls* existing() noexcept { return the_; }
  ~StartedCalls() override;

  bool empty() const noexcept { return calls_.empty() && !orphan_error_; }
  // Throws Error in an operation of a call that ends now.
  void check_may_call(Call call) const;
  void add(const SharedOwner<StartedCall>& call);
  void drop(StartedCall& call) noexcept;
  // Polls until `call` has ended, and with it those before it.
  void wait_for(StartedCall& call, Call on_behalf);
  // Whether the first can only end in a wait of this process, and a task or other waiter waits for
  // it or one behind it. Called outside polls, finish_first_here() then ends it, and returns true.
  bool is_awaited_here() const noexcept;
  bool finish_first_here();
  // Until all have ended. Throws also what those threw that nobody will wait for any more.
  void finish_all(Call on_behalf);

  int poll() override { return go_on(); }
  bool has_work() noexcept override;

 private:
  StartedCalls() = default;
  int go_on();
  void poll_until(const std::function<bool()>& done, Call on_behalf);
  bool waits_for_caller() const noexcept;
  void finish_here();
  void end_first() noexcept;
  void keep_error_of(const StartedCall& call) noexcept;

  static inline StartedCalls* the_ = nullptr;

  std::deque<SharedOwner<StartedCall>> calls_;
  std::exception_ptr orphan_error_;
  bool ending_ = false;  // the first one's operation runs
};

// Before another collective call: waits until all that were started have ended.
inline void finish_started(Call on_behalf) {
  if (StartedCalls* const calls = StartedCalls::existing(); calls != nullptr && !calls->empty()) {
    calls->finish_all(on_behalf);
  }
}

}  // namespace splitc::detail
