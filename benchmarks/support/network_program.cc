#include "benchmarks/support/network_program.h"

#include <span>
#include <utility>

namespace bench {
namespace {

struct Network {
  std::unique_ptr<RawFabric> fabric;
  std::unique_ptr<RawNetwork> pair;  // none at other processes
};

}  // namespace

std::shared_ptr<void> prepare_network(Bench& b) {
  const auto network = std::make_shared<Network>();
  network->fabric = open_fabric(b.job, b.pair, {});
  b.report.say(network->fabric->describe());
  if (b.job.rank() > 1) return network;
  network->pair = std::make_unique<RawNetwork>(b.pair, *network->fabric);
  b.raw_network = network->pair.get();
  b.pair.meet_over([raw = b.raw_network](const auto& meanwhile) { raw->meet(meanwhile); });
  return network;
}

std::unique_ptr<RawFabric> open_fabric(am::Job& job, Pair& pair, RawFabric::Options options) {
  const am::Config& config = job.config();
  options.provider = config.provider.empty() ? "net" : config.provider;
  options.interface = config.interface;
  const bool paired = job.rank() < 2;
  const std::size_t bytes = paired ? Pair::kBufferBytes : 0;
  return std::make_unique<RawFabric>(job, options,
                                     std::span(paired ? pair.buffer(pair.me()) : nullptr, bytes),
                                     std::span(pair.source(), bytes));
}

int run_network_program(int argc, char** argv, Program program) {
  program.prepare = prepare_network;
  return run_program(argc, argv, program);
}

}  // namespace bench
