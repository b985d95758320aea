#include "rdma/interface.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace rdma {
namespace {

TEST(Interface, loopback_is_listed) {
  const std::vector<Interface> all = interfaces();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Interface::name));
  const auto lo = std::ranges::find(all, true, &Interface::loopback);
  if (lo == all.end() || !lo->up) GTEST_SKIP() << "loopback is not up here";
  EXPECT_THAT(lo->addresses, testing::Contains(testing::ResultOf(loopback, true)));
  EXPECT_EQ(lo->kind, "");
  EXPECT_FALSE(lo->default_route);
}

TEST(Interface, virtual_ones_are_known_by_name_or_as_bridges) {
  for (const char* name : {"docker0", "br-0a1b2c3d4e5f", "virbr0", "veth1a2b3c", "cni0",
                           "flannel.1", "ifb0", "cali12ab", "podman1", "lxcbr0", "vboxnet0"}) {
    EXPECT_NE(virtual_kind(name, false), "") << name;
  }
  for (const char* name : {"eth0", "enp3s0", "ib0", "bond0", "lo", "br0", "wlan0", "hsn0"}) {
    EXPECT_EQ(virtual_kind(name, false), "") << name;
  }
  EXPECT_EQ(virtual_kind("br0", true), "a bridge");
}

TEST(Interface, subnets_hold_their_addresses) {
  EXPECT_TRUE(in_subnet("192.0.2.77", "192.0.2.0/24"));
  EXPECT_TRUE(in_subnet("192.0.3.77", "192.0.2.0/23"));
  EXPECT_FALSE(in_subnet("192.0.3.77", "192.0.2.0/24"));
  EXPECT_TRUE(in_subnet("8.8.8.8", "0.0.0.0/0"));
  EXPECT_TRUE(in_subnet("fd00::17", "fd00::/64"));
  EXPECT_FALSE(in_subnet("fd01::17", "fd00::/64"));
  EXPECT_TRUE(in_subnet("192.0.2.7", "192.0.2.7"));
  EXPECT_TRUE(in_subnet("fd00::a", "FD00:0::A"));
  EXPECT_FALSE(in_subnet("192.0.2.7", "192.0.2.8"));
}

TEST(Interface, nonsense_holds_no_address) {
  for (const char* subnet : {"", "/", "/24", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1",
                             "192.0.2.0/24x", "eth0", "fd00::/24", "300.0.0.0/8"}) {
    EXPECT_FALSE(in_subnet("192.0.2.7", subnet)) << subnet;
  }
  EXPECT_FALSE(in_subnet("", "0.0.0.0/0"));
  EXPECT_FALSE(in_subnet("", ""));
}

TEST(Interface, loopback_addresses_are_known) {
  EXPECT_TRUE(loopback("127.0.0.1"));
  EXPECT_TRUE(loopback("127.1.2.3"));
  EXPECT_TRUE(loopback("::1"));
  EXPECT_FALSE(loopback("::2"));
  EXPECT_FALSE(loopback("128.0.0.1"));
  EXPECT_FALSE(loopback(""));
}

TEST(Interface, link_local_addresses_are_known) {
  EXPECT_TRUE(link_local("fe80::1"));
  EXPECT_TRUE(link_local("169.254.9.9"));
  EXPECT_FALSE(link_local("fd00::1"));
  EXPECT_FALSE(link_local("192.0.2.7"));
  EXPECT_FALSE(link_local(""));
}

TEST(Interface, default_routes_are_read_as_the_kernel_writes_them) {
  std::istringstream ipv4(
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth1\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "eth2\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0\n");
  EXPECT_THAT(default_routes(ipv4), testing::ElementsAre("eth0"));
  const std::string zero(32, '0');
  const std::string end = " " + zero + " 00 " + zero + " 00000400 00000001 00000000 00000003 ";
  std::istringstream ipv6(zero + " 00" + end + "eth3\n" + zero + " 00" + end + "lo\n" +
                          "fd000000000000000000000000000000 40" + end + "eth4\n" + zero + " 80" +
                          end + "eth5\n");
  EXPECT_THAT(default_routes(ipv6), testing::ElementsAre("eth3"));
}

}  // namespace
}  // namespace rdma
