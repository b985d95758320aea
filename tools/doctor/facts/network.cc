#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "am/types/clock.h"
#include "rdma/error.h"
#include "rdma/library.h"
#include "rdma/open_fabric.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/facts/gather.h"
#include "tools/doctor/facts/in_child.h"

namespace am::doctor {
namespace {

using Json = nlohmann::json;

rdma::FabricOptions options_of(const Config& config, const JobShape& job) {
  rdma::FabricOptions options;
  options.provider = config.provider;
  options.interface = config.interface;
  options.one_host = job.nodes > 1 && job.one_machine();
  options.datagrams = config.link == LinkChoice::kDatagram;
  options.peers_may_die = config.survive;
  options.thread_safe = config.progress_thread;
  return options;
}

// Whether a library of that name is mapped.
bool has_loaded(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

// Bytes that this process has read so far; 0 where the kernel does not count them.
std::uint64_t bytes_read() {
  std::uint64_t count = 0;
  std::string name;
  std::ifstream("/proc/self/io") >> name >> count;  // "rchar: 4711"
  return count;
}

// The one that is the best here, opened as a job would open it.
void open_best(const rdma::FabricOptions& options, Json& found) {
  try {
    const auto candidates = rdma::Fabric::candidates(options);
    found["opened"] = rdma::Fabric(options, candidates.front().way).describe();
  } catch (const rdma::Error& error) {
    found["open_error"] = error.what();
  }
}

// In the child: everything that calls libfabric.
std::string look(const rdma::FabricOptions& options) {
  Json found;
  try {
    const std::int64_t begin = now_ns();
    const std::uint64_t read_before = bytes_read();
    found["version"] = rdma::Library::get().version();
    found["offers"] = Json::array();
    for (const rdma::Offer& offer : rdma::Fabric::offers(options)) {
      found["offers"].push_back({offer.provider, offer.network, offer.device, offer.interface,
                                 offer.address, offer.host});
    }
    found["listing_s"] = static_cast<double>(now_ns() - begin) / 1e9;
    found["listing_bytes"] = bytes_read() - read_before;
    found["has_verbs"] = has_loaded("libibverbs.so");
    if (!found["offers"].empty()) open_best(options, found);
  } catch (const rdma::Error& error) {
    found["load_error"] = error.what();
  }
  return found.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_found(const std::string& text, NetworkFacts& facts) {
  const Json found = Json::parse(text);
  facts.version = found.value("version", 0u);
  facts.load_error = found.value("load_error", "");
  facts.opened = found.value("opened", "");
  facts.open_error = found.value("open_error", "");
  facts.listing_s = found.value("listing_s", 0.0);
  facts.listing_bytes = found.value("listing_bytes", std::uint64_t{0});
  facts.has_verbs = found.value("has_verbs", false);
  for (const Json& one : found.value("offers", Json::array())) {
    const auto text = [&one](std::size_t i) { return one.at(i).get<std::string>(); };
    facts.offers.push_back({text(0), text(1), text(2), text(3), text(4), text(5)});
  }
}

// FI_PROVIDER and others by which people change what libfabric does, but that which the library
// sets itself (rdma/library.cc).
void note_variables(NetworkFacts& facts) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t middle = text.find('=');
    if (text.starts_with("FI_OFI_RXD_MAX_UNACKED=")) continue;
    if (!text.starts_with("FI_") || middle == std::string::npos) continue;
    facts.variables.emplace_back(text.substr(0, middle), text.substr(middle + 1));
  }
}

}  // namespace

void gather_network(Facts& facts, const Config& config) {
  NetworkFacts& network = facts.network;
  network = {};
  network.options = options_of(config, facts.job);
  note_variables(network);
  try {
    network.interfaces = rdma::interfaces();
  } catch (const rdma::Error&) {
    // None are known then, and none can be chosen.
  }
  const ChildResult result = in_child([&] { return look(network.options); });
  network.failure = result.failure;
  network.said = result.said;
  if (result.failure.empty()) {
    try {
      read_found(result.out, network);
    } catch (const Json::exception& error) {
      network.failure = std::string("answered nonsense (") + error.what() + ")";
    }
  }
  facts.memlock.provider = provider_of(network);
  facts.memlock.hardware = rdma::is_hardware_provider(facts.memlock.provider);
  facts.userfault.hardware = facts.memlock.hardware;
}

Facts gather_machine(const Config& config, const JobShape& job) {
  Facts facts;
  facts.job = job;
  facts.cross_memory = gather_cross_memory(config);  // before there are threads
  facts.shared_memory = gather_shared_memory(config);
  facts.memory = gather_memory(config);
  facts.memlock = gather_memlock(config);
  facts.open_files = gather_open_files();
  facts.leftovers = gather_leftovers();
  facts.membarrier = gather_membarrier();
  facts.clock = gather_clock();
  facts.cores = gather_cores(config);
  facts.launchers = gather_launchers(config);
  facts.settings = gather_settings();
  facts.userfault = gather_userfault();
  return facts;
}

}  // namespace am::doctor
