// FabricLink alone: access to registered memory outside the segment, over every provider.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/am/link/fabric_pair.h"
#include "tests/rdma/no_userfaultfd.h"
#include "tests/support/providers.h"
#include "tests/support/seed.h"

namespace am::link {
namespace registered_test {

using test::Fatal;
using test::Pair;
using testing::AnyOf;
using testing::HasSubstr;

struct Flag : Completion {
  Flag() {
    done = [](Completion& completion) { ++static_cast<Flag&>(completion).times; };
  }
  int times = 0;
};

std::vector<std::byte> noise(std::size_t bytes) {
  static std::mt19937_64 random(::test::seed());
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t) + 1);
  std::ranges::generate(words, random);
  std::vector<std::byte> made(bytes);
  if (bytes != 0) std::memcpy(made.data(), words.data(), bytes);
  return made;
}

class Registered : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { open({}); }
  void open(const test::Side::Options& options) {
    registration_ = nullptr;
    pair_.reset();
    pair_.emplace(GetParam(), options);
    if (!a().can().rma) GTEST_SKIP() << "no RMA";
  }

  FabricLink& a() { return pair_->a.link(); }
  FabricLink& b() { return pair_->b.link(); }

  // By a, of memory that b has registered.
  void read(const RemoteKey& at, std::span<std::byte> to) {
    Flag done;
    pair_->poll_until([&] { return a().try_access(RmaAccess::read(1, at, to), done); });
    pair_->poll_until([&] { return done.times != 0; });
    EXPECT_EQ(done.times, 1);
  }
  void write(const RemoteKey& at, std::span<const std::byte> from) {
    Flag done;
    pair_->poll_until([&] { return a().try_access(RmaAccess::write(1, at, from), done); });
    pair_->poll_until([&] { return done.times != 0; });
    EXPECT_EQ(done.times, 1);
  }
  // Sizes of all kinds, at odd places, with guards around them.
  void write_and_read_back() {
    for (const std::size_t bytes : {1, 7, 8, 9, 200, 4097, 100'000, 1'000'001}) {
      SCOPED_TRACE(bytes);
      const std::vector<std::byte> sent = noise(bytes);
      std::vector<std::byte> target = noise(bytes + 32), back = noise(bytes + 32);
      std::vector<std::byte> target_wanted = target, back_wanted = back;
      std::ranges::copy(sent, target_wanted.begin() + 13);
      std::ranges::copy(sent, back_wanted.begin() + 5);
      const auto registration = b().can().registrar->register_memory(target);
      write(registration->key() + 13, sent);
      EXPECT_TRUE(target == target_wanted);
      read(registration->key() + 13, std::span(back).subspan(5, bytes));
      EXPECT_TRUE(back == back_wanted);
    }
  }
  // What the job ends with.
  template <class Access>
  std::string last_words(Access&& access) {
    try {
      access();
    } catch (const Fatal& fatal) {
      return fatal.what();
    }
    return "none";
  }
  // These providers of libfabric 1.17 never answer an access that they refuse.
  bool is_silent() const { return GetParam() == "shm" || GetParam() == "udp;ofi_rxd"; }

  std::optional<Pair> pair_;
  std::unique_ptr<Registration> registration_;  // of b
};

// What has nothing to do with the provider.
class RegisteredAnywhere : public Registered {};

const auto kRefused = AnyOf(HasSubstr("rank 1 refused an access to its memory"),
                            HasSubstr("was to memory that is not registered there"));

TEST_P(Registered, memory_is_written_and_read) { write_and_read_back(); }

TEST_P(Registered, memory_is_accessed_where_local_memory_has_to_be_registered_too) {
  open({.local_keys = true});
  write_and_read_back();
  EXPECT_GT(a().can().registrar->registration_stats().misses, 0u);
  EXPECT_EQ(a().can().registrar->registration_stats().used, 0u);
}

