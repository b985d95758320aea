#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "am/collective/exchange.h"
#include "am/core/bundle.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/function.h"
#include "am/types/types.h"

namespace am {

class Barrier;
class Bootstrap;
struct Config;
class CrashReport;
class DeathWatch;
class ExitRequest;
class JobStatistics;
class JobTrace;
struct Layout;
struct OutOfBand;
class StartWatch;
struct Trial;

// This process's place in its job, from the first contact with the launcher to a router that
// reaches every peer: the composition root. It does what AM_Init and AM_Terminate did, and the
// start-up and barrier of the SPMD layer that Berkeley's implementations had above AM-II.
//
//   am::Job job;                       // started by itself a job of one, under a launcher of N
//   am::Bundle bundle(job);
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();
//   job.connect(endpoint);             // now index r is the endpoint of rank r
//   ...
//   job.finish(bundle);
//
// One per process. It outlives its bundles. Programs of splitc/ have theirs in run(), and reach it
// by splitc::world().job().
//
// Collective calls: the constructor, exchange(), connect(), barrier(), quiesce() and finish().
// Every process makes them, in the same order.
//
// Threads. One thread at a time; rank(), size() and what else is const may be called by any.
//
// Waiting. Every collective call waits for all processes. barrier(), quiesce() and finish() run
// handlers meanwhile, of all bundles of the calling thread; the others run none. They throw Error
// in a handler or callback.
class Job final : public Exchange {
 public:
  // Joins the job that the environment describes (splitcrun, another launcher, or neither), maps
  // the segments of all processes of this node and opens the network to those of others. Allocates
  // this process's segment, of SPLITC_SEGMENT bytes. Waits until all processes have started. Throws
  // Error, with cause and remedy, if the job cannot start.
  Job();
  // Makes a job with settings that the program gives instead of the environment, such as
  // Config::out_of_band, by which another runtime brings the processes together.
  explicit Job(const Config& config);
  // Not collective. A process that leaves without having returned from finish() ends the whole job.
  ~Job() override;

  // This process, 0 to size() - 1, and how many processes there are. Constant; any thread.
  Rank rank() const noexcept { return router_->rank(); }
  std::uint32_t size() const noexcept { return router_->size(); }
  // The routes to all peers, and this process's segment; lives as long as the job.
  Router& router() noexcept { return *router_; }
  // What a Bundle is made with.
  operator Process&() noexcept { return *process_; }
  // The settings of this process.
  const Config& config() const noexcept { return *config_; }
  // What started the job, in words: "splitcrun", "rendezvous", "PMIx", "PMI-1", "none",
  // or OutOfBand::name.
  std::string launcher() const;

  // Whether the job goes on without processes that die (splitcrun --survive; docs/jobs.md). Else a
  // death ends it. Constant; any thread.
  //
  // After a death requests to the dead come back as Status::kUnreachable, to on_returned(); what
  // needs all processes throws PeerDied, which names one of the dead: barrier(), exchange(),
  // connect(), quiesce(), and what waits in channels, zero-copy buffers and splitc. Only finish()
  // does without them.
  bool survives() const noexcept { return router_->deaths() != nullptr; }
  // Whether `rank` has died, as far as this process knows: it hears of it within a moment. Any
  // thread.
  bool is_dead(Rank rank) const noexcept { return router_->is_dead(rank); }

  // Gives back the memory of the segment of `dead`, which has died, to all processes of its node,
  // for which its bytes are 0 afterwards: only when none of them reads it any more. Nothing, if it
  // is on another node. Throws Error: it lives; the system refuses.
  void discard_segment(Rank dead) const;

  // No process returns before all have called. Polls `bundle` and all others of the calling thread
  // meanwhile. What each process wrote to shared memory before is visible to all afterwards;
  // messages that were sent before may still be in flight.
  //
  // If a handler throws out of it, call it again: it goes on with the same barrier. `where`, here
  // and below, is the place of the call, which the report on a job that stands still names.
  //
  // Costs, for N processes of a node with a core each, log2(N) one-way transfers of a cache line:
  // 133 to 147 ns for two; with more processes than cores two turns of the scheduler; across nodes,
  // log2(nodes) rounds of one packet per node.
  void barrier(Bundle& bundle, Here where = {}) { barrier(bundle, {"barrier", where}); }
  // A barrier on behalf of another collective call, `call`.
  void barrier(Bundle& bundle, Call call);
  // Its two halves, for work in between.
  [[nodiscard("this alone waits for nobody; write barrier(bundle)")]] Barrier& barrier() noexcept {
    return *barrier_;
  }

