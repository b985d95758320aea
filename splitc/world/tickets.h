#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/waiter.h"

namespace splitc::detail {

// The stack of a thread, as far as it may grow: [begin, end). Empty: it is not known.
struct Stack {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
// That of the calling thread; some 20 us for the first time.
Stack my_stack();

// The operations of a thread that are in flight: gets and puts to other nodes, atomics there, and
// calls of functions. Each has a ticket, whose number travels with it and comes back when it is
// done; the next operation may then have it. `outstanding` counts them.
//
// Thread rule: that thread's. A handle that another thread has started ends the job.
class Tickets {
 public:
  // Its numbers begin at `first`.
  explicit Tickets(std::uint32_t first) noexcept : first_(first) {}

  // What an operation needs when it is done.
  struct Pending {
    std::uint32_t proc = 0;                 // that is waited for; am::kNobody: several
    void* result = nullptr;                 // destination of the answer; nullptr: none
    std::size_t result_bytes = 0;           // that it has
    am::Owned<std::byte[]> kept = nullptr;  // memory to be freed then
  };

  // A ticket for an operation that is being started: if an exception comes before started(), there
  // is no such operation.
  class Start {
   public:
    Start(Tickets& tickets, Pending pending)
        : tickets_(tickets), handle_(tickets.take(std::move(pending))) {}
    // One of `proc` whose answer is a word, to be written at `result`, or nowhere.
    Start(Tickets& tickets, std::uint32_t proc, void* result)
        : tickets_(tickets), handle_(tickets.take(proc, result)) {}
    ~Start() {
      if (!started_ && !tickets_.done(handle_)) tickets_.give_back(ticket());
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;

    std::uint32_t ticket() const noexcept { return handle_.ticket(); }
    handle started() noexcept {
      started_ = true;
      return handle_;
    }

   private:
    Tickets& tickets_;
    const handle handle_;
    bool started_ = false;
  };

  // The operation is done; or it has ended as its process has died, and then it stays one that is
  // waited for, in vain.
  void give_back(std::uint32_t ticket) noexcept;
  // Gives one back with the answer that came.
  void answered(std::uint32_t ticket, const std::byte* result) noexcept;
  // Its result has so many bytes.
  void expect(std::uint32_t ticket, std::size_t bytes) noexcept {
    of(ticket).pending.result_bytes = bytes;
  }
  // Gives one back with an answer of 8 bytes, whatever its `result_bytes`.
  void answered_by_word(std::uint32_t ticket, std::uint64_t result) noexcept {
    void* const to = of(ticket).pending.result;
    if (to != nullptr) std::memcpy(to, &result, sizeof result);
    free(ticket);
  }

  // The ticket of an operation in flight that others have joined.
  handle handle_of(std::uint32_t ticket) const noexcept { return {ticket, of(ticket).generation}; }

  // What an operation needs of the program's memory until it is done.
  struct Borrowed {
    const void* memory = nullptr;
    std::size_t bytes = 0;
    Call call = "";
    std::uint32_t proc = 0;        // at the other end
    std::uint32_t generation = 0;  // of the operation
  };
  // Notes that of one that is not done, if it is one. Of several that have one ticket, that which
  // lies lowest on the stack, or else anywhere.
  void borrow(handle h, Borrowed what) noexcept;
  // One that is not done and borrows memory of this thread's stack below `frame`: of a function
  // that has returned. nullptr: there is none. Looks at all, but where none has ever been so low.
  const Borrowed* left_behind(const void* frame) noexcept;
  // One that is not done and borrows any memory; nullptr: there is none.
  const Borrowed* borrowing() const noexcept;

  // The destination of the answer of an operation that is waited for.
  void* result_of(std::uint32_t ticket) const noexcept { return of(ticket).pending.result; }

  bool done(handle h) const noexcept {
    const Ticket& ticket = of(h);
    return ticket.generation != h.generation() || !ticket.waiting;
  }
  // For one that is not done: `waiter` becomes ready when it is, or is lost.
  void add_waiter(handle h, Waiter& waiter) noexcept { of(h).waiters.push(waiter); }
  // The process of this operation, which is not done, and of any that is not.
  std::uint32_t proc_of(handle h) const noexcept { return of(h).pending.proc; }
  std::uint32_t some_proc() const noexcept;
  // Whether it has ended without being done.
  bool lost(handle h) const noexcept { return !done(h) && of(h).lost; }
  bool lost_some() const noexcept { return lost_some_; }
  // Whether it belongs to a process that has died, whose answer may end in the middle. Checks all
  // tickets, in a job that goes on without some processes.
  bool waits_for_dead(handle h) const noexcept;
  bool waits_for_dead() const noexcept;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Ticket {
    std::uint32_t generation = 0;     // how many operations have had it
    bool waiting = false;             // for one that is not done
    bool lost = false;                // ... nor will ever be
    std::uint32_t next_free = kNone;  // while it is free
    Pending pending;
    WaiterList waiters;
  };
  template <class Predicate>
  const Borrowed* find_borrowed(Predicate predicate) const noexcept;

  Ticket& of(std::uint32_t ticket) noexcept { return tickets_[ticket - first_]; }
  const Ticket& of(std::uint32_t ticket) const noexcept { return tickets_[ticket - first_]; }
  const Ticket& of(handle h) const noexcept {
    if (h.ticket() - first_ >= count_) [[unlikely]]
      refuse_stranger();
    return of(h.ticket());
  }
  Ticket& of(handle h) noexcept { return const_cast<Ticket&>(std::as_const(*this).of(h)); }
  [[noreturn]] static void refuse_stranger() noexcept;  // ends the job: another thread's handle

  handle take(Pending pending) {
    Pending& kept = pending_of_next();
    kept.result_bytes = pending.result_bytes;
    kept.kept = std::move(pending.kept);
    return take(pending.proc, pending.result);
  }
  // Writes as little as it can: see rpc_calls.h.
  handle take(std::uint32_t proc, void* result) {
    Pending& pending = pending_of_next();
    pending.proc = proc;
    pending.result = result;
    const std::uint32_t index = free_;
    Ticket& ticket = tickets_[index];
    free_ = ticket.next_free;
    if (++ticket.generation == 0) ++ticket.generation;  // 0 is a handle's "done"
    ticket.waiting = true;
    ticket.lost = false;
    ++*outstanding;
    return {index + first_, ticket.generation};
  }
  // What is written there belongs to the ticket that take() gives next.
  Pending& pending_of_next() {
    if (free_ == kNone) [[unlikely]]
      add_ticket();
    return tickets_[free_].pending;
  }
  void add_ticket();
  // Whether this one, or one of several that it may be, has died.
  static bool may_be_dead(std::uint32_t proc) noexcept;
  void free(std::uint32_t number) noexcept {
    Ticket& ticket = of(number);
    ticket.waiting = false;
    ticket.pending.kept.reset();
    if (!ticket.waiters.empty()) ticket.waiters.move_to(my_tasks->ready);
    ticket.next_free = free_;
    free_ = number - first_;
    --*outstanding;
  }

  const std::uint32_t first_;  // number of tickets_[0]
  std::uint32_t count_ = 0;    // of tickets_
  std::vector<Ticket> tickets_;
  std::vector<Borrowed> borrowed_;  // by ticket's index, as far as any has borrowed
  std::uint32_t free_ = kNone;      // the one that was given back last
  bool lost_some_ = false;
  std::uintptr_t lowest_ = ~std::uintptr_t{0};  // at least, of what of the stack is borrowed
};

}  // namespace splitc::detail
