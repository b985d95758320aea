// Transfers that the network makes by itself (RMA), and who may start them with which key.

#include <algorithm>

#include "am/zero_copy/engine.h"

namespace am::zero_copy {

// The key of a buffer that is registered anyway.
link::RemoteKey Engine::key_of(const Slot& slot) const {
  if (slot.registration != nullptr) return slot.registration->key();
  return pool_registration_->key() +
         (slot.info.address - reinterpret_cast<std::uintptr_t>(pool_.memory().data()));
}

// A key for the other end of this transfer.
link::RemoteKey Engine::lend_key(Operation& operation) {
  const ZeroCopyInfo& mine = operation.end.buffer;
  const Slot* const slot = slots_.find(mine.slot, mine.generation);
  if (slot != nullptr && (slot->registration != nullptr || mine.mode == ZeroCopyMode::kPrereg)) {
    operation.registration = slot->registration;
    return key_of(*slot);
  }
  operation.registration = link_->register_memory(operation.end.memory().first(operation.bytes));
  return operation.registration->key();
}

bool Engine::try_access(Operation& operation) {
  const std::span<std::byte> here = operation.end.memory().first(operation.bytes);
  const bool writes = operation.put == operation.initiated;
  const bool in_order = writes && link_->writes_before_packets(here.size());
  const auto access = writes ? link::RmaAccess::write(operation.peer, operation.key, here, in_order)
                             : link::RmaAccess::read(operation.peer, operation.key, here);
  if (!link_->try_access(access, operation)) return false;
  ++sent_;
  operation.step = Operation::Step::kAccessed;
  if (in_order) send_through(operation);  // arrives behind the bytes
  if (!controls_.empty()) flush_controls();
  return true;
}

// Inside Port::poll() or Port::fetch(): the rest is for poll().
void Engine::accessed(link::Completion& completion) {
  auto& operation = static_cast<Operation&>(completion);
  Engine& engine = *operation.engine;
  if (!operation.notified) engine.send_through(operation);
  ++engine.stats_.rma;
  if (operation.alone) {
    ++engine.stats_.rma_alone;
    engine.unuse_grant(operation);
  }
  engine.through(operation);
}

// --- Keys that stay valid between transfers

// Adds the key of a registered buffer to the message for `to`, and notes that `to` has it.
void Engine::grant(Rank to, Slot& slot, Control& control) {
  const bool lasting = slot.registration != nullptr || slot.info.mode == ZeroCopyMode::kPrereg;
  if (!lasting || !slot.takes_transfers()) return;
  control.has_key = true;
  control.key = key_of(slot);
  if (std::find(slot.granted.begin(), slot.granted.end(), to) == slot.granted.end()) {
    slot.granted.push_back(to);
  }
}

bool Engine::use_grant(Operation& operation) {
  const auto key = grants_.use(GrantName::of(operation.remote));
  if (!key) return false;
  operation.key = *key;
  operation.alone = true;
  return true;
}

void Engine::unuse_grant(const Operation& operation) {
  const ZeroCopyInfo& remote = operation.remote;
  if (!grants_.release(GrantName::of(remote))) return;
  send_later(remote.rank,
             {.verb = Verb::kRevoked, .slot = remote.slot, .generation = remote.generation});
}

// Ends the registration of a buffer, at once or when nobody has its key any more.
void Engine::revoke(std::uint32_t number) noexcept {
  Slot& slot = slots_[number];
  if (!slot.granted.empty()) {
    const std::uint32_t generation = slot.info.generation;
    lent_.retire(number, generation, slot.granted.size(), slot.registration);
    for (const Rank holder : slot.granted) {
      send_later(holder, {.verb = Verb::kRevoke, .slot = number, .generation = generation});
    }
    slot.granted.clear();
  }
  slot.registration.reset();
}

void Engine::revoked_here(Rank from, const Control& control) {
  if (!grants_.revoke({from, control.slot, control.generation})) return;  // unuse_grant() answers
  send(from, {.verb = Verb::kRevoked, .slot = control.slot, .generation = control.generation});
}

}  // namespace am::zero_copy
