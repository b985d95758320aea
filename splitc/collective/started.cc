#include "splitc/collective/started.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "am/collective/barrier.h"
#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/route/activity.h"
#include "am/types/source_location.h"
#include "splitc/collective/started_calls.h"
#include "splitc/world/world.h"

namespace splitc::detail {

// Whether a barrier brings everything, without asking other nodes.
bool StartedCall::fits() const noexcept {
  switch (plan_.how) {
    case How::kMeet: return true;
    case How::kGather: return plan_.moved <= Round::most_gathered();
    case How::kBroadcast:
      return plan_.moved <= (has_far_peers() ? world().large_board_bytes() : Round::most_shown());
    default:
      return plan_.moved * procs() <= Round::most_shown() &&
             (!has_far_peers() || plan_.moved <= Round::most_transposed());
  }
}

void StartedCall::enter() {
  Round& round = round_.emplace(Round::Started(), call_, plan_.bytes, plan_.kind);
  const std::span<const std::byte> shown =
      plan_.shown.empty() ? plan_.argument : std::span<const std::byte>(plan_.shown);
  const bool shows = plan_.how != How::kBroadcast || my_proc() == plan_.root;
  if (plan_.how != How::kMeet) {
    std::byte* const board = round.mine(shown.size());
    if (shows && !shown.empty()) std::memcpy(board, shown.data(), shown.size());
  }
  switch (plan_.how) {
    case How::kMeet: return round.start_meet();
    case How::kGather: return round.start_gather(plan_.moved, 0, procs());
    case How::kBroadcast: return round.start_broadcast(plan_.moved, plan_.root);
    default: return round.start_transpose(plan_.moved, true);
  }
}

void start(const SharedOwner<StartedCall>& call) {
  check_may_wait(call->call());
  if (world().notified()) {
    refuse(call->call(),
           "called between barrier_notify() and barrier_wait(); no collective call may come "
           "between them");
  }
  StartedCalls& calls = StartedCalls::of_world();
  calls.check_may_call(call->call());
  calls.add(call);
}

void StartedCall::drop() noexcept {
  if (StartedCalls* const calls = StartedCalls::existing()) calls->drop(*this);
}

void StartedCall::wait(am::SourceLocation where) {
  const Call on_behalf(call().name, where);
  check_may_wait(on_behalf);
  if (!done()) StartedCalls::of_world().wait_for(*this, on_behalf);
  rethrow();
}

StartedCalls& StartedCalls::of_world() {
  if (the_ == nullptr) {
    std::unique_ptr<StartedCalls> made(new StartedCalls);
    the_ = made.get();
    am::Bundle& bundle = world().bundle();
    bundle.keep(std::move(made));
    bundle.remove(*the_);  // until there are some
  }
  return *the_;
}

// What is left has no job any more.
StartedCalls::~StartedCalls() {
  the_ = nullptr;
  for (const SharedOwner<StartedCall>& call : calls_) {
    call->round_.reset();
    call->thrown_ = std::make_exception_ptr(
        Error(std::string(call->call().name) + ": the job has ended before it"));
    call->end();
  }
}

void StartedCalls::check_may_call(Call call) const {
  if (!ending_) return;
  refuse(call, "called by the operation of a collective call, which may not start or make another");
}

void StartedCalls::add(const SharedOwner<StartedCall>& call) {
  if (calls_.empty()) world().bundle().add(*this);
  calls_.push_back(call);
  go_on();
}

// The first can only end in a wait of this process.
bool StartedCalls::waits_for_caller() const noexcept {
  if (calls_.empty()) return false;
  const StartedCall& first = *calls_.front();
  if (!first.round_) return !first.fits();
  return world().job().barrier().passed() && first.round_->asks_others();
}

// As far as possible; returns how many have ended.
int StartedCalls::go_on() {
  int count = 0;
  while (!calls_.empty() && !ending_) {
    StartedCall& first = *calls_.front();
    try {
      if (!first.round_) {
        if (!first.fits()) break;
        first.enter();
      }
      if (!first.round_->passed() || first.round_->asks_others()) break;
      ending_ = true;
      first.round_->finish();
      first.take(*first.round_);
    } catch (...) {
      first.thrown_ = std::current_exception();
    }
    ending_ = false;
    end_first();
    ++count;
  }
  return count;
}

void StartedCalls::end_first() noexcept {
  const SharedOwner<StartedCall> first = std::move(calls_.front());
  calls_.pop_front();
  first->end();
  first->round_.reset();
  keep_error_of(*first);
  if (calls_.empty()) world().bundle().remove(*this);
}

// If nobody else will hear of it.
void StartedCalls::keep_error_of(const StartedCall& call) noexcept {
  if (!orphan_error_) orphan_error_ = call.orphan();
}

void StartedCalls::drop(StartedCall& call) noexcept {
  call.dropped_ = true;
  if (call.done()) keep_error_of(call);
}

bool StartedCalls::has_work() noexcept {
  if (calls_.empty() || ending_) return false;
  const StartedCall& first = *calls_.front();
  if (!first.round_) return first.fits();
  return world().job().barrier().passed() && !first.round_->asks_others();
}

// The first, which waits_for_caller(). What a handler throws comes out, as the call is not over
// then.
void StartedCalls::finish_here() {
  if (!calls_.front()->round_) {  // run() is a collective call like others
    const SharedOwner<StartedCall> first = calls_.front();
    const std::deque<SharedOwner<StartedCall>> later(calls_.begin() + 1, calls_.end());
    calls_.clear();
    world().bundle().remove(*this);
    const std::exception_ptr of_another = std::exchange(orphan_error_, nullptr);
    try {
      first->run();
    } catch (...) {
      first->thrown_ = std::current_exception();
    }
    if (of_another) orphan_error_ = of_another;
    first->end();
    const bool polled = !calls_.empty();  // its operation has started some
    calls_.insert(calls_.end(), later.begin(), later.end());
    if (!polled && !calls_.empty()) world().bundle().add(*this);
    if (first->thrown_ && !world().job().barrier().passed()) {
      first->thrown_seen_ = true;
      std::rethrow_exception(first->thrown_);
    }
    keep_error_of(*first);
    return;
  }
  StartedCall& first = *calls_.front();
  try {
    first.round_->finish();
    ending_ = true;
    first.take(*first.round_);
  } catch (...) {
    first.thrown_ = std::current_exception();
  }
  ending_ = false;
  end_first();
}

bool StartedCalls::is_awaited_here() const noexcept {
  return waits_for_caller() &&
         std::ranges::any_of(calls_, [](const auto& call) { return call->has_waiters(); });
}

bool StartedCalls::finish_first_here() {
  if (!is_awaited_here()) return false;
  finish_here();
  return true;
}

void StartedCalls::wait_for(StartedCall& call, Call on_behalf) {
  check_may_call(on_behalf);
  poll_until([&call] { return call.done(); }, on_behalf);
}

void StartedCalls::poll_until(const std::function<bool()>& done, Call on_behalf) {
  while (!done()) {
    if (waits_for_caller()) {
      finish_here();
      continue;
    }
    const auto can_go_on = [&] { return go_on(), done() || waits_for_caller(); };
    world().bundle().wait_with_siblings(can_go_on, [&] {
      return am::Reason{.call = on_behalf.name,
                        .where = on_behalf.where,
                        .collective = world().job().barrier().count()};
    });
  }
}

void StartedCalls::finish_all(Call on_behalf) {
  check_may_call(on_behalf);
  poll_until([this] { return calls_.empty(); }, on_behalf);
  if (orphan_error_) std::rethrow_exception(std::exchange(orphan_error_, nullptr));
}

}  // namespace splitc::detail

namespace splitc {

started<> start_barrier(am::SourceLocation where) {
  return detail::start_call<void>(
      {"start_barrier", where}, {}, [](const detail::Round&) { return true; }, [] { return true; });
}

}  // namespace splitc
