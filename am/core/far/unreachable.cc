// Requests to endpoints of other nodes whose processes have died.

#include <utility>

#include "am/core/far/far.h"
#include "am/route/router.h"

namespace am {

bool FarEndpoint::is_dead(Rank rank) const noexcept {
  return parts_.bundle->router().is_dead(rank);
}

bool FarEndpoint::survives() const noexcept { return parts_.bundle->router().deaths() != nullptr; }

void FarEndpoint::bury_dead() {
  last_sender_ = nullptr;
  std::erase_if(senders_, [this](const auto& entry) {
    return is_dead(entry.first.rank) && !entry.second->in_turn;  // what a handler uses stays
  });
  unreachable_ = true;
}

// By index: what handler 0 does may change the table.
int FarEndpoint::return_unreachable() {
  if (!std::exchange(unreachable_, false)) return 0;
  int count = 0;
  try {
    for (auto next = all_receivers_.begin(); next != all_receivers_.end();) {
      const std::uint32_t index = next->first;
      if (is_dead(next->second->rank)) count += return_all(index);
      next = all_receivers_.upper_bound(index);
    }
  } catch (...) {
    unreachable_ = true;  // the rest comes with the next poll
    throw;
  }
  return count;
}

void FarEndpoint::return_with_next_poll() noexcept {
  unreachable_ = true;
  parts_.alerts.look_again();
}

// Those that handler 0 sends meanwhile come back with the next poll.
int FarEndpoint::return_all(std::uint32_t index) {
  int count = 0;
  Receiver& dead = *receivers_[index];
  for (; dead.flushes != 0; --dead.flushes) dead.answers.one_came();
  note_gone(dead);
  for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
    for (const Role role : {Role::kRequest, Role::kOneWay}) {
      Receiver* const out = unreachable(index);
      std::size_t left = out != nullptr ? out->kept->size(kind, role) : 0;
      while (left-- != 0 && return_oldest(index, kind, role, count)) {
      }
    }
  }
  return count;
}

// While handler 0 runs, another thread may have unmapped it, and mapped the index anew.
FarEndpoint::Receiver* FarEndpoint::unreachable(std::uint32_t index) const noexcept {
  Receiver* const out = index < receivers_.size() ? receivers_[index] : nullptr;
  return out != nullptr && is_dead(out->rank) ? out : nullptr;
}

// False: there is none.
bool FarEndpoint::return_oldest(std::uint32_t index, Kind kind, Role role, int& count) {
  if (unreachable(index) == nullptr || receivers_[index]->kept->size(kind, role) == 0) return false;
  Receiver& out = *receivers_[index];
  const KeptRequests::Request request = out.kept->take(kind, role);
  --out.in_flight[static_cast<int>(kind)];
  const auto& message = reinterpret_cast<const link::MessagePacket&>(*request.packet.data());
  if (role == Role::kRequest) {
    out.answers.one_came();
    epochs_.answered(message.epoch);
  }
  Body body;
  if (request.returned || !body.read(message)) return true;
  ++count;
  pass_returned(out.rank, message, body, Status::kUnreachable);
  return true;
}

}  // namespace am
