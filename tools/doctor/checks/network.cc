// libfabric and the network between nodes.
#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "rdma/error.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/text.h"

namespace am::doctor {
namespace {

// What having no network means: nothing to a job of one node.
Severity severity_without(const JobShape& job) {
  if (job.nodes == 1) return Severity::kRemark;
  return job.nodes > 1 ? Severity::kError : Severity::kWarning;
}

std::string means_without(const JobShape& job) {
  if (job.nodes == 1) return "a job of one node needs no network";
  return job.nodes > 1 ? "a job of " + std::to_string(job.nodes) + " nodes does not start"
                       : "jobs across machines do not start; on one machine they need no network";
}

struct Chosen {
  const rdma::Offer* offer = nullptr;
  std::set<std::string> refused;
  std::string error;  // why there is none
};

Chosen choose_one(const NetworkFacts& facts) {
  try {
    const rdma::Choice choice = rdma::choose(facts.offers, facts.options, facts.interfaces);
    return {&facts.offers[choice.order.front()], choice.refused, ""};
  } catch (const rdma::Error& error) {
    return {nullptr, {}, error.what()};
  }
}

std::string providers_text(const NetworkFacts& facts) {
  std::set<std::string> names;
  for (const rdma::Offer& offer : facts.offers) names.insert(offer.provider);
  return list_text(std::vector<std::string>(names.begin(), names.end()));
}

std::string said_text(const std::string& said) {
  return said.empty() ? "" : ", after saying: " + said.substr(0, said.find('\n'));
}

bool is_usable(const rdma::Interface& one) {
  return one.up && !one.loopback && one.kind.empty() &&
         std::ranges::any_of(one.addresses,
                             [](const std::string& address) { return !rdma::link_local(address); });
}

std::string describe(const rdma::Interface& one) {
  std::string text = one.name + " (" + list_text(one.addresses);
  if (!one.up) text += ", down";
  if (one.loopback) text += ", loopback";
  if (!one.kind.empty()) text += ", " + one.kind + (one.kind.ends_with("'s") ? " interface" : "");
  if (one.default_route) text += ", default route";
  return text + ")";
}

}  // namespace

std::string version_text(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

std::string provider_of(const NetworkFacts& facts) {
  if (facts.offers.empty()) return "";
  const Chosen chosen = choose_one(facts);
  return chosen.offer == nullptr ? "" : chosen.offer->provider;
}

Finding check_libfabric(const NetworkFacts& facts, const JobShape& job) {
  if (!facts.failure.empty()) {
    return {
        .check = "libfabric",
        .severity = severity_without(job),
        .seen = "libfabric " + facts.failure + " while it was looked at" + said_text(facts.said),
        .means = means_without(job),
        .remedy =
            "leave out the provider that does it: FI_PROVIDER=tcp has only that one asked, "
            "SPLITC_PROVIDER=tcp has it used; or install another libfabric"};
  }
  if (!facts.load_error.empty()) {
    return {.check = "libfabric",
            .severity = severity_without(job),
            .seen = facts.load_error,
            .means = means_without(job),
            .remedy = job.nodes == 1 ? "" : "apt install libfabric1, on every machine of the job"};
  }
  std::string seen = "libfabric " + version_text(facts.version) +
                     ", with providers that can be used or named: " + providers_text(facts);
  for (const auto& [name, value] : facts.variables) seen += "; " + name + "=" + value;
  if (facts.version < version_of(1, 17)) {
    return {.check = "libfabric",
            .severity = Severity::kWarning,
            .seen = seen,
            .means = "the library is tested with 1.17 and newer",
            .remedy = "install libfabric 1.17 or newer on every machine of the job"};
  }
  char took[64];
  std::snprintf(took, sizeof took, "listing them took %.2f s", facts.listing_s);
  // It reads that file twice, 5 MB each (docs/transports.md).
  constexpr std::uint64_t kReadsKallsyms = 4'000'000;
  if (facts.has_verbs && facts.listing_bytes > kReadsKallsyms) {
    return {.check = "libfabric",
            .seen = seen + "; it has loaded libibverbs and read several MB of files",
            .measured = took,
            .means =
                "as a rule its verbs provider looks through /proc/kallsyms; each process of a job "
                "across nodes spends that time at its start",
            .remedy =
                "a libfabric built without verbs, where there is no such hardware "
                "(LD_LIBRARY_PATH)"};
  }
  return {.check = "libfabric", .seen = seen, .measured = took, .means = "it can be loaded"};
}

Finding check_interfaces(const NetworkFacts& facts, const JobShape& job) {
  std::vector<std::string> usable, others;
  for (const rdma::Interface& one : facts.interfaces) {
    (is_usable(one) ? usable : others).push_back(describe(one));
  }
  if (!usable.empty()) {
    return {.check = "interfaces",
            .seen = "leading to other machines: " + list_text(usable) +
                    "; left out: " + list_text(others),
            .means = "SPLITC_INTERFACE names one, where the choice is not the right one"};
  }
  const bool needed = job.nodes > 1 && !job.one_machine();
  return {.check = "interfaces",
          .severity = job.one_machine() || job.nodes == 1 ? Severity::kRemark
                      : needed                            ? Severity::kError
                                                          : Severity::kWarning,
          .seen = "no interface that leads to other machines, among: " + list_text(others),
          .means = job.one_machine() ? "a job of this machine alone needs none"
                                     : "no process of another machine can be reached",
          .remedy = job.one_machine()
                        ? ""
                        : "ip link and ip address show what there is; SPLITC_INTERFACE "
                          "names one that was left out"};
}

Finding check_provider(const NetworkFacts& facts, const JobShape& job) {
  if (facts.version == 0) {
    return {.check = "provider",
            .severity = severity_without(job),
            .seen = "no provider, as libfabric could not be asked",
            .means = means_without(job),
            .remedy = job.nodes == 1 ? "" : "see libfabric"};
  }
  const Chosen chosen = choose_one(facts);
  if (chosen.offer == nullptr) {
    return {.check = "provider",
            .severity = severity_without(job),
            .seen = chosen.error,
            .means = means_without(job),
            .remedy = job.nodes == 1
                          ? ""
                          : "name a provider or interface that there is (SPLITC_PROVIDER, "
                            "SPLITC_INTERFACE), or neither"};
  }
  const std::string name = chosen.offer->provider + " on " + chosen.offer->interface;
  if (!facts.open_error.empty()) {
    return {.check = "provider",
            .severity = severity_without(job),
            .seen = name + " would be used, but it cannot be opened: " + facts.open_error,
            .means = means_without(job),
            .remedy = "name another with SPLITC_PROVIDER; there are " + providers_text(facts)};
  }
  return {.check = "provider",
          .seen = facts.opened.empty() ? name + " is the best that is offered" : facts.opened,
          .means = job.nodes == 1 ? "it would be used between nodes; a job of one needs none"
                                  : "it is used between nodes, if all nodes have it",
          .remedy = ""};
}

}  // namespace am::doctor
