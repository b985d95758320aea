#include "rdma/registration_cache.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rdma/endpoint.h"
#include "rdma/error.h"
#include "rdma/open_fabric.h"

namespace rdma {
namespace {

using testing::HasSubstr;

// A domain that only counts; every registration has a key of its own.
struct CountingDomain : fid_domain {
  struct Region : fid_mr {
    Region() : fid_mr{} {}
    CountingDomain* domain = nullptr;
    AddressRange range{};
  };

  CountingDomain() : fid_domain{} {
    calls.size = sizeof calls;
    calls.reg = reg;
    mr = &calls;
    region_calls.size = sizeof region_calls;
    region_calls.close = close;
  }

  static int reg(struct fid* domain, const void* data, std::size_t bytes, std::uint64_t,
                 std::uint64_t, std::uint64_t, std::uint64_t, fid_mr** made, void*) {
    auto& self = *static_cast<CountingDomain*>(reinterpret_cast<fid_domain*>(domain));
    if (self.live.size() >= self.most) return -FI_ENOMEM;
    auto* const region = new Region;
    region->fid.ops = &self.region_calls;
    region->key = ++self.keys;
    region->mem_desc = region;
    region->domain = &self;
    region->range = address_range({static_cast<const std::byte*>(data), bytes});
    self.live.push_back(region);
    *made = region;
    return 0;
  }
  static int close(struct fid* object) {
    auto* const region = static_cast<Region*>(reinterpret_cast<fid_mr*>(object));
    std::erase(region->domain->live, region);
    delete region;
    return 0;
  }

  Memory memory(std::span<std::byte> range) {
    const MemoryRules rules{.domain = this,
                            .provider = "counting",
                            .mode = FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL,
                            .key_bytes = 8};
    return Memory(rules, range, FI_REMOTE_WRITE);
  }

  fi_ops_mr calls{};
  fi_ops region_calls{};
  std::vector<Region*> live;
  std::size_t most = 1'000'000;
  std::uint64_t keys = 0;
};

// Says what it is told to say.
struct FakeMonitor : UnmapMonitor {
  bool watch(AddressRange range) override {
    if (!able) return false;
    watched.push_back(range);
    return true;
  }
  void forget(AddressRange range) noexcept override {
    watched.erase(std::ranges::find(watched, range));
  }
  std::span<const AddressRange> collect() noexcept override {
    told = std::exchange(gone, {});
    return told;
  }

