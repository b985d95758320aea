// The memory of buffers: the pool, and what is registered with the network.

#include <utility>

#include "am/zero_copy/engine.h"

namespace am::zero_copy {

std::span<std::byte> Engine::allocate(std::size_t bytes) {
  if (rma() && pool_registration_ == nullptr && !pool_.memory().empty()) {
    pool_registration_ = link_->register_memory(pool_.memory());
  }
  const std::span<std::byte> block = pool_.allocate(bytes);
  if (block.data() == nullptr) {
    refuse("ZeroCopy::alloc", std::to_string(bytes) + " bytes asked for, but the pool of " +
                                  std::to_string(pool_.memory().size()) + " bytes has " +
                                  std::to_string(pool_.memory().size() - pool_.used()) +
                                  " left, maybe not in one piece; ask for a larger pool in "
                                  "ZeroCopy::Options, or free some");
  }
  return block;
}

void Engine::release(std::span<std::byte> block) {
  const std::span<std::byte> whole = pool_.block_at(block.data());
  if (whole.empty()) {
    refuse("ZeroCopy::free", "no block of alloc() begins there; pass what alloc() gave, once");
  }
  if (slots_.any_in(whole)) {
    refuse("ZeroCopy::free",
           "a buffer still lies in this block; initialise it anew or end it first");
  }
  pool_.release(block.data());
}

void Engine::init(std::uint32_t number, std::span<std::byte> memory, ZeroCopyCallback callback,
                  ZeroCopyMode mode) {
  Slot& slot = slots_[number];
  if (slot.under_way != 0) {
    refuse("ZeroCopyBuffer::init", std::to_string(slot.under_way) +
                                       " transfers are under way here; wait for their callbacks");
  }
  if (mode == ZeroCopyMode::kPrereg && !pool_.holds(memory)) {
    refuse("ZeroCopyBuffer::init",
           "the memory of a kPrereg buffer must lie in one block of ZeroCopy::alloc(); allocate it "
           "there, or use kReg");
  }
  std::shared_ptr<link::Registration> registration;
  if (mode == ZeroCopyMode::kReg && rma() && !memory.empty()) {
    registration = link_->register_memory(memory);
  }
  SharedCallback shared;
  if (callback) shared = std::make_shared<const ZeroCopyCallback>(std::move(callback));
  revoke(number);
  slots_.renew(number, memory, mode);
  slot.registration = std::move(registration);
  slot.callback = std::move(shared);
  slots_.publish(number);
}

void Engine::close(std::uint32_t number) noexcept {
  revoke(number);
  slots_.close(number);
}

void Engine::prepare(std::uint32_t number) {
  Slot& slot = slots_[number];
  const bool own = slot.info.mode == ZeroCopyMode::kReg || slot.info.mode == ZeroCopyMode::kUnreg;
  if (own && slot.registration == nullptr && rma() && slot.info.bytes != 0) {
    slot.registration =
        link_->register_memory({reinterpret_cast<std::byte*>(slot.info.address), slot.info.bytes});
  }
  slot.prepared = slot.info.mode != ZeroCopyMode::kNoreg;
  slots_.publish(number);
}

void Engine::unprepare(std::uint32_t number) {
  Slot& slot = slots_[number];
  if (slot.under_way != 0) {
    refuse(
        "ZeroCopyBuffer::deregister_memory",
        std::to_string(slot.under_way) + " transfers are under way here; wait for their callbacks");
  }
  revoke(number);
  slot.prepared = false;
  slots_.publish(number);
}

}  // namespace am::zero_copy
