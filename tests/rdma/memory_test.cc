#include "rdma/memory.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <array>
#include <deque>
#include <set>
#include <vector>

#include "rdma/error.h"

namespace rdma {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A domain that registers nothing and remembers what it was asked: for the ways of hardware that
// no machine of ours has.
struct FakeDomain : fid_domain {
  FakeDomain() : fid_domain{} {
    mr_calls.size = sizeof(mr_calls);
    mr_calls.reg = reg;
    mr = &mr_calls;
    region_calls.size = sizeof(region_calls);
    region_calls.close = close;
    region_calls.bind = bind;
    region_calls.control = control;
    region.fid.context = this;
    region.fid.ops = &region_calls;
    region.mem_desc = this;
    endpoint.fid.context = this;
  }

  static FakeDomain& of(struct fid* object) { return *static_cast<FakeDomain*>(object->context); }

  static int reg(struct fid* domain, const void*, std::size_t, std::uint64_t, std::uint64_t offset,
                 std::uint64_t key, std::uint64_t flags, fid_mr** made, void*) {
    auto& self = *static_cast<FakeDomain*>(reinterpret_cast<fid_domain*>(domain));
    self.keys_asked.push_back(key);
    EXPECT_EQ(offset, 0u);
    EXPECT_EQ(flags, 0u);
    int result = 0;
    if (!self.answers.empty()) {
      result = self.answers.front();
      self.answers.pop_front();
    }
    if (result != 0) return result;
    self.region.key = self.own_key != 0 ? self.own_key : key;
    *made = &self.region;
    self.calls.push_back("reg");
    return 0;
  }
  static int close(struct fid* object) {
    of(object).calls.push_back("close");
    return 0;
  }
  static int bind(struct fid* object, struct fid* to, std::uint64_t) {
    EXPECT_EQ(to, &of(object).endpoint.fid);
    of(object).calls.push_back("bind");
    return of(object).bind_result;
  }
  static int control(struct fid* object, int command, void*) {
    EXPECT_EQ(command, FI_ENABLE);
    of(object).calls.push_back("enable");
    return 0;
  }

  MemoryRules rules(int mode, std::size_t key_bytes = 8) {
    return {.domain = this, .provider = "fake", .mode = mode, .key_bytes = key_bytes};
  }