  bool able = true;
  std::vector<AddressRange> watched;
  std::vector<AddressRange> gone;
  std::vector<AddressRange> told;
};

class Cache : public testing::Test {
 protected:
  std::unique_ptr<RegistrationCache> make_cache(std::size_t most_idle = 512,
                                                std::size_t most_idle_bytes = 1'000'000) {
    return std::make_unique<RegistrationCache>(RegistrationCache::Options{
        .make = [this](std::span<std::byte> range) { return domain_.memory(range); },
        .monitor = &monitor_,
        .most_idle = most_idle,
        .most_idle_bytes = most_idle_bytes});
  }
  std::span<std::byte> part(std::size_t first, std::size_t bytes) {
    return std::span(memory_).subspan(first, bytes);
  }
  void goes(std::size_t first, std::size_t bytes) {
    monitor_.gone.push_back(address_range(part(first, bytes)));
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(100'000);
  CountingDomain domain_;
  FakeMonitor monitor_;
  std::unique_ptr<RegistrationCache> cache_ = make_cache();
};

TEST_F(Cache, keeps_what_was_used_for_the_next_use) {
  const RemoteKey first = cache_->acquire(part(0, 100)).key();
  const RemoteKey second = cache_->acquire(part(0, 100)).key();
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.base, address_range(part(0, 100)).begin);
  EXPECT_EQ(cache_->stats().hits, 1u);
  EXPECT_EQ(cache_->stats().misses, 1u);
  EXPECT_EQ(cache_->stats().idle, 1u);
  EXPECT_EQ(cache_->stats().idle_bytes, 100u);
}

TEST_F(Cache, gives_parts_of_what_it_has) {
  const auto whole = cache_->acquire(part(100, 1000));
  const auto inner = cache_->acquire(part(300, 800));
  EXPECT_EQ(inner.key().base, whole.key().base + 200);
  EXPECT_EQ(inner.key().key, whole.key().key);
  EXPECT_EQ(inner.descriptor(), whole.descriptor());
  EXPECT_EQ(domain_.live.size(), 1u);
  const auto beyond = cache_->acquire(part(300, 801));
  const auto before = cache_->acquire(part(99, 2));
  EXPECT_EQ(domain_.live.size(), 3u);
}

TEST_F(Cache, finds_what_contains_a_range_among_many) {
  std::vector<RegistrationCache::Use> uses;
  for (std::size_t i = 0; i < 100; ++i) uses.push_back(cache_->acquire(part(i * 100, 1000)));
  EXPECT_EQ(cache_->stats().misses, 100u);
  for (std::size_t i = 0; i < 100; ++i) {
    uses.push_back(cache_->acquire(part(i * 100, 1000)));
    uses.push_back(cache_->acquire(part(i * 100 + 50, 900)));
  }
  EXPECT_EQ(cache_->stats().misses, 100u);
  uses.clear();
  EXPECT_EQ(cache_->stats().idle, 100u);
}

TEST_F(Cache, replaces_smaller_by_larger) {
  std::vector<RegistrationCache::Use> uses;
  uses.push_back(cache_->acquire(part(100, 10)));
  for (std::size_t i = 0; i < 10; ++i) cache_->acquire(part(200 + i * 10, 10));
  EXPECT_EQ(cache_->stats().live, 11u);
  cache_->acquire(part(100, 200));
  EXPECT_EQ(cache_->stats().live, 2u) << "what is in use has to stay";
  uses.clear();
  EXPECT_EQ(cache_->stats().live, 1u);
  cache_->acquire(part(100, 10));
  EXPECT_EQ(cache_->stats().live, 1u);
}

TEST_F(Cache, keeps_so_many_and_so_much) {
  cache_ = make_cache(3, 1000);
  for (std::size_t i = 0; i < 10; ++i) cache_->acquire(part(i * 10, 10));
  EXPECT_EQ(cache_->stats().idle, 3u);
  EXPECT_EQ(domain_.live.size(), 3u);
  cache_->acquire(part(2000, 990));
  EXPECT_EQ(cache_->stats().idle, 2u);
  EXPECT_EQ(cache_->stats().idle_bytes, 1000u);
  cache_->acquire(part(5000, 1001));
  EXPECT_EQ(cache_->stats().idle, 0u);
  EXPECT_TRUE(domain_.live.empty());
  EXPECT_TRUE(monitor_.watched.empty());
}

TEST_F(Cache, drops_first_what_was_not_used_for_longest) {
  cache_ = make_cache(2);
  cache_->acquire(part(0, 10));
  cache_->acquire(part(10, 10));
  cache_->acquire(part(0, 10));
  cache_->acquire(part(20, 10));
  const auto misses = cache_->stats().misses;
  cache_->acquire(part(0, 10));
  EXPECT_EQ(cache_->stats().misses, misses);
  cache_->acquire(part(10, 10));
  EXPECT_EQ(cache_->stats().misses, misses + 1);
}

TEST_F(Cache, memory_that_has_gone_is_registered_anew) {
  const RemoteKey before = cache_->acquire(part(100, 100)).key();
  goes(50, 51);
  const RemoteKey after = cache_->acquire(part(100, 100)).key();
  EXPECT_NE(before.key, after.key);
  EXPECT_EQ(cache_->stats().gone, 1u);
  EXPECT_EQ(domain_.live.size(), 1u);
}

TEST_F(Cache, memory_beside_stays) {
  cache_->acquire(part(100, 100));
  cache_->acquire(part(200, 100));
  cache_->acquire(part(300, 100));
  goes(200, 100);
  cache_->acquire(part(100, 100));
  cache_->acquire(part(300, 100));
  EXPECT_EQ(cache_->stats().hits, 2u);
  EXPECT_EQ(cache_->stats().live, 2u);
  EXPECT_EQ(monitor_.watched.size(), 2u);
}

TEST_F(Cache, what_is_in_use_when_its_memory_goes_ends_with_its_use) {
  auto first = std::make_unique<RegistrationCache::Use>(cache_->acquire(part(0, 100)));
  goes(0, 1);
  const auto second = cache_->acquire(part(0, 100));
  EXPECT_NE(first->key().key, second.key().key);
  EXPECT_EQ(domain_.live.size(), 2u);
  first = nullptr;
  EXPECT_EQ(domain_.live.size(), 1u);
  EXPECT_EQ(cache_->stats().idle, 0u);
}

TEST_F(Cache, what_goes_during_its_use_is_not_kept) {
  {
    const auto use = cache_->acquire(part(0, 100));
    goes(99, 1);
  }
  EXPECT_TRUE(domain_.live.empty());
}

TEST_F(Cache, keeps_nothing_that_is_not_watched) {
  monitor_.able = false;
  {
    const auto use = cache_->acquire(part(0, 100));
    const auto same = cache_->acquire(part(0, 100));
    EXPECT_EQ(cache_->stats().hits, 1u);
  }
  EXPECT_TRUE(domain_.live.empty());
}

TEST_F(Cache, keeps_nothing_without_a_monitor) {
  RegistrationCache blind(
      {.make = [this](std::span<std::byte> range) { return domain_.memory(range); }});
  blind.acquire(part(0, 100));
  EXPECT_TRUE(domain_.live.empty());
}

TEST_F(Cache, revoked_registrations_end_with_their_last_use) {
  auto use = std::make_unique<RegistrationCache::Use>(cache_->acquire(part(0, 100)));
  {
    auto revoked = cache_->acquire(part(0, 10));
    revoked.revoke();
    revoked.revoke();
  }
  EXPECT_EQ(domain_.live.size(), 1u);
  const auto again = cache_->acquire(part(0, 100));
  EXPECT_NE(again.key().key, use->key().key);
  use = nullptr;
  EXPECT_EQ(domain_.live.size(), 1u);
}

TEST_F(Cache, gives_up_what_it_keeps_when_memory_is_short) {
  domain_.most = 3;
  for (std::size_t i = 0; i < 5; ++i) cache_->acquire(part(i * 10, 10));
  EXPECT_LE(domain_.live.size(), 3u);
  const auto a = cache_->acquire(part(1000, 10));
  const auto b = cache_->acquire(part(2000, 10));
  const auto c = cache_->acquire(part(3000, 10));
  EXPECT_THROW(cache_->acquire(part(4000, 10)), Error);
  EXPECT_EQ(cache_->stats().live, 3u);
  EXPECT_EQ(monitor_.watched.size(), 3u);
}

TEST_F(Cache, no_bytes_are_refused) {
  const auto use = cache_->acquire(part(0, 100));
  try {
    cache_->acquire(part(10, 0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("register at least one"));
  }
}

TEST_F(Cache, ends_where_it_began_after_100000_uses) {
  cache_ = make_cache(20, 10'000);
  std::mt19937 random(1);
  std::vector<std::pair<std::size_t, RegistrationCache::Use>> uses;
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t begin = random() % 90'000;
    const std::size_t bytes = 1 + random() % 5000;
    if (random() % 50 == 0) goes(random() % 99'000, 1 + random() % 1000);
    uses.emplace_back(begin, cache_->acquire(part(begin, bytes)));
    ASSERT_EQ(uses.back().second.key().base, address_range(part(begin, bytes)).begin);
    if (uses.size() == 30) {
      std::ranges::shuffle(uses, random);
      uses.erase(uses.begin() + 10, uses.end());
    }
    ASSERT_LE(cache_->stats().live, 50u);
    ASSERT_EQ(cache_->stats().live, domain_.live.size());
  }
  uses.clear();
  EXPECT_EQ(cache_->stats().live, cache_->stats().idle);
  EXPECT_EQ(cache_->stats().hits + cache_->stats().misses, 100'000u);
  cache_ = nullptr;
  EXPECT_TRUE(domain_.live.empty());
  EXPECT_TRUE(monitor_.watched.empty());
}

// With the kernel's word and a provider's registrations.
class RealCache : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;

  void SetUp() override {
    try {
      monitor_ = std::make_unique<UserfaultMonitor>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
    const FabricOptions options{.provider = "net", .one_host = true};
    fabric_ = std::make_unique<Fabric>(options, Fabric::candidates(options).front().way);
    cache_ = std::make_unique<RegistrationCache>(RegistrationCache::Options{
        .make =
            [this](std::span<std::byte> range) {
              return Memory(*fabric_, range, FI_REMOTE_READ | FI_REMOTE_WRITE);
            },
        .monitor = monitor_.get()});
  }
  static std::span<std::byte> map(void* at) {
    void* const mapped =
        mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    return {static_cast<std::byte*>(mapped), kBytes};
  }

  std::unique_ptr<UserfaultMonitor> monitor_;
  std::unique_ptr<Fabric> fabric_;
  std::unique_ptr<RegistrationCache> cache_;
};

TEST_F(RealCache, memory_mapped_again_at_the_same_place_is_registered_anew) {
  std::span<std::byte> memory = map(nullptr);
  std::uint64_t last = 0;
  int same_place = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t key = cache_->acquire(memory).key().key;
    ASSERT_NE(key, last);
    ASSERT_EQ(cache_->acquire(memory.subspan(100, 1000)).key().key, key);
    last = key;
    std::byte* const before = memory.data();
    munmap(before, kBytes);
    memory = map(before);
    if (memory.data() == before) ++same_place;
  }
  munmap(memory.data(), kBytes);
  EXPECT_GT(same_place, 900);
  EXPECT_EQ(cache_->stats().misses, 1000u);
  EXPECT_EQ(cache_->stats().hits, 1000u);
}

TEST_F(RealCache, memory_freed_and_allocated_at_the_same_place_is_registered_anew) {
  void* before = nullptr;
  std::uint64_t key_before = 0;
  int same_place = 0;
  for (int i = 0; i < 100; ++i) {
    // Above what malloc ever takes from its heap: each has a mapping of its own.
    constexpr std::size_t kBig = std::size_t{40} << 20;
    auto* const block = static_cast<std::byte*>(std::malloc(kBig));
    ASSERT_NE(block, nullptr);
    block[0] = std::byte{1};
    const std::uint64_t key = cache_->acquire({block, kBig}).key().key;
    if (block == before) {
      ++same_place;
      ASSERT_NE(key, key_before);
    }
    before = block;
    key_before = key;
    std::free(block);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_GT(same_place, 0);
#endif
}

// Small blocks come from the heap: it stays mapped, and so do registrations.
TEST_F(RealCache, small_blocks_are_registered_once) {
  for (int i = 0; i < 100'000; ++i) {
    auto* const block = static_cast<std::byte*>(std::malloc(100));
    ASSERT_NE(block, nullptr);
    cache_->acquire({block, 100});
    std::free(block);
  }
  const auto& stats = cache_->stats();
  EXPECT_EQ(stats.live, stats.idle);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(stats.misses, 100u);
#endif
}

}  // namespace
}  // namespace rdma
