#include "am/job/network.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "am/job/descriptors.h"
#include "am/link/fabric_link.h"
#include "am/route/port.h"
#include "rdma/error.h"
#include "rdma/open_fabric.h"
#include "shmem/error.h"

namespace am {
namespace {

using Ways = std::vector<rdma::Way>;

constexpr std::uint64_t kOtherFiles = 64;  // of the provider, and of the program later on

static_assert(rdma::Fabric::kMaxCandidates * sizeof(rdma::Way) <= Bootstrap::kMaxBlob);
static_assert(link::FabricLink::kMaxCard <= Bootstrap::kMaxBlob);

// To standard error.
spdlog::logger& log() {
  static spdlog::logger logger("splitphase", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return logger;
}

// Each far process that is talked to takes an open file. A process that has none left for the
// connection of another does not answer it.
void provide_files(const std::string& who, std::uint64_t peers) {
  const std::uint64_t limit = open_files_limit();  // make_bootstrap() has raised it
  const std::uint64_t wanted = open_files() + peers + kOtherFiles;
  if (limit >= wanted) return;
  log().warn(
      "{}{} files may be open (ulimit -Hn), and connections to all {} far processes need {}: raise "
      "the limit (nofile in /etc/security/limits.conf, LimitNOFILE= of the daemon that starts the "
      "job)",
      who, limit, peers, wanted);
}

// The way that all processes take.
rdma::Way agree(Bootstrap& bootstrap, const std::vector<rdma::Candidate>& candidates) {
  Ways mine;
  for (const rdma::Candidate& candidate : candidates) mine.push_back(candidate.way);
  std::vector<Ways> lists;
  for (const std::vector<std::byte>& blob : bootstrap.exchange(std::as_bytes(std::span(mine)))) {
    Ways& ways = lists.emplace_back(blob.size() / sizeof(rdma::Way));
    if (!ways.empty()) std::memcpy(ways.data(), blob.data(), ways.size() * sizeof(rdma::Way));
  }
  return rdma::common_way(lists, candidates);
}

std::unique_ptr<link::Link> connect(Bootstrap& bootstrap, std::unique_ptr<rdma::Fabric> fabric,
                                    const Config& config, Router& router) {
  const Router::Options& options = router.options();
  const bool use_rma = config.rma && fabric->has_reliable_rma();
  auto link = std::make_unique<link::FabricLink>(
      std::move(fabric),
      link::FabricLink::Options{
          .rank = options.rank,
          .size = options.size,
          .peers = options.size - options.near,
          .segment = {router.segment(), options.segment_bytes},
          .use_rma = use_rma,
          .progress_thread = config.progress_thread,
          .sleeps = options.oversubscribed || options.wait == WaitPolicy::kBlock,
          .fatal = [&router](const std::string& sentence) { router.fatal(sentence); },
          .warn = [me = options.rank](
                      const std::string& sentence) { log().warn("rank {}: {}", me, sentence); }});
  const auto cards = bootstrap.exchange(link->card());
  for (Rank rank = 0; rank < options.size; ++rank) {
    if (!router.is_near(rank)) link->introduce(rank, cards[rank]);
  }
  return link;
}

}  // namespace

void join_network(Bootstrap& bootstrap, const Config& config, bool one_host, Router& router) {
  const std::string who = "rank " + std::to_string(router.rank()) + ": Job: ";
  const rdma::Fabric::Options options{.provider = config.provider,
                                      .interface = config.interface,
                                      .one_host = one_host,
                                      .thread_safe = config.progress_thread,
                                      .who = who};
  provide_files(who, router.options().size - router.options().near);
  try {
    const auto candidates = rdma::Fabric::candidates(options);
    auto fabric = std::make_unique<rdma::Fabric>(options, agree(bootstrap, candidates));
    router.add_port(
        std::make_unique<Port>(router, connect(bootstrap, std::move(fabric), config, router),
                               Port::Options{.progress_thread = config.progress_thread}));
  } catch (const rdma::Error& error) {
    throw Error(who + error.what());
  } catch (const shmem::Error& error) {
    throw Error(who + error.what());
  }
}

}  // namespace am
