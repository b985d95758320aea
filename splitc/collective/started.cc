#include "splitc/collective/started.h"

#include <cstring>

#include "am/am.h"
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

void start(const std::shared_ptr<StartedCall>& call) {
  check_may_wait(call->call());
  if (world().notified()) {
    refuse(call->call(),
           "called between barrier_notify() and barrier_wait(); no collective call may come "
           "between them");
  }
  StartedCalls::of_world().add(call);
}

void wait_for(StartedCall& call, am::SourceLocation where) {
  const Call on_behalf(call.call().name, where);
  check_may_wait(on_behalf);
  if (!call.done()) StartedCalls::of_world().wait_for(call, on_behalf);
  call.rethrow();
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

StartedCalls::~StartedCalls() { the_ = nullptr; }

void StartedCalls::add(const std::shared_ptr<StartedCall>& call) {
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
  while (!calls_.empty()) {
    StartedCall& first = *calls_.front();
    try {
      if (!first.round_) {
        if (!first.fits()) break;
        first.enter();
      }
      if (!first.round_->passed() || first.round_->asks_others()) break;
      first.round_->finish();
      first.take(*first.round_);
    } catch (...) {
      first.thrown_ = std::current_exception();
    }
    end_first();
    ++count;
  }
  return count;
}

void StartedCalls::end_first() noexcept {
  calls_.front()->done_ = true;
  calls_.front()->round_.reset();
  calls_.pop_front();
  if (calls_.empty()) world().bundle().remove(*this);
}

bool StartedCalls::has_work() noexcept {
  if (calls_.empty()) return false;
  const StartedCall& first = *calls_.front();
  if (!first.round_) return first.fits();
  return world().job().barrier().passed() && !first.round_->asks_others();
}

// The first, which waits_for_caller().
void StartedCalls::finish_here() {
  const std::shared_ptr<StartedCall> first = calls_.front();
  const bool entered = first->round_.has_value();
  if (!entered) {  // run() is a collective call like others
    const std::deque<std::shared_ptr<StartedCall>> later(calls_.begin() + 1, calls_.end());
    calls_.clear();
    world().bundle().remove(*this);
    try {
      first->run();
    } catch (...) {
      first->thrown_ = std::current_exception();
    }
    first->done_ = true;
    calls_ = later;
    if (!calls_.empty()) world().bundle().add(*this);
    return;
  }
  try {
    first->round_->finish();
    first->take(*first->round_);
  } catch (...) {
    first->thrown_ = std::current_exception();
  }
  end_first();
}

void StartedCalls::wait_for(StartedCall& call, Call on_behalf) {
  while (!call.done()) {
    if (waits_for_caller()) {
      finish_here();
      continue;
    }
    const auto can_go_on = [&] { return go_on(), call.done() || waits_for_caller(); };
    world().bundle().wait_with_siblings(can_go_on, [&] {
      return am::Reason{.call = on_behalf.name,
                        .where = on_behalf.where,
                        .collective = world().job().barrier().count()};
    });
  }
}

void StartedCalls::finish_all(Call on_behalf) {
  const std::shared_ptr<StartedCall> last = calls_.back();
  wait_for(*last, on_behalf);
}

}  // namespace splitc::detail