  fi_ops_mr mr_calls{};
  fi_ops region_calls{};
  fid_mr region{};
  fid_ep endpoint{};
  std::vector<std::uint64_t> keys_asked;
  std::vector<std::string> calls;
  std::deque<int> answers;  // of the next registrations; then 0
  std::uint64_t own_key = 0;
  int bind_result = 0;
};

std::string sentence(const MemoryRules& rules, std::span<std::byte> range) {
  try {
    const Memory memory(rules, range, FI_REMOTE_WRITE);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class MemoryOf : public testing::Test {
 protected:
  Memory make(int mode, std::size_t key_bytes = 8) {
    return Memory(domain_.rules(mode, key_bytes), range_, FI_REMOTE_WRITE, &domain_.endpoint);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(range_.data()); }

  FakeDomain domain_;
  std::array<std::byte, 100> range_{};
};

TEST_F(MemoryOf, offsets_has_base_0) { EXPECT_EQ(make(0).key().base, 0u); }

TEST_F(MemoryOf, virtual_addresses_has_its_own_as_base) {
  EXPECT_EQ(make(FI_MR_VIRT_ADDR).key().base, address());
}

TEST_F(MemoryOf, own_keys_are_random_and_fit_the_domain) {
  for (const std::size_t bytes : {1, 2, 4, 8, 16}) {
    domain_.keys_asked.clear();
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t key = make(0, bytes).key().key;
      EXPECT_EQ(key, domain_.keys_asked.back());
    }
    const std::set<std::uint64_t> different(domain_.keys_asked.begin(), domain_.keys_asked.end());
    EXPECT_GT(different.size(), 10u) << bytes;
    if (bytes < 8) {
      EXPECT_EQ(*different.rbegin() >> (8 * bytes), 0u);
    }
  }
}

TEST_F(MemoryOf, a_providers_keys_are_passed_on) {
  domain_.own_key = 77;
  EXPECT_EQ(make(FI_MR_PROV_KEY).key().key, 77u);
  EXPECT_THAT(domain_.keys_asked, ElementsAre(0u));
}

TEST_F(MemoryOf, a_key_that_is_taken_is_replaced_by_another) {
  domain_.answers = {-FI_ENOKEY, -FI_ENOKEY};
  const std::uint64_t key = make(0).key().key;
  EXPECT_EQ(key, domain_.keys_asked[2]);
  EXPECT_NE(domain_.keys_asked[0], domain_.keys_asked[1]);
}

TEST_F(MemoryOf, no_free_key_is_said) {
  domain_.answers.assign(10000, -FI_ENOKEY);
  EXPECT_THAT(sentence(domain_.rules(0), range_), HasSubstr("every memory key is taken"));
  EXPECT_LT(domain_.keys_asked.size(), 1000u);
  domain_.keys_asked.clear();
  EXPECT_THAT(sentence(domain_.rules(FI_MR_PROV_KEY), range_), HasSubstr("every memory key"));
  EXPECT_EQ(domain_.keys_asked.size(), 1u);
}

TEST_F(MemoryOf, pinned_memory_short_is_said_with_the_limit) {
  for (const int code : {FI_ENOMEM, FI_EPERM, FI_EAGAIN}) {
    domain_.answers = {-code};
    EXPECT_THAT(sentence(domain_.rules(0), range_),
                AllOf(HasSubstr("100 bytes"), HasSubstr("fake"), HasSubstr("ulimit -l")));
    domain_.answers = {-code};
    EXPECT_THAT([&] { make(0); }, testing::Throws<Error>(testing::Field(&Error::code, FI_ENOMEM)));
  }
}

TEST_F(MemoryOf, an_endpoint_is_bound_then_enabled_then_closed) {
  make(FI_MR_ENDPOINT);
  EXPECT_THAT(domain_.calls, ElementsAre("reg", "bind", "enable", "close"));
}

TEST_F(MemoryOf, a_failed_bind_leaves_nothing_registered) {
  domain_.bind_result = -FI_EINVAL;
  EXPECT_THROW(make(FI_MR_ENDPOINT), Error);
  EXPECT_THAT(domain_.calls, ElementsAre("reg", "bind", "close"));
}

TEST_F(MemoryOf, a_missing_endpoint_is_said) {
  EXPECT_THAT(sentence(domain_.rules(FI_MR_ENDPOINT), range_), HasSubstr("endpoint"));
  EXPECT_THAT(domain_.calls, ElementsAre());
}

TEST_F(MemoryOf, local_keys_gives_a_descriptor) {
  EXPECT_EQ(make(FI_MR_LOCAL).descriptor(), &domain_);
  EXPECT_EQ(make(0).descriptor(), nullptr);
}

TEST_F(MemoryOf, keys_of_a_bad_size_are_refused) {
  EXPECT_THAT(sentence(domain_.rules(FI_MR_PROV_KEY, 16), range_), HasSubstr("16 bytes"));
  EXPECT_THAT(sentence(domain_.rules(0, 0), range_), HasSubstr("0 bytes"));
  EXPECT_TRUE(domain_.keys_asked.empty());
}

TEST_F(MemoryOf, a_key_that_cannot_be_had_is_refused) {
  domain_.own_key = FI_KEY_NOTAVAIL;
  EXPECT_THAT(sentence(domain_.rules(FI_MR_PROV_KEY), range_), HasSubstr("use another provider"));
  EXPECT_THAT(domain_.calls, ElementsAre("reg", "close"));
}

TEST_F(MemoryOf, this_side_only_needs_no_key) {
  domain_.own_key = FI_KEY_NOTAVAIL;
  const Memory memory(domain_.rules(FI_MR_PROV_KEY | FI_MR_LOCAL), range_, FI_SEND | FI_RECV);
  EXPECT_EQ(memory.descriptor(), &domain_);
}

TEST_F(MemoryOf, no_bytes_is_refused) {
  EXPECT_THAT(sentence(domain_.rules(0), {}), HasSubstr("register at least one"));
}

TEST_F(MemoryOf, closes_once_when_moved) {
  {
    Memory first = make(0);
    const Memory second = std::move(first);
  }
  EXPECT_THAT(domain_.calls, ElementsAre("reg", "close"));
}

}  // namespace
}  // namespace rdma
