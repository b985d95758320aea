// libfabric, providers and interfaces, from made-up facts.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/text.h"
#include "tools/doctor/checks/checks.h"

namespace am::doctor {
namespace {

using ::test::expect_contains;

constexpr std::uint32_t version(std::uint32_t major, std::uint32_t minor) {
  return major << 16 | minor;
}

rdma::Offer offer(const std::string& provider, const std::string& interface = "eth0",
                  const std::string& address = "192.0.2.7") {
  return {.provider = provider,
          .network = interface == "lo" ? "127.0.0.0/8" : "192.0.2.0/24",
          .device = interface,
          .interface = interface,
          .address = address,
          .host = interface == "lo" ? "this" : ""};
}

NetworkFacts network(const std::string& provider = "net") {
  NetworkFacts facts{.version = version(1, 17)};
  facts.offers = {offer(provider), offer("tcp;ofi_rxm")};
  facts.interfaces = {
      {.name = "eth0", .addresses = {"192.0.2.7"}, .up = true, .default_route = true},
      {.name = "lo", .addresses = {"127.0.0.1"}, .up = true, .loopback = true}};
  return facts;
}

constexpr JobShape kOneNode{.processes = 2, .nodes = 1, .near = 2, .here = 2};
constexpr JobShape kTwoNodes{.processes = 4, .nodes = 2, .near = 2, .here = 2};
constexpr JobShape kPretended{.processes = 4, .nodes = 2, .near = 2, .here = 4};

TEST(Libfabric, that_cannot_be_loaded_matters_as_much_as_the_network_does) {
  NetworkFacts facts;
  facts.load_error = "rdma: cannot load libfabric";
  EXPECT_EQ(check_libfabric(facts, kOneNode).severity, Severity::kRemark);
  EXPECT_EQ(check_libfabric(facts, {}).severity, Severity::kWarning);
  const Finding finding = check_libfabric(facts, kTwoNodes);
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.remedy, {"apt install libfabric1"});
}

TEST(Libfabric, that_crashes_is_named_with_its_last_words) {
  NetworkFacts facts;
  facts.failure = "crashed (SIGSEGV)";
  facts.said = "rdma: libfabric 2.6 crashed in fi_getinfo\nmore";
  const Finding finding = check_libfabric(facts, kTwoNodes);
  EXPECT_EQ(finding.severity, Severity::kError);
  EXPECT_EQ(finding.seen,
            "libfabric crashed (SIGSEGV) while it was looked at, after saying: rdma: libfabric 2.6 "
            "crashed in fi_getinfo");
}

TEST(Libfabric, older_than_what_is_tested_is_a_warning) {
  NetworkFacts facts = network();
  EXPECT_EQ(check_libfabric(facts, {}).severity, Severity::kRemark);
  expect_contains(check_libfabric(facts, {}).seen, {"libfabric 1.17", "net, tcp;ofi_rxm"});
  facts.version = version(1, 11);
  EXPECT_EQ(check_libfabric(facts, {}).severity, Severity::kWarning);
}

TEST(Libfabric, with_verbs_says_what_each_start_costs_where_it_has_read_that_much) {
  NetworkFacts facts = network();
  facts.has_verbs = true;
  facts.listing_s = 0.21;
  facts.listing_bytes = 10'800'000;
  expect_contains(check_libfabric(facts, {}).means, {"/proc/kallsyms"});
  EXPECT_EQ(check_libfabric(facts, {}).measured, "listing them took 0.21 s");
  facts.listing_bytes = 1'000'000;
  EXPECT_EQ(check_libfabric(facts, {}).means.find("kallsyms"), std::string::npos);
}

TEST(Provider, is_the_best_that_is_offered) {
  NetworkFacts facts = network();
  EXPECT_EQ(provider_of(facts), "net");
  EXPECT_EQ(check_provider(facts, kTwoNodes).seen, "net on eth0 is the best that is offered");
  facts.opened = "net on eth0 (192.0.2.0/24): inject 128 B";
  EXPECT_EQ(check_provider(facts, kTwoNodes).seen, facts.opened);
}

TEST(Provider, none_is_an_error_between_nodes) {
  NetworkFacts facts = network();
  facts.offers.clear();
  EXPECT_EQ(check_provider(facts, kOneNode).severity, Severity::kRemark);
  EXPECT_EQ(check_provider(facts, {}).severity, Severity::kWarning);
  const Finding finding = check_provider(facts, kTwoNodes);
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"libfabric offers no network"});
}

