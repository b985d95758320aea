#include "splitc/tickets.h"

#include <cstring>
#include <exception>

#include "splitc/world.h"

namespace splitc::detail {
namespace {

// Polls until `condition()`; an exception of a handler ends the job.
template <class Condition>
void wait_or_end(Condition condition) noexcept {
  try {
    world().bundle().wait_until(condition);
  } catch (const std::exception& error) {
    world().job().abort(1, without_rank(error.what()));
  }
}

}  // namespace

handle Tickets::take(Pending pending) {
  if (free_ == kNone) {
    free_ = static_cast<std::uint32_t>(tickets_.size());
    tickets_.emplace_back();
  }
  const std::uint32_t index = free_;
  Ticket& ticket = tickets_[index];
  free_ = ticket.next_free;
  if (++ticket.generation == 0) ++ticket.generation;  // 0 is a handle's "done"
  ticket.waiting = true;
  ticket.pending = std::move(pending);
  ++outstanding;
  return {index, ticket.generation};
}

void Tickets::give_back(std::uint32_t index) noexcept {
  Ticket& ticket = tickets_[index];
  ticket.waiting = false;
  ticket.pending.kept.reset();
  ticket.next_free = free_;
  free_ = index;
  --outstanding;
}

void Tickets::answered(std::uint32_t ticket, const std::byte* result) noexcept {
  const Pending& pending = tickets_[ticket].pending;
  if (pending.result != nullptr && pending.result_bytes != 0) {
    std::memcpy(pending.result, result, pending.result_bytes);
  }
  give_back(ticket);
}

bool Tickets::done(handle h) const noexcept {
  const Ticket& ticket = tickets_[h.ticket()];
  return ticket.generation != h.generation() || !ticket.waiting;
}

void finish_outstanding() noexcept {
  wait_or_end([] { return outstanding == 0; });
}

void finish_one(handle h) noexcept {
  wait_or_end([h] { return world().tickets().done(h); });
}

bool try_finish_outstanding() {
  poll();
  return outstanding == 0;
}

bool try_finish_one(handle h) {
  poll();
  return world().tickets().done(h);
}

}  // namespace splitc::detail
