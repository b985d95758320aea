#include "splitc/world/tickets.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/route/activity.h"
#include "am/route/router.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

// Polls until `condition()`; an exception, such as one of a handler, ends the job.
template <class Condition, class Explain>
void wait_or_end(Call call, Condition condition, const Explain& explain) noexcept {
  try {
    check_may_wait(call);
    world().bundle().wait_until(condition, am::Wake::kRung, explain);
  } catch (const std::exception& error) {
    end_by(error);
  }
}

}  // namespace

void Tickets::add_ticket() {
  free_ = static_cast<std::uint32_t>(tickets_.size());
  tickets_.emplace_back();
}

bool Tickets::may_be_dead(std::uint32_t proc) noexcept {
  const am::Router& router = world().router();
  if (proc != am::kNobody) return router.is_dead(proc);
  return router.deaths() != nullptr && router.deaths()->count() != 0;
}

void Tickets::give_back(std::uint32_t index) noexcept {
  Ticket& ticket = tickets_[index];
  if (may_be_dead(ticket.pending.proc)) [[unlikely]] {
    lost_some_ = ticket.lost = true;
    ticket.waiters.move_to(ready_waiters);
    return;
  }
  free(index);
}

void Tickets::answered(std::uint32_t ticket, const std::byte* result) noexcept {
  const Pending& pending = tickets_[ticket].pending;
  if (pending.result != nullptr && pending.result_bytes != 0) {
    std::memcpy(pending.result, result, pending.result_bytes);
  }
  free(ticket);
}

std::uint32_t Tickets::some_proc() const noexcept {
  for (const Ticket& ticket : tickets_) {
    if (ticket.waiting) return ticket.pending.proc;
  }
  return am::kNobody;
}

bool Tickets::waits_for_dead(handle h) const noexcept {
  return !done(h) && may_be_dead(proc_of(h));
}

bool Tickets::waits_for_dead() const noexcept {
  if (!may_be_dead(am::kNobody)) return false;
  return std::ranges::any_of(tickets_, [](const Ticket& ticket) {
    return ticket.waiting && may_be_dead(ticket.pending.proc);
  });
}

void finish_outstanding() noexcept {
  const void* const caller = __builtin_return_address(0);
  wait_or_end(
      "sync", [] { return outstanding == 0; },
      [caller] {
        return am::Reason{.call = "sync",
                          .caller = caller,
                          .needs = "an answer",
                          .peer = world().tickets().some_proc(),
                          .wanted = outstanding,
                          .unit = outstanding == 1 ? "operation" : "operations",
                          .needs_all = true};
      });
}

void finish_one(handle h, Call call) noexcept {
  finish_one(h, am::Reason{.call = call.name, .where = call.where});
}

void finish_one(handle h, const am::Reason& reason) noexcept {
  wait_or_end(
      {reason.call, reason.where}, [h] { return world().tickets().done(h); },
      [&, h] {
        am::Reason now = reason;
        now.needs = "an answer";
        now.needs_all = true;
        now.peer = world().tickets().proc_of(h);
        return now;
      });
}

bool try_finish_outstanding() {
  poll();  // tasks go on
  const Tickets& tickets = world().tickets();
  if (tickets.lost_some() || tickets.waits_for_dead()) world().router().need_all("try_sync");
  return outstanding == 0;
}

bool try_finish_one(handle h) {
  poll();  // tasks go on
  const Tickets& tickets = world().tickets();
  if (tickets.waits_for_dead(h)) world().router().need_all("try_sync");
  return tickets.done(h);
}

void StartedAccesses::wait() {
  Tickets& tickets = world().tickets();
  std::exception_ptr thrown;
  for (const handle h : std::exchange(all_, {})) {
    while (h.generation() != 0 && !tickets.done(h)) {
      try {
        if (tickets.lost(h)) {
          tickets.forget(h);
          world().router().need_all(call_.name);
        }
        world().bundle().wait_until([&] { return tickets.done(h) || tickets.lost(h); },
                                    am::Wake::kRung,
                                    [&] {
                                      return am::Reason{.call = call_.name,
                                                        .where = call_.where,
                                                        .needs = "an answer",
                                                        .peer = tickets.proc_of(h),
                                                        .needs_all = true};
                                    });
      } catch (...) {
        if (!thrown) thrown = std::current_exception();
      }
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

// An exception is on its way already.
void StartedAccesses::add(handle h) { all_.push_back(h); }

StartedAccesses::~StartedAccesses() {
  try {
    wait();
  } catch (...) {
  }
}

}  // namespace splitc::detail
