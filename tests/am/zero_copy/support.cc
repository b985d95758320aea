#include "tests/am/zero_copy/support.h"

#include <algorithm>

namespace am::zero_copy_test {
namespace {

constexpr std::byte kEmpty{0xee};

std::size_t segment_used = 0;

std::byte expected(std::uint64_t salt, std::size_t i) {
  return static_cast<std::byte>((salt * 0x9e3779b97f4a7c15u + i * 131) >> 5);
}

std::vector<ZeroCopyInfo> shown;
std::size_t shown_count = 0;

void on_show(OneWay message, ZeroCopyInfo info) {
  shown[message.source()] = info;
  ++shown_count;
}

}  // namespace

Memory::Memory(ZeroCopy& zero, Place place, std::size_t bytes) : zero_(zero), place_(place) {
  const std::size_t all = bytes + 2 * kGuard;
  switch (place) {
    case Place::kHeap:
      heap_ = std::make_unique<std::byte[]>(all);
      all_ = {heap_.get(), all};
      break;
    case Place::kSegment:
      all_ = {job().router().segment() + segment_used, all};
      segment_used += all;
      break;
    case Place::kPool: all_ = zero.alloc(all); break;
  }
  anew();
}

Memory::~Memory() {
  if (place_ == Place::kPool) zero_.free(all_);
  if (place_ == Place::kSegment) segment_used -= all_.size();
}

void Memory::anew() { std::ranges::fill(all_, kEmpty); }

void Memory::fill(std::uint64_t salt) {
  const std::span<std::byte> mine = bytes();
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = expected(salt, i);
}

testing::AssertionResult Memory::holds(std::uint64_t salt, std::size_t count) const {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const bool filled = i >= kGuard && i < kGuard + count;
    const std::byte wanted = filled ? expected(salt, i - kGuard) : kEmpty;
    if (all_[i] == wanted) continue;
    return testing::AssertionFailure()
           << "byte " << static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(kGuard)
           << " of " << bytes().size() << " is " << static_cast<int>(all_[i]) << ", not "
           << static_cast<int>(wanted);
  }
  return testing::AssertionSuccess();
}

std::vector<ZeroCopyInfo> show(const ZeroCopyInfo& mine) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_show>();
  shown.assign(job().size(), {});
  shown_count = 0;
  job().connect(endpoint);
  for (Rank rank = 0; rank < job().size(); ++rank) endpoint.request<&on_show>(rank, mine);
  bundle().wait_until([] { return shown_count == job().size(); });
  barrier();
  return shown;
}

void settle(ZeroCopy& zero) {
  zero.wait();
  barrier();
  for (int i = 0; i < 200; ++i) bundle().poll();
  barrier();
}

}  // namespace am::zero_copy_test
