#include "splitc/world/tickets.h"

#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>

#include "am/core/bundle.h"
#include "am/job/job.h"
#include "am/job/stall/code.h"
#include "am/observe/activity.h"
#include "am/route/router.h"
#include "am/types/local_memory.h"
#include "splitc/world/context.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

Stack stack_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return known ? Stack{first, first + bytes} : Stack{};
}

// Polls until `condition()`; an exception, such as one of a handler, ends the job. `frame`: of the
// function that the program called.
template <class Condition, class Explain>
void wait_or_end(const void* frame, Call call, Condition condition,
                 const Explain& explain) noexcept {
  try {
    if constexpr (am::kChecked) check_frames_below(frame);
    check_may_wait(call);
    wait_polling(condition, am::Wake::kRung, explain);
  } catch (const std::exception& error) {
    end_by(error);
  }
}

}  // namespace

Stack my_stack() {
  static thread_local const Stack stack = stack_of_this_thread();
  return stack;
}

void Tickets::refuse_stranger() noexcept {
  end_by(Error("rank " + std::to_string(my_proc()) +
               ": sync: the operation of this handle was started by another thread; each thread "
               "waits for what it has started"));
}

void Tickets::add_ticket() {
  constexpr std::uint32_t kMost = 1u << Context::kTicketBits;
  if (is_threaded() && tickets_.size() == kMost) {
    refuse("sync", "a thread has " + std::to_string(kMost) +
                       " operations under way, and no more are possible; call sync() now and then");
  }
  ++count_;
  free_ = static_cast<std::uint32_t>(tickets_.size());
  tickets_.emplace_back();
}

bool Tickets::may_be_dead(std::uint32_t proc) noexcept {
  const am::Router& router = world().router();
  if (proc != am::kNobody) return router.is_dead(proc);
  return router.deaths() != nullptr && router.deaths()->count() != 0;
}

void Tickets::give_back(std::uint32_t number) noexcept {
  Ticket& ticket = of(number);
  if (may_be_dead(ticket.pending.proc)) [[unlikely]] {
    lost_some_ = ticket.lost = true;
    ticket.waiters.move_to(my_tasks->ready);
    return;
  }
  free(number);
}

void Tickets::answered(std::uint32_t ticket, const std::byte* result) noexcept {
  const Pending& pending = of(ticket).pending;
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

namespace {

std::uintptr_t begin_of(const Tickets::Borrowed& one) noexcept {
  return reinterpret_cast<std::uintptr_t>(one.memory);
}

bool is_in(std::uintptr_t address, const Stack& stack) noexcept {
  return address >= stack.begin && address < stack.end;
}

// Of two of one operation: which of them is gone before the other one is.
bool goes_first(const Tickets::Borrowed& one, const Tickets::Borrowed& other) noexcept {
  const Stack stack = my_stack();
  const bool in_frame = is_in(begin_of(one), stack);
  if (in_frame != is_in(begin_of(other), stack)) return in_frame;
  return begin_of(one) < begin_of(other);
}

}  // namespace

void Tickets::borrow(handle h, Borrowed what) noexcept {
  if (h.generation() == 0 || done(h)) return;
  what.generation = h.generation();
  if (borrowed_.size() < tickets_.size()) borrowed_.resize(tickets_.size());
  Borrowed& noted = borrowed_[h.ticket() - first_];
  if (noted.generation == what.generation && goes_first(noted, what)) return;
  noted = what;
  if constexpr (am::kChecked) {
    if (is_in(begin_of(what), my_stack())) lowest_ = std::min(lowest_, begin_of(what));
  }
}

template <class Predicate>
const Tickets::Borrowed* Tickets::find_borrowed(Predicate predicate) const noexcept {
  for (std::size_t i = 0; i < borrowed_.size(); ++i) {
    const bool counts = tickets_[i].waiting && borrowed_[i].generation == tickets_[i].generation;
    if (counts && predicate(borrowed_[i])) return &borrowed_[i];
  }
  return nullptr;
}

const Tickets::Borrowed* Tickets::borrowing() const noexcept {
  return find_borrowed([](const Borrowed&) { return true; });
}

// A frame begins below what its function was called with and saved, two words at least. Checked
// builds look often: `lowest_` is where the lowest of those in the stack may be, so that nearly all
// looks end there, however many operations are under way.
const Tickets::Borrowed* Tickets::left_behind(const void* frame) noexcept {
  const std::uintptr_t top = reinterpret_cast<std::uintptr_t>(frame) + 2 * sizeof(void*);
  if (am::kChecked && lowest_ >= top) return nullptr;
  const Stack stack = my_stack();
  if (!is_in(top, stack)) return nullptr;  // not the stack that the thread began with
  lowest_ = ~std::uintptr_t{0};
  return find_borrowed([&](const Borrowed& one) {
    if (!is_in(begin_of(one), stack)) return false;
    lowest_ = std::min(lowest_, begin_of(one));
    return begin_of(one) < top;
  });
}

void refuse_left_behind(const Tickets::Borrowed& one, const char* when) {
  const std::string place = one.call.where.line() != 0 ? "" : am::describe_place(one.call.where);
  refuse(one.call, "the " + std::to_string(one.bytes) + " bytes of this process at " +
                       am::address_text(one.memory) + " that it exchanges with process " +
                       std::to_string(one.proc) + (place.empty() ? "" : " (in " + place + ")") +
                       " " + when +
                       " before the call was complete; call sync(), or wait for its "
                       "handle, while the memory is there");
}

void check_frames_below(const void* frame) {
  if (this_context == nullptr) return;
  const Tickets::Borrowed* const one = context().tickets.left_behind(frame);
  if (one != nullptr) refuse_left_behind(*one, "are in a function that has returned");
}

// Not inlined, so that the frame is below those of all functions that have not returned.
[[gnu::noinline]] void check_frames() { check_frames_below(__builtin_frame_address(0)); }

void check_end() {
  if constexpr (!am::kChecked) return;
  const Tickets::Borrowed* const one = context().tickets.borrowing();
  if (one != nullptr) refuse_left_behind(*one, "were left to the end of run()");
}

[[gnu::noinline]] void finish_outstanding() noexcept {
  const Call call = Call("sync").or_from(__builtin_return_address(0));
  wait_or_end(
      __builtin_frame_address(0), "sync", [] { return *outstanding == 0; },
      [call] {
        return am::Reason{.call = call,
                          .needs = "an answer",
                          .peer = context().tickets.some_proc(),
                          .wanted = *outstanding,
                          .unit = *outstanding == 1 ? "operation" : "operations",
                          .needs_all = true};
      });
}

void finish_one(handle h, Call call) noexcept { finish_one(h, am::Reason{.call = call}); }

[[gnu::noinline]] void finish_one(handle h, const am::Reason& reason) noexcept {
  wait_or_end(
      __builtin_frame_address(0), reason.call, [h] { return context().tickets.done(h); },
      [&, h] {
        am::Reason now = reason;
        now.needs = "an answer";
        now.needs_all = true;
        now.peer = context().tickets.proc_of(h);
        return now;
      });
}

bool try_finish_outstanding() {
  poll();  // tasks go on
  const Tickets& tickets = context().tickets;
  if (tickets.lost_some() || tickets.waits_for_dead()) world().router().need_all("try_sync");
  return *outstanding == 0;
}

bool try_finish_one(handle h) {
  poll();  // tasks go on
  const Tickets& tickets = context().tickets;
  if (tickets.waits_for_dead(h)) world().router().need_all("try_sync");
  return tickets.done(h);
}

}  // namespace splitc::detail