TEST_P(Registered, long_accesses_are_cut) {
  open({.local_keys = true, .longest_access = 1000});
  EXPECT_LE(a().can().ordered_write, 1000u);
  // Many at once, so that pieces find no room.
  constexpr std::size_t kCount = 200, kBytes = 7'500;
  std::vector<std::byte> theirs(kCount * kBytes);
  const std::vector<std::byte> mine = noise(kCount * kBytes);
  const auto registration = b().can().registrar->register_memory(theirs);
  std::vector<Flag> done(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto part = std::span(mine).subspan(i * kBytes, kBytes);
    const RemoteKey at = registration->key() + i * kBytes;
    pair_->poll_until([&] { return a().try_access(RmaAccess::write(1, at, part), done[i]); });
  }
  pair_->poll_until([&] { return !a().busy(); });
  EXPECT_TRUE(theirs == mine);
  EXPECT_EQ(a().stats().sent.pieces, kCount * 7) << "the last ones are not counted";
  std::vector<std::byte> back(1500);
  read(registration->key() + 123'456, back);
  EXPECT_TRUE(std::ranges::equal(back, std::span(mine).subspan(123'456, 1500)));
  for (const Flag& one : done) EXPECT_EQ(one.times, 1);
}

// The word comes when all bytes are there.
TEST_P(Registered, long_puts_are_cut) {
  open({.local_keys = true, .longest_access = 1000});
  constexpr std::size_t kCount = 100, kBytes = 7'500;
  static_assert(kCount * kBytes <= test::Side::kSegment);
  const std::vector<std::byte> mine = noise(kCount * kBytes);
  std::vector<Flag> done(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto part = std::span(mine).subspan(i * kBytes, kBytes);
    const auto put = RmaAccess::notify(1, RemoteKey::in_segment(i * kBytes), part, i);
    pair_->poll_until([&] { return a().try_access(put, done[i]); });
  }
  std::size_t seen = 0;
  const auto& words = pair_->b.arrivals();
  pair_->poll_until([&] {
    for (; seen < words.size(); ++seen) {
      const std::size_t at = words[seen] * kBytes;
      EXPECT_TRUE(std::ranges::equal(pair_->b.segment().subspan(at, kBytes),
                                     std::span(mine).subspan(at, kBytes)));
    }
    return seen == kCount && !a().busy();
  });
  EXPECT_EQ(a().stats().sent.pieces, kCount * 7) << "the last ones are not counted";
  for (const Flag& one : done) EXPECT_EQ(one.times, 1);
}

TEST_P(RegisteredAnywhere, parts_of_the_segment_cost_nothing) {
  const auto part = pair_->b.segment().subspan(1000, 500);
  const auto registration = b().can().registrar->register_memory(part);
  const std::vector<std::byte> sent = noise(500);
  write(registration->key(), sent);
  EXPECT_TRUE(std::ranges::equal(part, sent));
  EXPECT_EQ(b().can().registrar->registration_stats().used, 0u);
  EXPECT_EQ(b().can().registrar->registration_stats().misses, 0u);
}

TEST_P(RegisteredAnywhere, memory_is_registered_once_for_many_uses) {
  std::vector<std::byte> memory(100'000);
  const RegistrationStats before = b().can().registrar->registration_stats();
  for (int i = 0; i < 20'000; ++i) {
    const auto whole = b().can().registrar->register_memory(memory);
    const auto part =
        b().can().registrar->register_memory(std::span(memory).subspan(i, 1 + i % 10'000));
    ASSERT_EQ(part->key(), whole->key() + i);
  }
  const RegistrationStats after = b().can().registrar->registration_stats();
  EXPECT_EQ(after.used, before.used);
  if (!after.not_kept.empty()) GTEST_SKIP() << after.not_kept;
  EXPECT_EQ(after.misses, 1u);
  EXPECT_EQ(after.kept, 1u);
}

// As a program does that has freed it and allocated anew.
TEST_P(Registered, memory_that_is_mapped_again_at_its_place_is_reached) {
  constexpr std::size_t kBytes = 1 << 16;
  const auto map = [](void* at) {
    const int fixed = at == nullptr ? 0 : MAP_FIXED;
    void* const mapped =
        mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    return std::span(static_cast<std::byte*>(mapped), kBytes);
  };
  std::span<std::byte> memory = map(nullptr);
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    registration_ = b().can().registrar->register_memory(memory);
    EXPECT_NE(registration_->key().key, last);
    last = registration_->key().key;
    const std::vector<std::byte> sent = noise(kBytes);
    write(registration_->key(), sent);
    EXPECT_TRUE(std::ranges::equal(memory, sent));
    registration_ = nullptr;
    memory = map(memory.data());
  }
  EXPECT_EQ(b().can().registrar->registration_stats().used, 0u);
  munmap(memory.data(), kBytes);
}

TEST_P(Registered, local_memory_may_be_deregistered_while_it_is_written_from) {
  open({.local_keys = true});
  std::vector<std::byte> theirs(1'000'000);
  std::vector<std::byte> mine = noise(theirs.size());
  const auto registration = b().can().registrar->register_memory(theirs);
  auto local = a().can().registrar->register_memory(mine);
  Flag done;
  const auto write = RmaAccess::write(1, registration->key(), mine);
  pair_->poll_until([&] { return a().try_access(write, done); });
  local->revoke();
  local = nullptr;
  EXPECT_EQ(a().can().registrar->registration_stats().used, 1u);
  pair_->poll_until([&] { return done.times != 0; });
  EXPECT_TRUE(theirs == mine);
  EXPECT_EQ(a().can().registrar->registration_stats().used +
                a().can().registrar->registration_stats().kept,
            0u);
}

// What a process does that may not watch its memory; ends it.
void register_unwatched() {
  if (!rdma::test::forbid_userfaultfd()) _exit(2);
  Pair pair("net");
  std::vector<std::byte> memory(1000);
  pair.b.link().can().registrar->register_memory(memory);
  const RegistrationStats stats = pair.b.link().can().registrar->registration_stats();
  std::fputs(stats.not_kept.c_str(), stderr);
  _exit(stats.misses == 1 && stats.used + stats.kept == 0 ? 0 : 1);
}

TEST(RegisteredDeathTest, memory_is_not_kept_where_nobody_watches_it) {
  EXPECT_EXIT(register_unwatched(), testing::ExitedWithCode(0), "cannot notice when");
}

TEST_P(RegisteredAnywhere, no_bytes_are_refused) {
  std::vector<std::byte> memory(10);
  try {
    b().can().registrar->register_memory(std::span(memory).first(0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 1: register_memory: no bytes"));
  }
}

TEST_P(RegisteredAnywhere, nothing_can_be_without_access_to_memory) {
  pair_.reset();
  pair_.emplace(GetParam(), test::Side::Options{.use_rma = false});
  EXPECT_FALSE(b().can().rma);
  EXPECT_EQ(b().can().registrar, nullptr);
}

TEST_P(Registered, a_key_of_memory_that_was_deregistered_ends_the_job) {
  if (is_silent()) GTEST_SKIP() << GetParam() << " does not say";
  std::vector<std::byte> theirs(1'000'000), mine(1'000'000);
  const auto stale = [&] {
    open({});
    const auto registration = b().can().registrar->register_memory(theirs);
    registration->revoke();
    return registration->key();
  };
  EXPECT_THAT(last_words([&] { read(stale(), std::span(mine).first(100)); }), kRefused);
  EXPECT_THAT(last_words([&] { write(stale(), mine); }), kRefused);
}

TEST_P(Registered, an_access_beyond_its_end_ends_the_job) {
  if (is_silent()) GTEST_SKIP() << GetParam() << " does not say";
  std::vector<std::byte> theirs(100), mine(100);
  registration_ = b().can().registrar->register_memory(theirs);
  const RemoteKey key = registration_->key() + 1;
  EXPECT_THAT(last_words([&] { write(key, mine); }), kRefused);
}

INSTANTIATE_TEST_SUITE_P(Over, RegisteredAnywhere, testing::Values("net"));

INSTANTIATE_TEST_SUITE_P(Over, Registered, ::test::software_providers(), ::test::provider_name);

}  // namespace registered_test
}  // namespace am::link
