#include "am/route/staging.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <utility>

namespace am {
namespace {

// A region holds payloads of so many bytes at most, or a power of two of them. Of large ones one
// stays that is not used, at the sender, and one at the receiver.
constexpr std::size_t kLeast = 64 << 10;
constexpr std::size_t kLarge = 4 << 20;

std::atomic_ref<std::uint64_t> ticket_of(const shmem::Region& region) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(region.data()));
}

template <class T>
T read(const std::byte* slot) noexcept {
  T value;
  std::memcpy(&value, slot, sizeof value);
  return value;
}

bool same(const shmem::Region::Address& a, const shmem::Region::Address& b) noexcept {
  return a.pid == b.pid && a.fd == b.fd && a.bytes == b.bytes && a.inode == b.inode;
}

}  // namespace

bool Staging::is_large(const Known& one) noexcept { return one.address.bytes > kHeader + kLarge; }

// Each size has regions of its own: else small payloads would take the large ones, of which more
// and more were made.
const Staging::Known& Staging::free_region(std::size_t bytes) {
  const std::size_t size = kHeader + std::bit_ceil(std::max(bytes, kLeast));
  const auto unused = [](const Known& one) {
    // The payload before has been read before it is overwritten. pairs with: release()
    return ticket_of(one.region).load(std::memory_order_acquire) == 0;
  };
  const auto fits = [&](const Known& one) { return one.address.bytes == size && unused(one); };
  const auto first = std::ranges::find_if(own_, fits);
  const bool found = first != own_.end();
  const std::uint64_t chosen = found ? first->address.inode : 0;
  std::erase_if(own_, [&](const Known& one) {
    return is_large(one) && unused(one) && !(found && one.address.inode == chosen);
  });
  if (found) return *std::ranges::find_if(own_, fits);
  shmem::Region made =
      shmem::Region::create({.what = "the payload of a long message", .bytes = size});
  const shmem::Region::Address address = made.address();
  own_.push_back({address, std::move(made)});
  return own_.back();
}

void Staging::put(std::byte* slot, std::span<const std::byte> payload) {
  static_assert(sizeof(Where) <= kInSlot);
  if (payload.empty()) return;
  if (payload.size() <= kInSlot) {
    std::memcpy(slot, payload.data(), payload.size());
    return;
  }
  const std::lock_guard lock(mutex_);
  const auto& [address, region] = free_region(payload.size());
  const Where where{address, ++tickets_};
  ticket_of(region).store(where.ticket, std::memory_order_relaxed);  // the message publishes it
  std::memcpy(region.data() + kHeader, payload.data(), payload.size());
  std::memcpy(slot, &where, sizeof where);
}

// nullptr: it cannot be mapped.
const shmem::Region* Staging::find(const shmem::Region::Address& address) noexcept {
  const auto is_it = [&](const Known& one) { return same(one.address, address); };
  const auto own = std::ranges::find_if(own_, is_it);
  if (own != own_.end()) return &own->region;
  const auto found = std::ranges::find_if(foreign_, is_it);
  if (found != foreign_.end()) {
    std::rotate(found, found + 1, foreign_.end());
    return &foreign_.back().region;
  }
  try {
    shmem::Region opened = shmem::Region::open(address);
    std::erase_if(foreign_, [](const Known& one) { return is_large(one); });
    if (foreign_.size() == kMostForeign) foreign_.erase(foreign_.begin());
    foreign_.push_back({address, std::move(opened)});
    return &foreign_.back().region;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool Staging::release(const shmem::Region& region, std::uint64_t ticket) noexcept {
  // pairs with: free_region() of its process
  return ticket_of(region).compare_exchange_strong(ticket, 0, std::memory_order_release,
                                                   std::memory_order_relaxed);
}

bool Staging::take(const std::byte* slot, std::span<std::byte> to) noexcept {
  if (to.empty()) return true;
  if (to.size() <= kInSlot) {
    std::memmove(to.data(), slot, to.size());
    return true;
  }
  const auto where = read<Where>(slot);
  const std::lock_guard lock(mutex_);
  const shmem::Region* const region = find(where.address);
  if (region == nullptr || region->size() < kHeader + to.size()) return false;
  if (ticket_of(*region).load(std::memory_order_relaxed) != where.ticket) return false;
  std::memcpy(to.data(), region->data() + kHeader, to.size());
  return release(*region, where.ticket);
}

void Staging::drop(const std::byte* slot, std::size_t bytes) noexcept {
  if (bytes <= kInSlot) return;
  const auto where = read<Where>(slot);
  const std::lock_guard lock(mutex_);
  const shmem::Region* const region = find(where.address);
  if (region != nullptr) release(*region, where.ticket);
}

}  // namespace am
