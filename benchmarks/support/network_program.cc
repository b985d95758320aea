#include "benchmarks/support/network_program.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "am/am.h"
#include "am/job/config/config.h"
#include "rdma/open_fabric.h"
#include "shmem/node.h"

namespace bench {
namespace {

struct Network {
  std::unique_ptr<RawFabric> fabric;
  std::unique_ptr<RawNetwork> pair;  // none at other processes
};

// Also if they pretend to be several.
bool on_one_machine(am::Job& job) {
  const shmem::NodeId mine = shmem::this_node();
  const auto all = job.exchange(mine);
  return std::ranges::all_of(all, [&](const shmem::NodeId& node) { return node == mine; });
}

std::shared_ptr<void> prepare(Bench& b) {
  const auto network = std::make_shared<Network>();
  network->fabric = open_fabric(b.job, b.pair, {});
  b.report.say(network->fabric->describe());
  if (b.job.rank() > 1) return network;
  network->pair = std::make_unique<RawNetwork>(b.pair, *network->fabric);
  b.raw_network = network->pair.get();
  b.pair.meet_over([raw = b.raw_network](const auto& meanwhile) { raw->meet(meanwhile); });
  return network;
}

// All processes agree on whether the pair is on one node: a third one may not see it.
std::shared_ptr<void> prepare_if_apart(Bench& b) {
  const bool near = b.job.exchange(std::uint8_t{b.pair.near()}).front() != 0;
  return near ? nullptr : prepare(b);
}

}  // namespace

void complete(RawFabric::Options& options, am::Job& job) {
  if (!options.provider.empty()) return;
  const am::Config& config = job.config();
  const rdma::Fabric::Candidate best =
      rdma::Fabric::candidates({.provider = config.provider,
                                .interface = config.interface,
                                .one_host = config.interface.empty() && on_one_machine(job)})
          .front();
  options.provider = best.provider;
  options.network = best.network;
}

std::unique_ptr<RawFabric> open_fabric(am::Job& job, Pair& pair, RawFabric::Options options) {
  complete(options, job);
  const bool paired = job.rank() < 2;
  const std::size_t bytes = paired ? Pair::kBufferBytes : 0;
  return std::make_unique<RawFabric>(job, options,
                                     std::span(paired ? pair.buffer(pair.me()) : nullptr, bytes),
                                     std::span(pair.source(), bytes));
}

int run_network_program(int argc, char** argv, Program program) {
  program.prepare = prepare;
  return run_program(argc, argv, program);
}

int run_program_anywhere(int argc, char** argv, Program program) {
  program.prepare = prepare_if_apart;
  program.anywhere = true;
  return run_program(argc, argv, program);
}

}  // namespace bench
