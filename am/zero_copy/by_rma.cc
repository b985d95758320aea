// Transfers that the network makes by itself (RMA), and the keys of others by which it may.

#include "am/zero_copy/engine.h"

namespace am::zero_copy {

bool Engine::try_access(Operation& operation) {
  const Port::Lock network(*router_.port());
  const std::span<std::byte> here = operation.end.memory().first(operation.bytes);
  const bool writes = operation.put == operation.initiated;
  const bool in_order = writes && here.size() <= link_->can().ordered_write;
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

bool Engine::use_grant(Operation& operation) {
  const auto key = grants_.use(GrantName::of(operation.remote));
  if (!key) return false;
  operation.key = *key;
  operation.alone = true;
  return true;
}

void Engine::unuse_grant(const Operation& operation) {
  const ZeroCopyInfo& remote = operation.remote;
  for (auto asked = grants_.release(GrantName::of(remote)); asked != 0; --asked) {
    send_later(remote.rank,
               {.verb = Verb::kRevoked, .slot = remote.slot, .generation = remote.generation});
  }
}

void Engine::revoked_here(Rank from, const Control& control) {
  if (!grants_.revoke({from, control.slot, control.generation})) return;  // unuse_grant() answers
  send(from, {.verb = Verb::kRevoked, .slot = control.slot, .generation = control.generation});
}

}  // namespace am::zero_copy
