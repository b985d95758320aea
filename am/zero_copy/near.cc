#include "am/zero_copy/near.h"

#include <atomic>
#include <string>

#include "shmem/region.h"

namespace am::zero_copy {
namespace {

constexpr std::size_t kBoardBytes = kMaxSlots * sizeof(std::uint32_t);

std::atomic_ref<std::uint32_t> entry(const shmem::Region& region, std::uint32_t slot) noexcept {
  return std::atomic_ref(reinterpret_cast<std::uint32_t*>(region.data())[slot]);
}

std::uint64_t address_of(const void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}

shmem::Region make_region(const Router& router, std::size_t pool_bytes) {
  try {
    return shmem::Region::create(
        {.what = "the zero-copy pool of rank " + std::to_string(router.rank()),
         .bytes = kBoardBytes + pool_bytes});
  } catch (const shmem::Error& error) {
    throw Error("rank " + std::to_string(router.rank()) + ": ZeroCopy: " + error.what() +
                "; ZeroCopy::Options sets the size");
  }
}

}  // namespace

Neighbours::Neighbours(const Router& router, std::size_t pool_bytes)
    : router_(router),
      own_(make_region(router, pool_bytes)),
      pool_(own_.data() + kBoardBytes, pool_bytes),
      neighbours_(router.size()) {
  own_.hide_from_children(kBoardBytes);
}

Neighbours::Card Neighbours::card() const noexcept {
  return {own_.address(), address_of(router_.segment()), address_of(pool_.data()),
          address_of(&known_word_)};
}

void Neighbours::open(Rank rank, const Card& card) {
  Neighbour& neighbour = all_.emplace_back();
  neighbours_[rank] = &neighbour;
  try {
    neighbour.region = shmem::Region::open(card.region);
    neighbour.region.hide_from_children();
  } catch (const shmem::Error& error) {
    throw Error("rank " + std::to_string(router_.rank()) +
                ": ZeroCopy: no way to the zero-copy pool of rank " + std::to_string(rank) + ": " +
                error.what());
  }
  neighbour.card = card;
  neighbour.memory = shmem::CrossMemory(card.region.pid);
}

void Neighbours::publish(std::uint32_t slot, std::uint32_t generation) noexcept {
  // pairs with: current()
  entry(own_, slot).store(generation, std::memory_order_release);
}

bool Neighbours::current(Rank rank, std::uint32_t slot, std::uint32_t generation) const noexcept {
  // pairs with: publish()
  return slot < kMaxSlots && generation != 0 &&
         entry(neighbours_[rank]->region, slot).load(std::memory_order_acquire) == generation;
}

std::byte* Neighbours::mapped(Rank rank, std::uint64_t address, std::size_t bytes) const noexcept {
  const auto within = [&](std::uint64_t begin, std::uint64_t size, std::byte* here) {
    const bool inside =
        address >= begin && address - begin <= size && bytes <= size - (address - begin);
    return inside ? here + (address - begin) : nullptr;
  };
  const Neighbour& neighbour = *neighbours_[rank];
  if (std::byte* const at =
          within(neighbour.card.segment, router_.segment_bytes(), router_.peer(rank).segment)) {
    return at;
  }
  return within(neighbour.card.pool, neighbour.region.size() - kBoardBytes,
                neighbour.region.data() + kBoardBytes);
}

const shmem::CrossMemory* Neighbours::cross_memory(Rank rank) {
  Neighbour& neighbour = *neighbours_[rank];
  if (neighbour.crossing == Crossing::kUnknown) {
    neighbour.crossing = Crossing::kRefused;
    if (router_.options().cross_memory) still_crosses(rank);
  }
  return neighbour.crossing == Crossing::kWorks ? &neighbour.memory : nullptr;
}

bool Neighbours::still_crosses(Rank rank) {
  Neighbour& neighbour = *neighbours_[rank];
  const bool works =
      shmem::CrossMemory::works_with(neighbour.card.region.pid, neighbour.card.known_word);
  neighbour.crossing = works ? Crossing::kWorks : Crossing::kRefused;
  return works;
}

}  // namespace am::zero_copy
