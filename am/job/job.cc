#include "am/job/job.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "am/collective/barrier.h"
#include "am/core/process.h"
#include "am/far/far_memory.h"
#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/launchers.h"
#include "am/job/card.h"
#include "am/job/config/config.h"
#include "am/job/config/control.h"
#include "am/job/config/variables.h"
#include "am/job/crash/report.h"
#include "am/job/death_watch.h"
#include "am/job/log.h"
#include "am/job/make_bootstrap.h"
#include "am/job/network.h"
#include "am/job/stall/code.h"
#include "am/job/stall/reporter.h"
#include "am/job/start_watch.h"
#include "am/job/statistics/job_statistics.h"
#include "am/job/trace/job_trace.h"
#include "am/route/port.h"
#include "shmem/node.h"
#include "shmem/region.h"

namespace am {
namespace {

static_assert(Exchange::kMaxBytes == Bootstrap::kMaxBlob);

std::string prefix(Rank rank) { return "rank " + std::to_string(rank) + ": "; }

shmem::Region make_region(Rank rank, const Config& config) {
  try {
    shmem::Region region =
        shmem::Region::create({.what = "the segment of rank " + std::to_string(rank),
                               .bytes = RegionHeader::kBytes + config.segment_bytes});
    if (config.huge_pages) region.ask_for_huge_pages();
    // Else the pages that a neighbour touches first would be on the neighbour's node.
    if (const auto node = shmem::only_node()) region.prefer_node(*node);
    region.hide_from_children(RegionHeader::kBytes);
    return region;
  } catch (const shmem::Error& error) {
    throw Error(prefix(rank) + "Job: " + error.what() + "; SPLITC_SEGMENT sets the size");
  }
}

// nullptr: splitcrun watches, or there are no others.
std::unique_ptr<StartWatch> make_start_watch(const Config& config) {
  const bool alone = !config.out_of_band && !config.rendezvous && !config.pmix && !config.pmi;
  if (config.job_fd >= 0 || alone) return nullptr;
  return std::make_unique<StartWatch>(config.stall_s, config.start_limit_s);
}

// Of all processes of this node.
std::vector<CrashSegment> mapped_segments(const Router& router) {
  std::vector<CrashSegment> all;
  for (const Rank rank : router.near_ranks()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(router.peer(rank).segment);
    all.push_back({begin, begin + router.segment_bytes(), rank});
  }
  return all;
}

}  // namespace

Job::Job() : Job(read_config()) {}

Job::Job(const Config& config)
    : config_((check_not_forked("Job"), new Config(config))),
      start_watch_(make_start_watch(config)),
      bootstrap_(make_bootstrap(config)),
      fork_watch_(bootstrap_->rank()) {
  const Rank me = bootstrap_->rank();
  leave_mark(config, me, bootstrap_->size());
  if (start_watch_) start_watch_->met_launcher(me, bootstrap_->launcher());
  if (config.crash_report) {
    crash_report_ = std::make_unique<CrashReport>(me);
    crash_report_->set_frames(bootstrap_->crash_frames());
  }
  note_stall_questions();
  if (!config.trace.empty()) trace_ = std::make_unique<JobTrace>(config, me);
  if (config.survive && bootstrap_->size() > 1 && bootstrap_->death_notices() == nullptr) {
    throw Error(prefix(me) + "Job: SPLITC_SURVIVE=1: this job was started by " +
                bootstrap_->launcher() +
                ", which ends it when a process dies; start it with splitcrun --survive, or unset "
                "the variable");
  }
  shmem::Region own = make_region(me, config);
  // Where the launcher can see it, if there is one. The others may not have started yet.
  // (Not on the stack: AddressSanitizer of GCC 12 aligns to 32 bytes there.)
  const auto unseen = std::make_unique<Activity>();
  ShownWait shown(bootstrap_->activity() != nullptr ? *bootstrap_->activity() : *unseen);
  shown.show({.call = "the start of the job", .needs = "the other processes"});
  const Card mine = make_card(config, own);
  std::vector<Card> cards = exchange_cards(*bootstrap_, mine);
  Trial trial = try_neighbours(cards, me);
  settle_parts(*bootstrap_, cards, trial);
  if (config.verbose && !trial.refused.empty()) log_info(sentence_of(trial, me));
  const Layout layout = lay_out(cards, me);
  if (const std::string warning = warning_of(layout, me); !warning.empty()) {
    log_warning(warning);
  }
  router_ = std::make_unique<Router>(
      Router::Options{
          .rank = me,
          .size = bootstrap_->size(),
          .segment_bytes = config.segment_bytes,
          .kernel_fence = layout.all_enrolled,
          .oversubscribed = layout.here > layout.cores,
          .near = static_cast<std::uint32_t>(layout.near.size()),
          .most_near = layout.most_near,
          .leaders = layout.leaders,
          .node = layout.node,
          .nodes = layout.nodes,
          .wait = config.wait,
          .cross_memory = config.cross_memory,
          .abort = [this](int code,
                          const std::string& sentence) { bootstrap_->abort(code, sentence); },
          .activity = bootstrap_->activity(),
          .watch = make_watch(),
          .survives = bootstrap_->death_notices() != nullptr},
      std::move(own));
  add_neighbours(trial, layout.near);
  if (bootstrap_->activity() == nullptr) router_->activity().reset();
  if (crash_report_) {
    crash_report_->set_segments(mapped_segments(*router_));
    crash_report_->set_activity(router_->activity());
  }
  if (layout.leaders.size() > 1 && config.way == Way::kMemory) {
    throw Error(prefix(me) + "Job: SPLITC_WAY=memory: the processes are on " +
                std::to_string(layout.leaders.size()) +
                " nodes, which share no memory; start them on one, or unset it" +
                (trial.refused.empty() ? "" : " (" + sentence_of(trial, me) + ")"));
  }
  if (layout.leaders.size() > 1) {
    const std::string library = join_network(*bootstrap_, config, layout.here == size(), *router_);
    if (crash_report_) {
      crash_report_->set_network(library, router_->port()->link().can().description);
    }
  }
  process_ = std::make_unique<Process>(*router_);
  if (config.learn && process_->far_memory() != nullptr) {
    process_->far_memory()->learned_stores().enable();
  }
  barrier_ = std::make_unique<Barrier>(*router_);
  bootstrap_->barrier();  // nobody goes on before all have a place to be told of it
  start_watch_.reset();
  if (survives()) watch_deaths();
  if (config.statistics != StatisticsForm::kNone) {
    statistics_ = std::make_unique<JobStatistics>(*process_, config.statistics);
  }
  if (trace_) begin_trace();
  if (config.verbose && me == 0) report_layout(layout);
}

void Job::restart_statistics() {
  if (statistics_) statistics_->restart();
}

void Job::begin_trace() {
  trace_->begin(*process_, *this, [this](Bundle& bundle) { quiesce(bundle, "the trace"); });
}

// From here on the job can go on without a process.
void Job::watch_deaths() {
  DeathNotices& notices = *bootstrap_->death_notices();
  notices.start(rank());
  death_watch_ = std::make_unique<DeathWatch>(notices, *router_);
}

void Job::discard_segment(Rank dead) const {
  const std::string begin =
      prefix(rank()) + "Job::discard_segment: the segment of rank " + std::to_string(dead);
  if (dead >= size() || !is_dead(dead)) {
    throw Error(begin + " is in use: no process of that rank has died");
  }
  if (!router_->is_near(dead) || router_->discard_segment(dead)) return;
  throw Error(begin + " cannot be given back (" + std::strerror(errno) +
              "); it is freed when the last process of the node ends");
}

// For a job that splitcrun does not watch.
Function<void()> Job::make_watch() {
  if (bootstrap_->activity() != nullptr) return nullptr;
  return [this, look = make_stall_reporter(config_->stall_s)] { look(*router_); };
}

void Job::add_neighbours(Trial& trial, const std::vector<Rank>& near) {
  for (auto& [other, region] : trial.opened) {
    if (!std::ranges::binary_search(near, other)) continue;
    if (config_->huge_pages) region.ask_for_huge_pages();
    region.hide_from_children();
    router_->add_neighbour(other, std::move(region));
  }
}

void Job::report_layout(const Layout& layout) const {
  log_info(std::to_string(size()) + " processes by " + launcher() + ", segment " +
           std::to_string((config_->segment_bytes - config_->books_bytes) >> 20) + " MiB each, " +
           std::to_string(layout.cores) + " usable cores, fences by " +
           (layout.all_enrolled ? "membarrier" : "every sender"));
  if (!config_->huge_pages || !shmem::Region::has_huge_pages()) {
    log_info(std::string("segments on small pages: ") +
             (config_->huge_pages ? "the kernel gives no huge ones of shared memory "
                                    "(/sys/kernel/mm/transparent_hugepage/shmem_enabled)"
                                  : "SPLITC_HUGE_PAGES=0"));
  } else {
    log_info("segments on huge pages");
  }
  if (Port* const port = router_->port()) {
    log_info(std::to_string(layout.leaders.size()) + " nodes, joined by " +
             port->link().can().description);
    log_info("collective calls between them: " + text_of(config_->limits));
  }
}

std::string Job::launcher() const { return bootstrap_->launcher(); }

void Job::barrier(Bundle& bundle, Call call) {
  check_not_forked(call);
  barrier_->enter();
  barrier_->wait(bundle, call);
}

ExitRequest* Job::exit_request() noexcept { return bootstrap_->exit_request(); }

// In a child what there is is the parent's.
Job::~Job() {
  if (!is_forked()) return;
  const auto forget = [](auto&... parts) { (static_cast<void>(parts.release()), ...); };
  forget(bootstrap_, router_, process_, barrier_, crash_report_, death_watch_, statistics_, trace_);
}

std::vector<std::vector<std::byte>> Job::exchange_bytes(std::span<const std::byte> mine,
                                                        Call call) {
  check_not_forked(call);
  ShownWait shown(router_->activity());
  shown.show({.call = call});
  Port* const port = router_->port();
  std::vector<std::vector<std::byte>> all;
  const auto exchange = [&] { all = bootstrap_->exchange(mine); };
  try {
    if (port == nullptr) {
      exchange();
    } else {
      port->tend_while(exchange);
    }
  } catch (const PeerDied& died) {
    throw PeerDied(rank(), call, died.rank);
  }
  return all;
}

std::string Job::thrown_by() const {
  const Activity::Running handler = process_->thrower_of_current();
  if (handler.handler == 0) return "";
  const std::string name = describe_handler(getpid(), handler.handler);
  return " (thrown by handler " + (name.empty() ? "" : name + " ") + "of a message of rank " +
         std::to_string(handler.source) + ")";
}

void Job::abort(int exit_code, const std::string& sentence) {
  bootstrap_->abort(exit_code, prefix(rank()) + sentence);
  std::abort();  // not reached; the compiler does not believe a virtual function's [[noreturn]]
}

void Job::abort(const OutOfBand& others, int exit_code, const std::string& sentence) {
  end_all(others, exit_code, sentence);
}

}  // namespace am
