// What other processes ask for.

#include <cstring>

#include "am/zero_copy/engine.h"

namespace am::zero_copy {

void Engine::handle(Rank from, const Control& control) {
  switch (control.verb) {
    case Verb::kGet:
    case Verb::kPut: return serve(from, control);
    case Verb::kSend: return send_pieces(from, control);
    case Verb::kDone: return take_done(from, control);
    case Verb::kRefused: return refused(from, control);
    case Verb::kMoved: return moved(from, control);
    case Verb::kRevoke: return revoked_here(from, control);
    case Verb::kRevoked: return buffers_.returned(control.slot, control.generation);
  }
  refuse_message(from, "says what no process says");
}

// The buffer that `control` names. nullptr: it takes no such transfer, and the other process is
// sent kRefused with the reason.
Slot* Engine::find(Rank from, const Control& control) {
  Slot* const slot = slots_.find(control.slot, control.generation);
  Control answer = control;
  answer.verb = Verb::kRefused;
  answer.has_key = false;
  if (slot == nullptr) {
    answer.why = Refusal::kStale;
  } else if (!slot->takes_transfers()) {
    answer.why = Refusal::kDeregistered;
  } else if (control.bytes > slot->info.bytes) {
    answer.why = Refusal::kTooSmall;
    answer.address = slot->info.bytes;
  } else {
    return slot;
  }
  send(from, answer);
  return nullptr;
}

void Engine::serve(Rank from, const Control& asked) {
  Control control = asked;
  control.put = asked.verb == Verb::kPut;
  Slot* const slot = find(from, control);
  if (slot == nullptr) return;
  const End end = slots_.begin(*slot);
  if (serve_mapped(from, control, end)) return;
  Operation& operation = take(from, end, control.bytes);
  operation.put = control.put;
  operation.remote_op = control.op;
  if (control.has_key && buffers_.rma()) {
    operation.key = control.key;
    operation.step = Operation::Step::kAccess;
  } else if (control.put) {
    operation.step = Operation::Step::kAwait;
    send(from, {.verb = Verb::kSend, .op = control.op, .slot = operation.id});
    return;
  } else {
    operation.step = Operation::Step::kPieces;
  }
  advance_or_wait(operation);
}

// Where the asking process's memory is mapped here.
bool Engine::serve_mapped(Rank from, const Control& control, const End& end) {
  if (!router_.is_near(from)) return false;
  std::byte* const there = neighbours_.mapped(from, control.address, control.bytes);
  if (there == nullptr) return false;
  std::byte* const here = end.memory().data();
  if (control.bytes != 0) {
    std::memcpy(control.put ? here : there, control.put ? there : here, control.bytes);
  }
  ++stats_.mapped;
  send(from, {.verb = Verb::kDone, .op = control.op});
  ends_.finish(end, control.bytes, from, !control.put);
  return true;
}

// Notifies the other end of an access that the bytes are in place.
void Engine::send_through(Operation& operation) {
  operation.notified = true;
  if (operation.alone) {
    const ZeroCopyInfo& remote = operation.remote;
    return send_later(operation.peer, {.verb = Verb::kMoved,
                                       .put = operation.put,
                                       .slot = remote.slot,
                                       .generation = remote.generation,
                                       .bytes = operation.bytes});
  }
  Control control{.verb = Verb::kDone, .op = operation.remote_op};
  buffers_.grant(operation.peer, operation.end, control);
  send_later(operation.peer, control);
}

void Engine::moved(Rank from, const Control& control) {
  Slot* const slot = slots_.find(control.slot, control.generation);
  if (slot != nullptr && control.bytes > slot->info.bytes) {
    refuse_message(from, "says that more was moved than the buffer has");
  }
  if (slot != nullptr) return ends_.finish(slots_.begin(*slot), control.bytes, from, !control.put);
  send(from, {.verb = Verb::kRefused,
              .put = control.put,
              .why = Refusal::kStale,
              .slot = control.slot,
              .generation = control.generation,
              .bytes = control.bytes});
}

}  // namespace am::zero_copy
