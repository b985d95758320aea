#include "am/zero_copy/buffers.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

namespace am::zero_copy {

Pool::Pool(std::span<std::byte> memory) : memory_(memory) {
  if (!memory.empty()) free_[0] = memory.size();
}

std::span<std::byte> Pool::allocate(std::size_t bytes) {
  if (bytes > memory_.size()) return {};
  const std::size_t rounded =
      (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  const auto found = std::find_if(free_.begin(), free_.end(),
                                  [&](const auto& range) { return range.second >= rounded; });
  if (found == free_.end()) return {};
  const auto [offset, room] = *found;
  free_.erase(found);
  if (room != rounded) free_[offset + rounded] = room - rounded;
  blocks_[offset] = rounded;
  used_ += rounded;
  return memory_.subspan(offset, bytes);
}

bool Pool::release(const std::byte* block) {
  const std::span<std::byte> range = block_at(block);
  if (range.empty()) return false;
  const auto offset = static_cast<std::size_t>(block - memory_.data());
  blocks_.erase(offset);
  used_ -= range.size();
  auto at = free_.emplace(offset, range.size()).first;
  if (const auto next = std::next(at);
      next != free_.end() && at->first + at->second == next->first) {
    at->second += next->second;
    free_.erase(next);
  }
  if (at != free_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
  return true;
}

std::span<std::byte> Pool::block_at(const std::byte* begin) const {
  const std::less<> before;
  if (memory_.empty() || before(begin, memory_.data())) return {};
  const auto found = blocks_.find(static_cast<std::size_t>(begin - memory_.data()));
  return found == blocks_.end() ? std::span<std::byte>()
                                : memory_.subspan(found->first, found->second);
}

bool Pool::holds(std::span<const std::byte> range) const {
  const std::less<> before;
  if (memory_.empty() || before(range.data(), memory_.data())) return false;
  const auto offset = static_cast<std::size_t>(range.data() - memory_.data());
  auto block = blocks_.upper_bound(offset);
  if (block == blocks_.begin()) return false;
  --block;
  const std::size_t within = offset - block->first;
  return within <= block->second && range.size() <= block->second - within;
}

Buffers::Buffers(Bundle& bundle, Slots& slots, std::span<std::byte> pool, Notify notify)
    : bundle_(bundle),
      port_(bundle.router().port()),
      slots_(slots),
      notify_(std::move(notify)),
      pool_(pool) {}

// It also ends inside the port.
std::shared_ptr<link::Registration> Buffers::register_memory(std::span<std::byte> memory) {
  const Port::Lock network(*port_);
  return {port_->link().can().registrar->register_memory(memory).release(),
          [port = port_](const link::Registration* registration) {
            const Port::Lock now_inside(*port);
            delete registration;
          }};
}

void Buffers::refuse(const std::string& call, const std::string& what) const {
  bundle_.refuse(call, what);
}

std::span<std::byte> Buffers::allocate(std::size_t bytes) {
  if (rma() && pool_registration_ == nullptr && !pool_.memory().empty()) {
    pool_registration_ = register_memory(pool_.memory());
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

void Buffers::release(std::span<std::byte> block) {
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

void Buffers::init(std::uint32_t number, std::span<std::byte> memory, ZeroCopyCallback callback,
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
    registration = register_memory(memory);
  }
  SharedCallback shared;
  if (callback) shared = std::make_shared<const ZeroCopyCallback>(std::move(callback));
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
    slot.registration =
        register_memory({reinterpret_cast<std::byte*>(slot.info.address), slot.info.bytes});
  }
  slot.prepared = slot.info.mode != ZeroCopyMode::kNoreg;
  slots_.publish(number);
}

void Buffers::unprepare(std::uint32_t number) {
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

// --- Keys of them

// The key of a buffer that is registered anyway.
link::RemoteKey Buffers::key_of(const Slot& slot) const {
  if (slot.registration != nullptr) return slot.registration->key();
  return pool_registration_->key() +
         (slot.info.address - reinterpret_cast<std::uintptr_t>(pool_.memory().data()));
}

link::RemoteKey Buffers::lend_key(const End& end, std::size_t bytes,
                                  std::shared_ptr<link::Registration>& kept) {
  const ZeroCopyInfo& mine = end.buffer;
  const Slot* const slot = slots_.find(mine.slot, mine.generation);
  if (slot != nullptr && (slot->registration != nullptr || mine.mode == ZeroCopyMode::kPrereg)) {
    kept = slot->registration;
    return key_of(*slot);
  }
  kept = register_memory(end.memory().first(bytes));
  return kept->key();
}

void Buffers::grant(Rank to, const End& end, Control& control) {
  Slot* const found = slots_.find(end.buffer.slot, end.buffer.generation);
  if (found == nullptr) return;
  Slot& slot = *found;
  const bool lasting = slot.registration != nullptr || slot.info.mode == ZeroCopyMode::kPrereg;
  if (!lasting || !slot.takes_transfers()) return;
  control.has_key = true;
  control.key = key_of(slot);
  if (std::find(slot.granted.begin(), slot.granted.end(), to) == slot.granted.end()) {
    slot.granted.push_back(to);
  }
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
