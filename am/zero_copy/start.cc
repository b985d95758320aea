// Transfers that begin here.

#include <cstring>

#include "am/route/port.h"
#include "am/types/forked.h"
#include "am/zero_copy/engine.h"
#include "shmem/region.h"

namespace am::zero_copy {
namespace {

// From how many bytes on a system call that copies is faster than messages; docs/zero_copy.md.
constexpr std::size_t kCrossFrom = 4097;
static_assert(kCrossFrom > max_medium());

const char* name_of(bool put) { return put ? "ZeroCopyBuffer::put" : "ZeroCopyBuffer::get"; }

std::string describe(const ZeroCopyInfo& info) {
  std::string text = "the buffer of rank " + std::to_string(info.rank);
  text += " with reference number " + std::to_string(info.reference);
  return text;
}

}  // namespace

void Engine::refuse_stale(Call call, const ZeroCopyInfo& remote) const {
  bundle_.refuse(call, describe(remote) +
                           " is not the one of this info() any more, or takes no transfers: it has "
                           "been initialised anew, deregistered or ended; send a new info()");
}

void Engine::check(bool put, const Slot& slot, const ZeroCopyInfo& remote, Call call) const {
  if (remote.rank >= router_.size()) {
    bundle_.refuse(call, "the info names rank " + std::to_string(remote.rank) +
                             ", but the job has " + std::to_string(router_.size()) +
                             " processes; pass what info() gave");
  }
  if (slot.info.mode == ZeroCopyMode::kNoreg || remote.mode == ZeroCopyMode::kNoreg) {
    const bool mine = slot.info.mode == ZeroCopyMode::kNoreg;
    bundle_.refuse(call, (mine ? "this buffer" : describe(remote)) +
                             " is for information only (kNoreg); initialise it with another mode");
  }
  if (!slot.takes_transfers()) {
    bundle_.refuse(call, "this buffer is deregistered; call register_memory() first");
  }
  const std::uint64_t source = put ? slot.info.bytes : remote.bytes;
  const std::uint64_t destination = put ? remote.bytes : slot.info.bytes;
  if (source > destination) {
    bundle_.refuse(call, "the source has " + std::to_string(source) +
                             " bytes and the destination only " + std::to_string(destination) +
                             " (" + describe(remote) + "); make it as large at least");
  }
}

void Engine::start(bool put, std::uint32_t number, const ZeroCopyInfo& remote, Call call) {
  check_not_forked(call);
  Slot& slot = slots_[number];
  check(put, slot, remote, call);
  const End end = slots_.begin(slot);
  try {
    transfer(put, end, remote, put ? slot.info.bytes : remote.bytes, call);
  } catch (...) {
    slots_.settle(end);
    throw;
  }
}

void Engine::transfer(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes,
                      Call call) {
  if (remote.rank == me_) return within(put, end, remote, bytes, call);
  const bool near = router_.is_near(remote.rank);
  if (near && copy_near(put, end, remote, bytes, call)) return;
  if (put && bytes <= max_medium() && try_whole(end, remote, bytes)) return;
  Operation& operation = take(remote.rank, end, bytes);
  operation.initiated = true;
  operation.put = put;
  operation.remote = remote;
  if (bytes <= max_medium()) {
    operation.step = put ? Operation::Step::kWhole : Operation::Step::kFetch;
  } else if (!near && use_grant(operation)) {
    operation.step = Operation::Step::kAccess;
  } else {
    return ask(operation);
  }
  advance_or_wait(operation);
}

void Engine::within(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes,
                    Call call) {
  Slot* const other = slots_.find(remote.slot, remote.generation);
  if (other == nullptr || !other->takes_transfers()) refuse_stale(call, remote);
  const End there = slots_.begin(*other);
  std::byte* const to = put ? there.memory().data() : end.memory().data();
  const std::byte* const from = put ? end.memory().data() : there.memory().data();
  if (bytes != 0) std::memmove(to, from, bytes);
  ++stats_.mapped;
  slots_.finish(end, bytes, me_, put);
  slots_.finish(there, bytes, me_, !put);
}

// Copies without the owner's help, if its memory is mapped here or, for kCrossFrom bytes or more,
// can be reached through the kernel. False: neither.
bool Engine::copy_near(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes,
                       Call call) {
  if (!neighbours_.current(remote.rank, remote.slot, remote.generation)) refuse_stale(call, remote);
  std::byte* const there = neighbours_.mapped(remote.rank, remote.address, bytes);
  if (there == nullptr &&
      (bytes < kCrossFrom || neighbours_.cross_memory(remote.rank) == nullptr)) {
    return false;
  }
  std::byte* const here = end.memory().data();
  if (there == nullptr) {
    if (!cross(put, end, remote, bytes, call)) return false;
    ++stats_.cross_memory;
  } else {
    if (bytes != 0) std::memcpy(put ? there : here, put ? here : there, bytes);
    ++stats_.mapped;
  }
  send(remote.rank, {.verb = Verb::kMoved,
                     .put = put,
                     .slot = remote.slot,
                     .generation = remote.generation,
                     .bytes = bytes});
  slots_.finish(end, bytes, remote.rank, put);
  return true;
}

// False: the system does not allow it any more.
bool Engine::cross(bool put, const End& end, const ZeroCopyInfo& remote, std::size_t bytes,
                   Call call) {
  const shmem::CrossMemory& memory = *neighbours_.cross_memory(remote.rank);
  try {
    if (put) {
      memory.write(remote.address, end.memory().data(), bytes);
    } else {
      memory.read(end.memory().data(), remote.address, bytes);
    }
    return true;
  } catch (const shmem::Error& error) {
    if (!neighbours_.still_crosses(remote.rank)) return false;
    const bool is_payload = end.buffer.slot == kNone;  // which only the user of a request has named
    bundle_.refuse(call, "the memory of " +
                             (is_payload ? "the payload of rank " + std::to_string(remote.rank)
                                         : describe(remote)) +
                             " cannot be reached: " + error.what());
  }
}

// Has the owner move the bytes.
void Engine::ask(Operation& operation) {
  const ZeroCopyInfo& remote = operation.remote;
  Control control{.verb = operation.put ? Verb::kPut : Verb::kGet,
                  .op = operation.id,
                  .slot = remote.slot,
                  .generation = remote.generation,
                  .bytes = operation.bytes,
                  .address = operation.end.buffer.address};
  const bool near = router_.is_near(remote.rank);
  if (!near && buffers_.rma()) {
    try {
      control.key = buffers_.lend_key(operation.end, operation.bytes, operation.registration);
    } catch (...) {
      give_back(operation);
      throw;
    }
    control.has_key = true;
  }
  operation.step = Operation::Step::kAwait;
  if (!near) operation.answer.emplace(*router_.port(), 1);
  send(remote.rank, control);
}

void Engine::take_done(Rank from, const Control& control) {
  Operation& moved = operation(control.op, from, Part::kInitiator);
  if (control.has_key) grants_.keep(GrantName::of(moved.remote), control.key);
  through(moved);
}

void Engine::send_pieces(Rank from, const Control& control) {
  Operation& asked = operation(control.op, from, Part::kPutter);
  asked.remote_op = control.slot;
  asked.step = Operation::Step::kPieces;
  advance_or_wait(asked);
}

void Engine::refused(Rank from, const Control& control) {
  ZeroCopyInfo remote{.rank = from, .slot = control.slot, .generation = control.generation};
  if (control.op != kNone) {
    Operation& asked = operation(control.op, from, Part::kInitiator);
    remote = asked.remote;
    slots_.settle(asked.end);
    give_back(asked);
  }
  if (control.why != Refusal::kTooSmall) refuse_stale(name_of(control.put), remote);
  bundle_.refuse(name_of(control.put), std::to_string(control.bytes) + " bytes asked for, but " +
                                           describe(remote) + " has only " +
                                           std::to_string(control.address) +
                                           "; pass its info() as it was");
}

}  // namespace am::zero_copy
