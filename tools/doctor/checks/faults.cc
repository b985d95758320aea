// Known faults of libfabric's providers (docs/transports.md), by version.
#include <algorithm>
#include <string>

#include "tools/doctor/checks/checks.h"

namespace am::doctor {
namespace {

struct Fault {
  std::string_view providers;  // ",net,tcp,"
  std::uint32_t from, before;  // versions; `before` 0: not mended in any that is known
  Severity severity;
  const char* seen;
  const char* means;
  const char* remedy;
};

constexpr Fault kFaults[] = {
    {",udp;ofi_rxd,", 0, version_of(2, 4), Severity::kWarning,
     "loses messages when its queues are full, without a word",
     "the library keeps few in flight, which is slower",
     "name tcp or tcp;ofi_rxm (SPLITC_PROVIDER), or set SPLITC_LINK=datagram"},
    {",udp;ofi_rxd,", 0, 0, Severity::kWarning,
     "may never finish reads and writes of far memory while packets are lost",
     "the library reads and writes by messages there, as with SPLITC_RMA=0",
     "name tcp or tcp;ofi_rxm (SPLITC_PROVIDER)"},
    {",sockets,", 0, 0, Severity::kWarning, "has no descriptor to sleep on, and threads of its own",
     "processes that wait take naps of 0.1 ms, and its threads take processors from the program",
     "name tcp or tcp;ofi_rxm (SPLITC_PROVIDER)"},
    {",shm,", 0, 0, Severity::kWarning,
     "is for tests: it connects processes of one machine, and one that is killed leaves its file "
     "in "
     "/dev/shm",
     "messages take 1.3 to 2 times what libfabric alone takes",
     "unset SPLITC_PROVIDER: within a node the library needs no provider"},
    {",net,tcp,tcp;ofi_rxm,net;ofi_rxm,", 0, version_of(1, 18), Severity::kRemark,
     "loses data in buffers that receive several messages (FI_MULTI_RECV)",
     "this library does not use them; others over the same libfabric may", ""},
    {",net,tcp,tcp;ofi_rxm,net;ofi_rxm,", version_of(1, 18), version_of(1, 20), Severity::kRemark,
     "loses data in buffers that receive several messages (FI_MULTI_RECV), unless it is 1.18.3 or "
     "1.19.1 (it does not say its third number)",
     "this library does not use them; others over the same libfabric may", ""},
    {",net,", 0, version_of(1, 18), Severity::kRemark, "offers atomics, all of which fail",
     "this library does atomics by messages; others over the same libfabric may not", ""},
    {",tcp,", version_of(2, 0), 0, Severity::kRemark,
     "ends in a null pointer where FI_THREAD_COMPLETION meets a queue with a descriptor",
     "this library asks for FI_THREAD_DOMAIN; others over the same libfabric may not", ""},
};

bool applies(const Fault& fault, const std::string& provider, std::uint32_t version) {
  const bool named = fault.providers.find("," + provider + ",") != std::string_view::npos;
  return named && version >= fault.from && (fault.before == 0 || version < fault.before);
}

std::string begin_of(const std::string& provider, std::uint32_t version) {
  return "the provider " + provider + " of libfabric " + version_text(version) + " ";
}

// What a variable asks of ofi_rxm that it did not do right at first.
bool asks_for_written_rendezvous(const NetworkFacts& facts) {
  return std::ranges::any_of(facts.variables, [](const auto& variable) {
    return variable.first == "FI_OFI_RXM_USE_RNDV_WRITE" && variable.second != "0";
  });
}

}  // namespace

Findings check_faults(const NetworkFacts& facts) {
  Findings findings;
  const std::string provider = provider_of(facts);
  if (provider.empty() || facts.version == 0) return findings;
  const std::string begin = begin_of(provider, facts.version);
  for (const Fault& fault : kFaults) {
    if (!applies(fault, provider, facts.version)) continue;
    findings.push_back({.check = "faults",
                        .severity = fault.severity,
                        .seen = begin + fault.seen,
                        .means = fault.means,
                        .remedy = fault.remedy});
  }
  if (provider.ends_with("ofi_rxm") && facts.version <= version_of(1, 20) &&
      asks_for_written_rendezvous(facts)) {
    findings.push_back({.check = "faults",
                        .severity = Severity::kWarning,
                        .seen = begin + "damages data with FI_OFI_RXM_USE_RNDV_WRITE=1, which is "
                                        "set, unless it is 1.18.3, 1.19.1 or 1.20.1 (it does not "
                                        "say its third number)",
                        .means = "long messages may arrive with wrong bytes",
                        .remedy = "unset FI_OFI_RXM_USE_RNDV_WRITE"});
  }
  if (facts.options.peers_may_die && provider == "net") {
    findings.push_back(
        {.check = "faults",
         .severity = Severity::kWarning,
         .seen = begin + "may break connections of others when a process dies",
         .means = "a job that is to survive deaths (SPLITC_SURVIVE) may lose messages",
         .remedy = "SPLITC_PROVIDER='tcp;ofi_rxm'"});
  }
  return findings;
}

}  // namespace am::doctor
