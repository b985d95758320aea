#include "rdma/open_fabric.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "rdma/error.h"
#include "rdma/memory.h"
#include "tests/support/providers.h"

namespace rdma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Fabric open(const Fabric::Options& options) {
  return Fabric(options, Fabric::candidates(options).front().way);
}

std::string sentence(const Fabric::Options& options) {
  try {
    Fabric::candidates(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string name_of_down_interface() {
  for (const Interface& one : interfaces()) {
    if (!one.up) return one.name;
  }
  return "";
}

TEST(Fabric, candidates_are_different_ways) {
  const auto all = Fabric::candidates({.one_host = true});
  ASSERT_FALSE(all.empty());
  EXPECT_LE(all.size(), Fabric::kMaxCandidates);
  std::set<std::uint64_t> keys;
  for (const Fabric::Candidate& one : all) EXPECT_TRUE(keys.insert(one.way.key).second);
  EXPECT_EQ(keys.count(0), 0u);
}

TEST(Fabric, candidates_are_the_same_when_asked_again) {
  const auto first = Fabric::candidates({.one_host = true});
  const auto second = Fabric::candidates({.one_host = true});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].way, second[i].way);
}

TEST(Fabric, opens_every_candidate_that_it_lists) {
  const Fabric::Options options{.one_host = true};
  for (const Fabric::Candidate& one : Fabric::candidates(options)) {
    const Fabric fabric(options, one.way);
    EXPECT_EQ(fabric.candidate().way, one.way);
    EXPECT_STREQ(fabric.info().fabric_attr->prov_name, one.provider.c_str());
  }
}

TEST(Fabric, refuses_a_way_that_is_not_there) {
  EXPECT_THROW(Fabric({.one_host = true}, Way{12345}), Error);
}

TEST(Fabric, an_unknown_provider_is_answered_with_those_there_are) {
  EXPECT_THAT(sentence({.provider = "quantum"}),
              AllOf(HasSubstr("no provider quantum"), HasSubstr("tcp;ofi_rxm")));
}

TEST(Fabric, an_unknown_interface_is_answered_with_those_that_are_up) {
  EXPECT_THAT(sentence({.interface = "quantum0"}),
              AllOf(HasSubstr("quantum0"), HasSubstr("interfaces that are up: ")));
}

TEST(Fabric, an_interface_that_is_down_is_said_to_be) {
  const std::string name = name_of_down_interface();
  if (name.empty()) GTEST_SKIP() << "no interface is down here";
  EXPECT_THAT(sentence({.interface = name}), HasSubstr("the interface " + name + " is down"));
}

TEST(Fabric, opens_a_provider_on_whichever_network) {
  const Fabric::Options options{.provider = "tcp;ofi_rxm"};
  Way way;
  try {
    way = Fabric::candidates(options).front().way;
  } catch (const Error& error) {
    GTEST_SKIP() << "only loopback here: " << error.what();
  }
  const Fabric fabric(options, way.any_network());
  EXPECT_EQ(fabric.candidate().provider, "tcp;ofi_rxm");
  EXPECT_THAT(fabric.describe(), HasSubstr("routed"));
}

TEST(Fabric, asks_for_a_thread_safe_domain_when_told) {
  const Fabric::Options options{.provider = "tcp;ofi_rxm", .one_host = true, .thread_safe = true};
  EXPECT_EQ(open(options).info().domain_attr->threading, FI_THREAD_SAFE);
  EXPECT_EQ(open({.provider = "tcp;ofi_rxm", .one_host = true}).info().domain_attr->threading,
            FI_THREAD_DOMAIN);
}

// Each provider that a machine without special hardware has. "net": by that or its later name, tcp.
class Provider : public testing::TestWithParam<std::string> {
 protected:
  Provider() : options_{.provider = GetParam(), .one_host = true} {}

  void SetUp() override {
    try {
      name_ = Fabric::candidates(options_).front().provider;
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  Fabric::Options options_;
  std::string name_;  // as this libfabric has it
};

TEST_P(Provider, is_the_one_that_was_named) {
  EXPECT_TRUE(name_ == GetParam() || (GetParam() == "net" && name_ == "tcp")) << name_;
}

TEST_P(Provider, opens_and_has_what_is_needed) {
  const Fabric fabric = open(options_);
  EXPECT_NE(fabric.domain(), nullptr);
  EXPECT_NE(fabric.fabric(), nullptr);
  EXPECT_TRUE(fabric.has_rma());
  EXPECT_EQ(fabric.has_usable_rma(), GetParam() != "udp;ofi_rxd");  // whose may hang
  EXPECT_GE(fabric.inject_bytes(), fabric.most_sends() == Fabric::kRefusesMore ? 64u : 0u);
  EXPECT_NE(fabric.info().tx_attr->msg_order & FI_ORDER_SAS, 0u);
  EXPECT_NE(fabric.info().rx_attr->msg_order & FI_ORDER_SAS, 0u);
  EXPECT_EQ(fabric.info().ep_attr->type, FI_EP_RDM);
}

TEST_P(Provider, orders_writes_where_that_is_free) {
  EXPECT_EQ(open(options_).write_before_send(), GetParam() != "shm");
}

TEST_P(Provider, describes_itself_in_one_line) {
  const Fabric fabric = open(options_);
  EXPECT_THAT(fabric.describe(),
              AllOf(testing::StartsWith(name_ + " on "), HasSubstr(", RMA"),
                    HasSubstr("inject " + std::to_string(fabric.inject_bytes()) + " B"),
                    HasSubstr("provider as named"), testing::Not(HasSubstr("\n"))));
}

TEST_P(Provider, registers_memory) {
  const Fabric fabric = open(options_);
  std::array<std::byte, 8192> bytes;
  const Memory memory(fabric, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
  const bool by_address = (fabric.info().domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  EXPECT_EQ(memory.key().base, by_address ? reinterpret_cast<std::uintptr_t>(bytes.data()) : 0);
  EXPECT_EQ(memory.descriptor() != nullptr, fabric.needs_local_keys());
  const Memory again(fabric, bytes, FI_REMOTE_READ | FI_REMOTE_WRITE);
  EXPECT_NE(memory.key().key, again.key().key);
}

TEST_P(Provider, gives_descriptors_when_they_are_claimed_to_be_needed) {
  options_.claim_local_keys = true;
  const Fabric fabric = open(options_);
  std::array<std::byte, 64> bytes;
  const Memory memory(fabric, bytes, FI_SEND | FI_RECV);
  EXPECT_TRUE(fabric.needs_local_keys());
  EXPECT_NE(memory.descriptor(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Software, Provider, ::test::software_providers(), ::test::provider_name);

}  // namespace
}  // namespace rdma
