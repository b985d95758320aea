#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "rdma/choose.h"
#include "rdma/error.h"

namespace rdma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Way way(const std::string& provider, const std::string& subnet) {
  const std::string address = subnet.substr(0, subnet.find('/'));
  return way_of({provider, subnet, "eth0", "eth0", address, ""});
}

const Way kNetA = way("net", "10.1.0.0/24");
const Way kNetB = way("net", "10.2.0.0/24");
const Way kRxmA = way("tcp;ofi_rxm", "10.1.0.0/24");
const Way kRxmB = way("tcp;ofi_rxm", "10.2.0.0/24");
const Way kCxi = way_of({"cxi", "cxi", "cxi0", "cxi0", "", ""});
const Way kLinkA = way("net", "169.254.1.0/24");
const Way kLinkB = way("net", "169.254.2.0/24");

std::string sentence(const std::vector<std::vector<Way>>& lists,
                     const std::vector<Candidate>& mine = {}) {
  try {
    common_way(lists, mine);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommonWay, of_one_process_is_its_best) { EXPECT_EQ(common_way({{kNetA, kRxmA}}), kNetA); }

TEST(CommonWay, is_the_best_of_rank_0_that_all_have) {
  EXPECT_EQ(common_way({{kCxi, kNetA, kRxmA}, {kNetB, kRxmA, kNetA}, {kNetA, kRxmA}}), kNetA);
  EXPECT_EQ(common_way({{kCxi, kNetA, kRxmA}, {kNetB, kRxmA, kNetA}, {kCxi, kRxmA}}), kRxmA);
}

TEST(CommonWay, prefers_one_network_to_routing) {
  EXPECT_EQ(common_way({{kNetA, kRxmA}, {kNetB, kRxmA}}), kRxmA);
}

TEST(CommonWay, falls_back_to_one_provider_on_routed_networks) {
  const Way routed = common_way({{kCxi, kNetA, kRxmA}, {kNetB, kRxmB}, {kNetA}});
  EXPECT_TRUE(routed.is_any_network());
  EXPECT_TRUE(routed.includes(kNetA));
  EXPECT_TRUE(routed.includes(kNetB));
  EXPECT_FALSE(routed.includes(kRxmA));
}

TEST(CommonWay, does_not_route_what_stays_on_a_link) {
  EXPECT_THROW(common_way({{kLinkA}, {kLinkB}}), Error);
  EXPECT_THROW(common_way({{kNetA}, {kLinkB}}), Error);
}

TEST(CommonWay, names_the_ranks_that_are_apart) {
  const std::vector<Candidate> mine = {{kCxi, "cxi", "cxi", "cxi0"},
                                       {kNetA, "net", "10.1.0.0/24", "eth0"}};
  EXPECT_THAT(
      sentence({{kCxi, kNetA}, {kNetA}, {kRxmB}, {kNetA}, {kRxmA}}, mine),
      AllOf(HasSubstr("common to all 5 processes"), HasSubstr("net on the network 10.1.0.0/24"),
            HasSubstr("ranks 2, 4 "), HasSubstr("same provider")));
  EXPECT_THAT(sentence({{kNetA}, {kRxmA}}), HasSubstr("rank 1 "));
}

TEST(CommonWay, does_not_list_a_thousand_ranks) {
  std::vector<std::vector<Way>> lists(1000, {kRxmB});
  lists[0] = {kNetA};
  EXPECT_THAT(sentence(lists), HasSubstr("ranks 1, 2, 3, 4, 5, 6, 7, 8 and 991 more"));
}

TEST(CommonWay, says_who_has_no_network) {
  EXPECT_THAT(sentence({{kNetA}, {}, {}}), HasSubstr("no network at all at ranks 1, 2"));
  EXPECT_THAT(sentence({{}, {kNetA}}), HasSubstr("rank 0"));
  EXPECT_THROW(common_way({}), Error);
}

TEST(CommonWay, says_why_a_provider_may_be_on_loopback_alone) {
  const Way loopback{0x100000001}, other{0x200000002};
  const Candidate mine[] = {{loopback, "sockets", "127.0.0.1/32", "lo"}};
  EXPECT_THAT(
      [&] {
        common_way({{loopback}, {other}}, mine);
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "sockets does not protect a job from strangers, and is used beyond loopback only "
          "on an interface that is named")));
}

}  // namespace
}  // namespace rdma
