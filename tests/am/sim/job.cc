#include "tests/am/sim/job.h"

#include <string>
#include <utility>

#include "am/far/far_memory.h"
#include "am/route/port.h"

namespace am::sim {
namespace {

Router::Options options_of(Process::Shared& shared, Rank rank) {
  std::vector<Rank> leaders(shared.processes);
  for (Rank leader = 0; leader < shared.processes; ++leader) leaders[leader] = leader;
  return {
      .rank = rank,
      .size = shared.processes,
      .segment_bytes = Process::kSegment,
      .near = 1,
      .leaders = leaders,
      .node = rank,
      .nodes = leaders,
      .wait = WaitPolicy::kBlock,  // who waits gives its turn to another, at once
      .abort = [&shared](
                   int, const std::string& sentence) { shared.schedule.give_up(sentence.c_str()); },
      .watch = nullptr};
}

shmem::Region region() {
  return shmem::Region::create(
      {.what = "a simulated segment", .bytes = RegionHeader::kBytes + Process::kSegment});
}

}  // namespace

Process::Process(Shared& shared, Rank rank)
    : shared_(shared), router_(options_of(shared, rank), region()) {
  router_.add_port(std::make_unique<Port>(router_, shared.network.make_link(rank, segment())));
  process_.emplace(router_);
  process_->far_memory()->learned_stores().enable();
  barrier_.emplace(router_);
  bundle_ = std::make_unique<Bundle>(*process_);
}

void Process::barrier() {
  barrier_->enter();
  barrier_->wait(*bundle_, "barrier");
}

void Process::finish() {
  barrier();
  process_->leave();
}

void Process::poll() {
  bundle_->poll();
  shared_.schedule.yield();
}

std::vector<std::vector<std::byte>> Process::exchange_bytes(std::span<const std::byte> mine, Call) {
  auto& all = shared_.exchanged[++exchanges_];
  all[rank()] = {mine.begin(), mine.end()};
  while (all.size() < size()) shared_.schedule.yield();
  std::vector<std::vector<std::byte>> blobs;
  for (const auto& [rank, blob] : all) blobs.push_back(blob);
  return blobs;
}

void run(const Options& options, std::uint32_t processes,
         const std::function<void(Process&)>& body) {
  Schedule schedule(options.seed);
  Network network(schedule, processes, options.network);
  Process::Shared shared{schedule, network, processes, {}};
  schedule.run(processes, [&](std::uint32_t rank) {
    Process process(shared, rank);
    body(process);
    process.finish();
  });
}

}  // namespace am::sim
