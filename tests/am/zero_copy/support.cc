#include "tests/am/zero_copy/support.h"

#include <algorithm>
#include <cstring>

namespace am::zero_copy_test {
namespace {

constexpr int kEmpty = 0xee;

std::size_t segment_used = 0;

constexpr std::size_t kPeriod = 8192;  // after so many bytes they are the same again
std::byte expected(std::uint64_t salt, std::size_t i) {
  return static_cast<std::byte>((salt * 0x9e3779b97f4a7c15u + i * 131) >> 5);
}

// Of some MB most are copies, as tests are not optimized.
void make_expected(std::span<std::byte> bytes, std::uint64_t salt) {
  std::size_t made = std::min(bytes.size(), kPeriod);
  for (std::size_t i = 0; i < made; ++i) bytes[i] = expected(salt, i);
  for (std::size_t more = 0; made < bytes.size(); made += more) {
    more = std::min(made, bytes.size() - made);
    std::memcpy(bytes.data() + made, bytes.data(), more);
  }
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

void Memory::anew() { std::memset(all_.data(), kEmpty, all_.size()); }

void Memory::fill(std::uint64_t salt) { make_expected(bytes(), salt); }

testing::AssertionResult Memory::holds(std::uint64_t salt, std::size_t count) const {
  std::vector<std::byte> wanted(all_.size(), std::byte{kEmpty});
  make_expected(std::span(wanted).subspan(kGuard, count), salt);
  if (std::memcmp(all_.data(), wanted.data(), wanted.size()) == 0) {
    return testing::AssertionSuccess();
  }
  const auto at = std::ranges::mismatch(all_, wanted).in1 - all_.begin();
  return testing::AssertionFailure()
         << "byte " << at - static_cast<std::ptrdiff_t>(kGuard) << " of " << bytes().size()
         << " is " << static_cast<int>(all_[at]) << ", not " << static_cast<int>(wanted[at]);
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