TEST(Provider, on_loopback_alone_serves_one_machine_only) {
  NetworkFacts facts = network();
  facts.offers = {offer("tcp", "lo", "127.0.0.1")};
  EXPECT_EQ(check_provider(facts, kTwoNodes).severity, Severity::kError);
  expect_contains(check_provider(facts, kTwoNodes).seen, {"lo is loopback"});
  facts.options.one_host = true;
  EXPECT_EQ(check_provider(facts, kPretended).severity, Severity::kRemark);
}

TEST(Provider, that_is_named_and_not_there_is_told_with_those_that_are) {
  NetworkFacts facts = network();
  facts.options.provider = "cxi";
  expect_contains(check_provider(facts, kTwoNodes).seen, {"no provider cxi", "net, tcp;ofi_rxm"});
}

TEST(Provider, that_cannot_be_opened_is_an_error_with_its_sentence) {
  NetworkFacts facts = network();
  facts.open_error = "fi_domain failed";
  const Finding finding = check_provider(facts, kTwoNodes);
  EXPECT_EQ(finding.severity, Severity::kError);
  expect_contains(finding.seen, {"net on eth0", "fi_domain failed"});
}

TEST(Interfaces, that_lead_nowhere_are_an_error_for_several_machines) {
  NetworkFacts facts = network();
  EXPECT_EQ(check_interfaces(facts, kTwoNodes).severity, Severity::kRemark);
  expect_contains(check_interfaces(facts, kTwoNodes).seen,
                  {"eth0 (192.0.2.7, default route)", "left out: lo (127.0.0.1, loopback)"});
  facts.interfaces = {
      {.name = "docker0", .addresses = {"172.17.0.1"}, .up = true, .kind = "a container bridge"},
      {.name = "eth0", .addresses = {"192.0.2.7"}, .up = false},
      {.name = "eth1", .addresses = {"169.254.3.4"}, .up = true},
      {.name = "lo", .addresses = {"127.0.0.1"}, .up = true, .loopback = true}};
  EXPECT_EQ(check_interfaces(facts, kTwoNodes).severity, Severity::kError);
  EXPECT_EQ(check_interfaces(facts, {}).severity, Severity::kWarning);
  EXPECT_EQ(check_interfaces(facts, kPretended).severity, Severity::kRemark);
  EXPECT_EQ(check_interfaces(facts, kOneNode).severity, Severity::kRemark);
}

// How often a fault of that text is among those of `facts`.
std::size_t faults_with(const NetworkFacts& facts, const std::string& text) {
  std::size_t found = 0;
  for (const Finding& one : check_faults(facts)) found += ::test::count_of(one.seen, text);
  return found;
}

TEST(Faults, are_those_of_the_version_that_is_there) {
  NetworkFacts facts = network("net");
  EXPECT_EQ(faults_with(facts, "FI_MULTI_RECV"), 1u);
  EXPECT_EQ(faults_with(facts, "atomics"), 1u);
  facts = network("tcp");
  facts.version = version(1, 19);
  EXPECT_EQ(faults_with(facts, "unless it is 1.18.3"), 1u);
  facts.version = version(1, 20);
  EXPECT_TRUE(check_faults(facts).empty());
  facts.version = version(2, 1);
  EXPECT_EQ(faults_with(facts, "FI_THREAD_COMPLETION"), 1u);
}

TEST(Faults, of_emulations_that_are_named_are_warnings) {
  for (const std::string provider : {"udp;ofi_rxd", "sockets", "shm"}) {
    NetworkFacts facts = network(provider);
    facts.options.provider = provider;
    facts.options.interface = "eth0";
    EXPECT_EQ(exit_code(check_faults(facts)), 1) << provider;
  }
}

TEST(Faults, by_a_variable_are_those_of_the_provider_that_reads_it) {
  NetworkFacts facts = network();
  facts.variables = {{"FI_OFI_RXM_USE_RNDV_WRITE", "1"}};
  EXPECT_EQ(faults_with(facts, "RNDV_WRITE"), 0u);
  facts.options.provider = "tcp;ofi_rxm";
  EXPECT_EQ(faults_with(facts, "damages data"), 1u);
  facts.variables[0].second = "0";
  EXPECT_EQ(faults_with(facts, "damages data"), 0u);
}

}  // namespace
}  // namespace am::doctor
