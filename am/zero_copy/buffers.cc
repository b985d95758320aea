#include "am/zero_copy/buffers.h"

#include <algorithm>
#include <string>
#include <utility>

namespace am::zero_copy {

Buffers::Buffers(Bundle& bundle, Slots& slots, std::span<std::byte> pool, Notify notify)
    : bundle_(bundle),
      port_(bundle.router().port()),
      slots_(slots),
      pool_(pool),
      notify_(std::move(notify)) {}

std::span<std::byte> Buffers::allocate(std::size_t bytes, Call call) {
  if (rma() && pool_registration_ == nullptr && !pool_.empty()) {
    pool_registration_ = port_->register_memory(pool_);
  }
  const std::uint64_t at = blocks_.find(bytes);
  const std::uint64_t room = pool_.size() - at;
  if (bytes > room || HeapSide::occupied(bytes) > room) {
    bundle_.refuse(call, std::to_string(bytes) + " bytes asked for, but the pool of " +
                             std::to_string(pool_.size()) + " bytes has " +
                             std::to_string(pool_.size() - blocks_.used()) +
                             " left, maybe not in one piece; ask for a larger pool in "
                             "ZeroCopy::Options, or free some");
  }
  blocks_.take({at, bytes});
  return pool_.subspan(at, bytes);
}

void Buffers::release(std::span<std::byte> block, Call call) {
  const auto found = block_of(block.first(0));
  if (!found || block.data() != &pool_[found->at]) {
    bundle_.refuse(call, "no block of alloc() begins there; pass what alloc() gave, once");
  }
  if (slots_.any_in(pool_.subspan(found->at, HeapSide::occupied(found->bytes)))) {
    bundle_.refuse(call, "a buffer still lies in this block; initialise it anew or end it first");
  }
  blocks_.release(found->at);
}

std::optional<HeapSide::Block> Buffers::block_of(std::span<const std::byte> range) const {
  const std::uint64_t at = reinterpret_cast<std::uintptr_t>(range.data()) -
                           reinterpret_cast<std::uintptr_t>(pool_.data());
  auto block = blocks_.block_of(at);
  if (block && range.size() > HeapSide::occupied(block->bytes) - (at - block->at)) block.reset();
  return block;
}

void Buffers::check_idle(const Slot& slot, Call call) const {
  if (slot.under_way == 0) return;
  bundle_.refuse(call, std::to_string(slot.under_way) +
                           " transfers are under way here; wait for their callbacks");
}

void Buffers::init(std::uint32_t number, std::span<std::byte> memory, ZeroCopyCallback callback,
                   ZeroCopyMode mode, Call call) {
  Slot& slot = slots_[number];
  check_idle(slot, call);
  if (mode == ZeroCopyMode::kPrereg && !block_of(memory)) {
    bundle_.refuse(call,
                   "the memory of a kPrereg buffer must lie in one block of ZeroCopy::alloc(); "
                   "allocate it there, or use kReg");
  }
  std::shared_ptr<link::Registration> registration;
  if (mode == ZeroCopyMode::kReg && rma() && !memory.empty()) {
    registration = port_->register_memory(memory);
  }
  SharedCallback shared = share(std::move(callback));
  revoke(number);
  slots_.renew(number, memory, mode);
  slot.registration = std::move(registration);
  slot.callback = std::move(shared);
  slots_.publish(number);
}

void Buffers::close(std::uint32_t number) noexcept {
  revoke(number);
  slots_.close(number);
}

void Buffers::prepare(std::uint32_t number) {
  Slot& slot = slots_[number];
  const bool own = slot.info.mode == ZeroCopyMode::kReg || slot.info.mode == ZeroCopyMode::kUnreg;
  if (own && slot.registration == nullptr && rma() && slot.info.bytes != 0) {
    slot.registration = port_->register_memory(slot.memory());
  }
  slot.prepared = slot.info.mode != ZeroCopyMode::kNoreg;
  slots_.publish(number);
}

void Buffers::unprepare(std::uint32_t number, Call call) {
  Slot& slot = slots_[number];
  check_idle(slot, call);
  revoke(number);
  slot.prepared = false;
  slots_.publish(number);
}

// --- Keys of them

// The key of a buffer that is registered anyway.
link::RemoteKey Buffers::key_of(const Slot& slot) const {
  if (slot.registration != nullptr) return slot.registration->key();
  return pool_registration_->key() +
         (slot.info.address - reinterpret_cast<std::uintptr_t>(pool_.data()));
}

link::RemoteKey Buffers::lend_key(const End& end, std::size_t bytes,
                                  std::shared_ptr<link::Registration>& kept) {
  const Slot* const slot = slots_.find(end);
  if (slot != nullptr && slot->registered()) {
    kept = slot->registration;
    return key_of(*slot);
  }
  kept = port_->register_memory(end.memory().first(bytes));
  return kept->key();
}

void Buffers::grant(Rank to, const End& end, Control& control) {
  Slot* const slot = slots_.find(end);
  if (slot == nullptr || !slot->registered() || !slot->takes_transfers()) return;
  control.has_key = true;
  control.key = key_of(*slot);
  if (std::ranges::find(slot->granted, to) == slot->granted.end()) slot->granted.push_back(to);
}

// Ends the registration of a buffer, at once or when nobody has its key any more.
void Buffers::revoke(std::uint32_t number) noexcept {
  Slot& slot = slots_[number];
  if (!slot.granted.empty()) {
    const std::uint32_t generation = slot.info.generation;
    lent_.retire(number, generation, slot.granted.size(), slot.registration);
    for (const Rank holder : slot.granted) {
      notify_(holder, {.verb = Verb::kRevoke, .slot = number, .generation = generation});
    }
    slot.granted.clear();
  }
  slot.registration.reset();
}

}  // namespace am::zero_copy
