#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "splitc/world/sync.h"

namespace splitc::detail {

// The operations of this process that are under way: gets and puts to other nodes, atomics there,
// and calls of functions. Each has a ticket, whose number travels with it and comes back when it is
// done; the next operation may then have it. `outstanding` counts them.
//
// Thread rule: the world's thread.
class Tickets {
 public:
  // What an operation needs when it is done.
  struct Pending {
    std::uint32_t proc = 0;                       // that it is waited for
    void* result = nullptr;                       // where an answer shall go; nullptr: nowhere
    std::size_t result_bytes = 0;                 // that it has
    std::unique_ptr<std::byte[]> kept = nullptr;  // memory to be freed then
  };

  // Calls begin(ticket), which starts the operation. If that throws, nothing has been started.
  template <class Begin>
  handle start(Pending pending, Begin&& begin) {
    const handle started = take(std::move(pending));
    try {
      begin(started.ticket());
    } catch (...) {
      if (!done(started)) give_back(started.ticket());
      throw;
    }
    return started;
  }

  // The operation is done.
  void give_back(std::uint32_t ticket) noexcept;
  // The same, with the answer that came.
  void answered(std::uint32_t ticket, const std::byte* result) noexcept;

  bool done(handle h) const noexcept;
  // The process of this operation, which is not done, and of any that is not.
  std::uint32_t proc_of(handle h) const noexcept { return tickets_[h.ticket()].pending.proc; }
  std::uint32_t some_proc() const noexcept;

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Ticket {
    std::uint32_t generation = 0;     // how many operations have had it
    bool waiting = false;             // for one that is not done
    std::uint32_t next_free = kNone;  // while it is free
    Pending pending;
  };

  handle take(Pending pending);

  std::vector<Ticket> tickets_;
  std::uint32_t free_ = kNone;  // the one that was given back last
};

}  // namespace splitc::detail
