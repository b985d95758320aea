#include "benchmarks/support/network_program.h"

#include <cstdint>
#include <span>
#include <utility>

#include "am/am.h"
#include "rdma/open_fabric.h"

namespace bench {
namespace {

struct Network {
  std::unique_ptr<RawFabric> fabric;
  std::unique_ptr<RawNetwork> pair;  // none at other processes
};

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

// What the library would choose, or chooses, for processes of this machine.
void complete(RawFabric::Options& options, const am::Config& config) {
  if (!options.provider.empty()) return;
  const rdma::Fabric::Candidate best =
      rdma::Fabric::candidates({.provider = config.provider,
                                .interface = config.interface,
                                .one_host = config.interface.empty()})
          .front();
  options.provider = best.provider;
  options.network = best.network;
}

std::unique_ptr<RawFabric> open_fabric(am::Job& job, Pair& pair, RawFabric::Options options) {
  complete(options, job.config());
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
