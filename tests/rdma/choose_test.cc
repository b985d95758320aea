#include "rdma/choose.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "rdma/error.h"

namespace rdma {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<Interface> kMachine = {
    {.name = "docker0", .addresses = {"172.17.0.1"}, .up = true, .kind = "a container bridge"},
    {.name = "eth0",
     .addresses = {"10.1.0.2", "fd00::2", "fe80::2"},
     .up = true,
     .default_route = true},
    {.name = "eth1", .addresses = {"10.2.0.2"}, .up = true},
    {.name = "eth2", .addresses = {"10.3.0.2"}, .up = false},
    {.name = "eth3", .addresses = {}, .up = true},
    {.name = "lo", .addresses = {"127.0.0.1"}, .up = true, .loopback = true},
};

Offer offer(const std::string& provider, const std::string& interface, const std::string& address,
            const std::string& network) {
  return {.provider = provider,
          .network = network,
          .device = interface,
          .interface = interface,
          .address = address,
          .host = interface == "lo" ? "this" : ""};
}

// What a provider over IP offers on kMachine, worst first.
std::vector<Offer> everywhere(const std::string& provider) {
  return {offer(provider, "docker0", "172.17.0.1", "172.17.0.0/16"),
          offer(provider, "lo", "127.0.0.1", "127.0.0.1/32"),
          offer(provider, "eth0", "fe80::2", "fe80::/64"),
          offer(provider, "eth0", "fd00::2", "fd00::/64"),
          offer(provider, "eth2", "10.3.0.2", "10.3.0.0/24"),
          offer(provider, "eth0", "10.1.0.2", "10.1.0.0/24"),
          offer(provider, "eth1", "10.2.0.2", "10.2.0.0/24")};
}

const Offer kShm = {"shm", "shm", "shm", "shm", "", "this"};

// "provider interface address" of what is chosen, best first.
std::vector<std::string> chosen(const std::vector<Offer>& offers, const FabricOptions& options) {
  std::vector<std::string> text;
  for (const std::size_t i : choose(offers, options, kMachine).order) {
    text.push_back(offers[i].provider + " " + offers[i].interface + " " + offers[i].address);
  }
  return text;
}

std::string sentence(const std::vector<Offer>& offers, const FabricOptions& options) {
  try {
    choose(offers, options, kMachine);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Choose, takes_hardware_before_tcp_before_emulation) {
  std::vector<Offer> offers;
  for (const char* provider :
       {"udp;ofi_rxd", "sockets", "unknown", "tcp;ofi_rxm", "net", "tcp", "verbs;ofi_rxm", "cxi"}) {
    offers.push_back(offer(provider, "eth0", "10.1.0.2", "10.1.0.0/24"));
  }
  EXPECT_THAT(chosen(offers, {.interface = "eth0"}),
              ElementsAre("cxi eth0 10.1.0.2", "verbs;ofi_rxm eth0 10.1.0.2", "tcp eth0 10.1.0.2",
                          "net eth0 10.1.0.2", "tcp;ofi_rxm eth0 10.1.0.2", "sockets eth0 10.1.0.2",
                          "udp;ofi_rxd eth0 10.1.0.2", "unknown eth0 10.1.0.2"));
}

TEST(Choose, leaves_out_what_reaches_nobody) {
  EXPECT_THAT(chosen(everywhere("net"), {}),
              ElementsAre("net eth0 10.1.0.2", "net eth1 10.2.0.2", "net eth0 fd00::2"));
}

// sockets and udp;ofi_rxd believe whoever names a small number.
TEST(Choose, a_provider_that_does_not_protect_is_on_loopback_unless_an_interface_is_named) {
  for (const std::string provider : {"sockets", "udp;ofi_rxd"}) {
    const std::vector<Offer> offers = everywhere(provider);
    EXPECT_THAT(chosen(offers, {.one_host = true}), ElementsAre(provider + " lo 127.0.0.1"));
    EXPECT_THAT(chosen(offers, {.provider = provider, .one_host = true}),
                ElementsAre(provider + " lo 127.0.0.1"));
    EXPECT_THAT(chosen(offers, {.interface = "eth1"}), ElementsAre(provider + " eth1 10.2.0.2"));
    EXPECT_THAT(sentence(offers, {.provider = provider}),
                AllOf(HasSubstr("no network can be used with the provider " + provider),
                      HasSubstr("eth0 is open to other machines, and " + provider +
                                " does not protect a job from strangers there"),
                      HasSubstr("name an interface to use it all the same")));
  }
}

TEST(Choose, a_provider_without_addresses_of_ip_is_known_to_be_on_loopback_by_its_interface) {
  std::vector<Offer> offers = {offer("udp;ofi_rxd", "lo", "", "127.0.0.1/32"),
                               offer("udp;ofi_rxd", "eth0", "", "10.1.0.0/24")};
  EXPECT_THAT(chosen(offers, {.one_host = true}), ElementsAre("udp;ofi_rxd lo "));
}

TEST(Choose, what_does_not_protect_is_left_out_beside_what_does) {
  std::vector<Offer> offers = everywhere("sockets");
  offers.push_back(offer("tcp;ofi_rxm", "eth0", "10.1.0.2", "10.1.0.0/24"));
  EXPECT_THAT(chosen(offers, {}), ElementsAre("tcp;ofi_rxm eth0 10.1.0.2"));
}

TEST(Choose, loopback_is_best_on_one_host) {
  EXPECT_THAT(chosen(everywhere("net"), {.one_host = true}),
              ElementsAre("net lo 127.0.0.1", "net eth0 10.1.0.2", "net eth1 10.2.0.2",
                          "net eth0 fd00::2"));
}

// libfabric lists both 127.0.0.1 and ::1 everywhere.
TEST(Choose, a_loopback_address_that_is_not_configured_is_left_out) {
  const std::vector<Offer> offers = {offer("net", "lo", "127.0.0.1", "127.0.0.1/32"),
                                     offer("net", "lo", "::1", "::1/128")};
  EXPECT_THAT(chosen(offers, {.one_host = true}), ElementsAre("net lo 127.0.0.1"));
  std::vector<Interface> machine = kMachine;
  machine.back().addresses = {"::1"};
  for (const char* interface : {"", "lo", "::1"}) {
    const Choice choice = choose(offers, {.interface = interface, .one_host = true}, machine);
    ASSERT_EQ(choice.order.size(), 1u);
    EXPECT_EQ(offers[choice.order[0]].address, "::1");
  }
  machine.back().addresses = {};
  EXPECT_THAT(
      [&] { choose(offers, {.one_host = true}, machine); },
      testing::ThrowsMessage<Error>(AllOf(HasSubstr("lo does not have the address 127.0.0.1"),
                                          HasSubstr("lo does not have the address ::1"))));
}

TEST(Choose, the_provider_counts_more_than_the_network) {
  std::vector<Offer> offers = everywhere("tcp;ofi_rxm");
  offers.push_back(offer("net", "eth0", "fd00::2", "fd00::/64"));
  EXPECT_EQ(chosen(offers, {}).front(), "net eth0 fd00::2");
}

TEST(Choose, takes_tcp_without_layers_last_of_tcp_where_processes_may_die) {
  std::vector<Offer> offers;
  for (const char* provider : {"sockets", "net;ofi_rxm", "net", "tcp;ofi_rxm", "cxi"}) {
    offers.push_back(offer(provider, "eth0", "10.1.0.2", "10.1.0.0/24"));
  }
  const auto order = chosen(offers, {.interface = "eth0", .peers_may_die = true});
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(order[0], "cxi eth0 10.1.0.2");
  EXPECT_EQ(order[1], "tcp;ofi_rxm eth0 10.1.0.2");
  EXPECT_EQ(order[4], "sockets eth0 10.1.0.2");
  EXPECT_EQ(chosen(offers, {.provider = "net", .peers_may_die = true}).front(),
            "net eth0 10.1.0.2");
}

TEST(Choose, shm_is_used_only_when_named) {
  std::vector<Offer> offers = everywhere("sockets");
  offers.push_back(kShm);
  EXPECT_THAT(chosen(offers, {.one_host = true}), Not(testing::Contains("shm shm ")));
  EXPECT_THAT(chosen(offers, {.provider = "shm"}), ElementsAre("shm shm "));
}

TEST(Choose, an_interface_is_named_by_name_address_or_subnet) {
  const std::vector<Offer> offers = everywhere("net");
  EXPECT_THAT(chosen(offers, {.interface = "docker0"}), ElementsAre("net docker0 172.17.0.1"));
  EXPECT_THAT(chosen(offers, {.interface = "lo"}), ElementsAre("net lo 127.0.0.1"));
  EXPECT_THAT(chosen(offers, {.interface = "10.2.0.2"}), ElementsAre("net eth1 10.2.0.2"));
  EXPECT_THAT(chosen(offers, {.interface = "10.2.0.0/15"}), ElementsAre("net eth1 10.2.0.2"));
  EXPECT_THAT(chosen(offers, {.interface = "FD00::2"}), ElementsAre("net eth0 fd00::2"));
  EXPECT_THAT(chosen(offers, {.interface = "eth0"}),
              ElementsAre("net eth0 10.1.0.2", "net eth0 fd00::2", "net eth0 fe80::2"));
}

TEST(Choose, a_device_is_named_as_libfabric_names_it) {
  std::vector<Offer> offers = everywhere("net");
  offers.push_back({"verbs;ofi_rxm", "IB-0xfe80", "mlx5_0", "ib0", "10.8.0.2", ""});
  EXPECT_THAT(chosen(offers, {.interface = "mlx5_0"}), ElementsAre("verbs;ofi_rxm ib0 10.8.0.2"));
  EXPECT_THAT(chosen(offers, {.interface = "ib0"}), ElementsAre("verbs;ofi_rxm ib0 10.8.0.2"));
}

TEST(Choose, one_candidate_for_each_way) {
  const std::vector<Offer> offers = {offer("net", "eth0", "10.1.0.2", "10.1.0.0/24"),
                                     offer("net", "eth1", "10.1.0.3", "10.1.0.0/24"),
                                     offer("net", "eth0", "10.1.0.2", "10.1.0.0/24")};
  EXPECT_THAT(chosen(offers, {}), ElementsAre("net eth0 10.1.0.2"));
}

TEST(Choose, providers_are_named_whole_or_by_layer) {
  EXPECT_TRUE(names_provider("tcp", "tcp"));
  EXPECT_TRUE(names_provider("tcp", "net"));
  EXPECT_TRUE(names_provider("tcp", "tcp;ofi_rxm"));
  EXPECT_TRUE(names_provider("rxm", "tcp;ofi_rxm"));
  EXPECT_TRUE(names_provider("ofi_rxm", "tcp;ofi_rxm"));
  EXPECT_TRUE(names_provider("ofi_rxm;tcp", "tcp;ofi_rxm"));
  EXPECT_TRUE(names_provider("udp", "udp;ofi_rxd"));
  EXPECT_FALSE(names_provider("udp;ofi_rxm", "udp;ofi_rxd"));
  EXPECT_TRUE(names_provider("net", "tcp"));
  EXPECT_FALSE(names_provider("net", "tcp;ofi_rxm"));
  EXPECT_FALSE(names_provider("et", "net"));
}

TEST(Choose, a_whole_name_means_that_provider_only) {
  std::vector<Offer> offers = {offer("tcp;ofi_rxm", "eth0", "10.1.0.2", "10.1.0.0/24"),
                               offer("net", "eth0", "10.1.0.2", "10.1.0.0/24")};
  EXPECT_THAT(chosen(offers, {.provider = "tcp"}),
              ElementsAre("net eth0 10.1.0.2", "tcp;ofi_rxm eth0 10.1.0.2"));
  offers.push_back(offer("tcp", "eth0", "10.1.0.2", "10.1.0.0/24"));
  EXPECT_THAT(chosen(offers, {.provider = "tcp"}), ElementsAre("tcp eth0 10.1.0.2"));
  EXPECT_THAT(chosen(offers, {.provider = "net"}), ElementsAre("net eth0 10.1.0.2"));
  offers.erase(offers.begin() + 1);
  EXPECT_THAT(chosen(offers, {.provider = "net"}), ElementsAre("tcp eth0 10.1.0.2"));
}

TEST(Choose, an_unknown_provider_is_answered_with_those_there_are) {
  std::vector<Offer> offers = everywhere("net");
  offers.push_back(kShm);
  EXPECT_THAT(sentence(offers, {.provider = "quantum"}),
              AllOf(HasSubstr("no provider quantum"), HasSubstr("net, shm")));
}

// libfabric leaves it out then.
TEST(Choose, shm_that_is_not_there_is_answered_with_the_memory_that_it_needs) {
  const std::vector<Offer> offers = everywhere("net");
  EXPECT_THAT(sentence(offers, {.provider = "shm"}), HasSubstr("/dev/shm"));
  EXPECT_THAT(sentence(offers, {.provider = "quantum"}), Not(HasSubstr("/dev/shm")));
}

TEST(Choose, a_useless_interface_is_answered_with_those_that_are_up) {
  const auto says = [](const std::string& wanted, const std::string& what) {
    return testing::Matches(AllOf(HasSubstr(what), HasSubstr("up: docker0, eth0, eth1, lo")))(
        sentence(everywhere("net"), {.interface = wanted}));
  };
  EXPECT_TRUE(says("eth2", "the interface eth2 is down"));
  EXPECT_TRUE(says("10.3.0.2", "the interface eth2 (10.3.0.2) is down"));
  EXPECT_TRUE(says("eth3", "the interface eth3 has no address"));
  EXPECT_TRUE(says("eth9", "no network interface, address or subnet eth9"));
  EXPECT_TRUE(says("10.9.0.0/16", "no network interface, address or subnet 10.9.0.0/16"));
}

TEST(Choose, a_provider_that_has_nothing_on_the_interface_is_said) {
  EXPECT_THAT(sentence({kShm}, {.provider = "shm", .interface = "eth0"}),
              HasSubstr("provider shm does not use the interface eth0"));
}

TEST(Choose, each_refusal_has_its_reason) {
  const std::vector<Offer> offers = {offer("net", "docker0", "172.17.0.1", "172.17.0.0/16"),
                                     offer("net", "lo", "127.0.0.1", "127.0.0.1/32"),
                                     offer("net", "eth0", "fe80::2", "fe80::/64"),
                                     offer("net", "eth2", "10.3.0.2", "10.3.0.0/24"), kShm};
  EXPECT_THAT(sentence(offers, {}),
              AllOf(HasSubstr("docker0 is a container bridge"), HasSubstr("lo is loopback"),
                    HasSubstr("eth0 has an address of one link only"), HasSubstr("eth2 is down"),
                    HasSubstr("shm is used only when named")));
}

TEST(Choose, no_offer_at_all_is_said) {
  EXPECT_THAT(sentence({}, {}), HasSubstr("libfabric offers no network"));
  EXPECT_THAT(sentence({}, {.provider = "net"}),
              HasSubstr("offers no network with the provider net"));
}

TEST(Way, is_equal_for_one_provider_on_one_network) {
  const Offer here = offer("net", "eth0", "10.1.0.2", "10.1.0.0/24");
  const Way way = way_of(here);
  EXPECT_EQ(way, way_of(offer("net", "ens3", "10.1.0.7", "10.1.0.0/24")));
  EXPECT_NE(way, way_of(offer("tcp", "eth0", "10.1.0.2", "10.1.0.0/24")));
  EXPECT_NE(way, way_of(offer("net", "eth0", "10.2.0.2", "10.2.0.0/24")));
}

TEST(Way, loopback_and_shm_are_others_on_another_host) {
  Offer other = kShm;
  other.host = "that";
  EXPECT_NE(way_of(kShm), way_of(other));
  other = offer("net", "lo", "127.0.0.1", "127.0.0.1/32");
  const Way here = way_of(other);
  other.host = "that";
  EXPECT_NE(here, way_of(other));
  EXPECT_FALSE(here.routable());
}

TEST(Way, on_any_network_includes_routable_ones_of_its_provider_and_family) {
  const Way any = way_of(offer("net", "eth0", "10.1.0.2", "10.1.0.0/24")).any_network();
  EXPECT_TRUE(any.is_any_network());
  EXPECT_TRUE(any.includes(way_of(offer("net", "eth1", "10.2.0.2", "10.2.0.0/24"))));
  EXPECT_FALSE(any.includes(way_of(offer("tcp", "eth1", "10.2.0.2", "10.2.0.0/24"))));
  EXPECT_FALSE(any.includes(way_of(offer("net", "eth0", "fd00::2", "fd00::/64"))));
  EXPECT_FALSE(any.includes(way_of(offer("net", "lo", "127.0.0.1", "127.0.0.1/32"))));
  EXPECT_FALSE(any.includes(way_of(offer("net", "eth0", "169.254.0.2", "169.254.0.0/16"))));
}

TEST(Pick, opens_what_was_agreed_on) {
  const std::vector<Offer> offers = everywhere("net");
  const Choice choice = choose(offers, {}, kMachine);
  EXPECT_EQ(offers[pick(choice, offers, way_of(offers[6]), kMachine)].interface, "eth1");
  EXPECT_THROW(pick(choice, offers, way_of(kShm), kMachine), Error);
}

TEST(Pick, goes_by_the_default_route_when_hosts_are_routed) {
  std::vector<Interface> machine = kMachine;
  machine[1].default_route = false;
  machine[2].default_route = true;
  const std::vector<Offer> offers = everywhere("net");
  const Choice choice = choose(offers, {}, machine);
  const Way any = way_of(offers[5]).any_network();
  EXPECT_EQ(offers[pick(choice, offers, any, machine)].interface, "eth1");
  machine[2].default_route = false;
  EXPECT_EQ(offers[pick(choice, offers, any, machine)].interface, "eth0");
}

}  // namespace
}  // namespace rdma
