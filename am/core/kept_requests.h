#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "am/types/types.h"

namespace am {

// Copies of the requests of one translation to another node whose ends have not come, in a job that
// goes on without its dead: they come back if the process there dies.
//
// Requests of one kind are handled in the order in which they are sent, and their answers come in
// that order: so an answer is always that of the oldest. One-way requests are reported by their
// number, and the receiver reports all older ones before it returns one.
//
// Pure logic. Thread rule: the bundle's.
class KeptRequests {
 public:
  struct Request {
    std::vector<std::byte> packet;
    bool returned = false;  // ... already, for another reason, and not reported as read yet
  };

  // Room for the packet of the next request.
  std::vector<std::byte>& add(Kind kind, Role role) {
    return queue(kind, role).emplace_back().packet;
  }
  // The oldest `count` have come to their ends.
  void settle(Kind kind, Role role, std::size_t count = 1) {
    std::deque<Request>& all = queue(kind, role);
    for (; count != 0 && !all.empty(); --count) all.pop_front();
  }
  // Marks the oldest one-way request that is not marked yet as returned; it will still be reported
  // as read.
  void note_returned(Kind kind) {
    for (Request& one : queue(kind, Role::kOneWay)) {
      if (!std::exchange(one.returned, true)) return;
    }
  }
  std::size_t size(Kind kind, Role role) noexcept { return queue(kind, role).size(); }
  // The oldest; unless there is none.
  Request take(Kind kind, Role role) {
    std::deque<Request>& all = queue(kind, role);
    Request oldest = std::move(all.front());
    all.pop_front();
    return oldest;
  }

 private:
  std::deque<Request>& queue(Kind kind, Role role) noexcept {
    return queues_[static_cast<int>(kind)][role == Role::kOneWay ? 1 : 0];
  }

  std::deque<Request> queues_[kKinds][2];  // those with an answer; one-way
};

}  // namespace am