  // Waits until no message of the job is in flight (termination detection): everything that any
  // endpoint of any process has sent before, and that handlers and callbacks send meanwhile, has
  // been handled, or has come back and was passed to handler 0. A barrier as well.
  //
  // Transfers (stores, puts on channels, zero-copy) are no messages: wait for them before, also for
  // those whose callbacks send. Bundles of other threads are not covered: these threads flush them
  // first. If a handler throws out of it, call it again and it goes on.
  //
  // Costs one barrier if nothing was sent since the last call, else two or more, and a flush of
  // every bundle of the calling thread.
  void quiesce(Bundle& bundle, Here where = {}) { quiesce(bundle, {"Job::quiesce", where}); }

  // The last collective call: quiesce() for the bundles of all threads, which may not use them any
  // more; `bundle` is one of the calling thread. Afterwards no message has been lost and no other
  // process needs this one's endpoints or memory, so it may leave, with exit code 0. If a handler
  // throws out of it, call it again and it goes on. After a death (survives()) it waits for those
  // that live; what their handlers send from then on may be lost.
  void finish(Bundle& bundle, Here where = {}) { finish(bundle, {"Job::finish", where}); }
  void finish(Bundle& bundle, Call call);

  // For a catch block, to be appended to what(): " (thrown by handler on_ping of a message of rank
  // 3)" if the exception that is being handled is the last that a handler has thrown out of a poll
  // or a wait; else "".
  std::string thrown_by() const;

  // Where this process hears that all are to end (am/job/config/exit_request.h), and asks for it;
  // lives as long as the job. nullptr: the launcher, which is not splitcrun, knows of no such end.
  ExitRequest* exit_request() noexcept;
  // Statistics (SPLITC_STATS) count from here on: by a runtime whose own start is none of the
  // program's. Nothing without them.
  void restart_statistics();

  // Prints "rank R: <sentence>", flushes the standard streams, and ends every process of the job,
  // whose exit code is `exit_code`, 1 instead of 0. Does not return.
  [[noreturn]] void abort(int exit_code, const std::string& sentence);
  // Aborts for a process whose job, to be brought together by `others`, could not be made, so that
  // no process waits for it: prints `sentence`, which names the rank, as it is. Any thread.
  [[noreturn]] static void abort(const OutOfBand& others, int exit_code,
                                 const std::string& sentence);

 private:
  std::vector<std::vector<std::byte>> exchange_bytes(std::span<const std::byte> mine,
                                                     Call call) override;
  void quiesce(Bundle& bundle, Call call);
  void add_neighbours(Trial& trial, const std::vector<Rank>& near);
  void quiesce_without_dead(Bundle& bundle, Call call);
  void finish_without_dead(Bundle& bundle, Call call);
  void watch_deaths();
  void begin_trace();
  void finish_trace();
  void report_statistics();
  void leave_network(Call call);
  Function<void()> make_watch();
  void report_layout(const Layout& layout) const;

  const Owned<const Config> config_;
  Owned<StartWatch> start_watch_;  // until the job has started
  Owned<Bootstrap> bootstrap_;
  const ForkWatch fork_watch_;
  Owned<Router> router_;
  Owned<Process> process_;
  Owned<Barrier> barrier_;
  std::uint64_t messages_ = 0;  // sent and received, at the last entry of quiesce()
  Owned<CrashReport> crash_report_;
  Owned<DeathWatch> death_watch_;    // in a job that goes on without its dead
  Owned<JobStatistics> statistics_;  // until finish(), if statistics are requested
  Owned<JobTrace> trace_;            // until finish(), if there is to be one
};

}  // namespace am
