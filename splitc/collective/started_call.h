#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/collective/round.h"
#include "splitc/world/place.h"
#include "splitc/world/shared_owner.h"
#include "splitc/world/waiter.h"

// What a collective call that was started is to the library, which makes it go on.

namespace splitc {
namespace detail {

// A collective call that was started, of all processes or of some: what `started` holds.
class AnyStarted : public HasOwners {
 public:
  explicit AnyStarted(Call call) noexcept : call_(call) {}
  virtual ~AnyStarted() = default;
  AnyStarted(const AnyStarted&) = delete;
  AnyStarted& operator=(const AnyStarted&) = delete;

  bool done() const noexcept { return done_; }
  // They become ready when it is done.
  WaiterList& waiters() noexcept { return waiters_; }
  bool has_waiters() const noexcept { return !waiters_.empty(); }
  const Call& call() const noexcept { return call_; }

  // Polls until it has ended. Throws what it throws.
  virtual void wait(am::SourceLocation where) = 0;
  // Nobody will wait for it any more.
  virtual void drop() noexcept = 0;

 protected:
  void rethrow() {
    if (!thrown_) return;
    thrown_seen_ = true;
    std::rethrow_exception(thrown_);
  }
  // If nobody will hear of what it has thrown: that.
  std::exception_ptr orphan() const noexcept {
    return dropped_ && !thrown_seen_ ? thrown_ : nullptr;
  }
  // It is done.
  void end() noexcept {
    done_ = true;
    waiters_.move_to(ready_waiters);
  }

  const Call call_;
  std::exception_ptr thrown_;
  bool thrown_seen_ = false;  // by the caller of wait()
  bool dropped_ = false;      // nobody will wait() any more

 private:
  bool done_ = false;
  WaiterList waiters_;
};

// One of all processes.
class StartedCall : public AnyStarted {
 public:
  enum class How : std::uint8_t { kMeet, kGather, kBroadcast, kTranspose };
  struct Plan {
    How how = How::kMeet;
    std::uint64_t bytes = 0;  // as Round compares them
    std::uint64_t kind = 0;
    std::size_t moved = 0;  // of each process; of each part
    std::uint32_t root = 0;
    std::vector<std::byte> shown = {};         // if it is a value: a copy
    std::span<const std::byte> argument = {};  // ... or a span
  };

  StartedCall(Call call, Plan plan) : AnyStarted(call), plan_(std::move(plan)) {}

  void wait(am::SourceLocation where) override;
  void drop() noexcept override;

 protected:
  // Takes what the round has brought.
  virtual void take(const Round& round) = 0;
  // Does it all, waiting.
  virtual void run() = 0;

 private:
  friend class StartedCalls;

  bool fits() const noexcept;
  void enter();

  const Plan plan_;
  std::optional<Round> round_;  // once it is under way
};

// Puts `call` behind those that were started before. Error where no collective call may be made.
void start(const SharedOwner<StartedCall>& call);

// The results of calls with one.
template <class T, class Take, class Run>
class StartedValue final : public StartedCall {
 public:
  StartedValue(Call call, Plan plan, Take take, Run run)
      : StartedCall(call, std::move(plan)), take_(std::move(take)), run_(std::move(run)) {}

 private:
  void take(const Round& round) override { result = take_(round); }
  void run() override { result = run_(); }

  Take take_;
  Run run_;

 public:
  std::optional<T> result;
};

}  // namespace detail
}  // namespace splitc
