#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "am/collective/barrier.h"
#include "am/collective/exchange.h"
#include "am/core/process.h"
#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/config.h"
#include "am/route/router.h"
#include "am/types/source_location.h"

namespace am {

struct Card;
class CrashReport;
class LearnedStores;
struct Layout;
class StallReporter;

// This process's place in its job, from the launcher's first word to a router that reaches every
// peer: the composition root. One per process.
//
//   am::Job job;                       // a job of one when started bare, of N under a launcher
//   am::Bundle bundle(job);
//   am::Endpoint endpoint(bundle);
//   endpoint.add_handlers<&on_ping, &on_pong>();
//   job.connect(endpoint);             // now index r is the endpoint of rank r
//   ...
//   job.finish(bundle);
class Job final : public Exchange {
 public:
  // Reads the environment. Throws Error, with cause and remedy, if the job cannot start.
  Job() : Job(read_config()) {}
  explicit Job(const Config& config);
  ~Job() override;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Rank rank() const noexcept { return router_->rank(); }
  std::uint32_t size() const noexcept { return router_->size(); }
  Router& router() noexcept { return *router_; }
  operator Process&() noexcept { return *process_; }
  // How stores to other nodes learn; nullptr: there are none.
  LearnedStores* learned_stores() noexcept { return learned_stores_.get(); }
  const Config& config() const noexcept { return config_; }
  std::string launcher() const { return bootstrap_->launcher(); }

  // All processes meet, making progress meanwhile on `bundle` and all others of the calling thread.
  // Messages may still be on their way when it returns, also those that were sent before it.
  // `where`, here and below, is named where a job stands still.
  void barrier(Bundle& bundle, SourceLocation where = SourceLocation::current()) {
    barrier(bundle, "barrier", where);
  }
  // The same for another collective call.
  void barrier(Bundle& bundle, const char* call, const SourceLocation& where) {
    barrier_->enter();
    barrier_->wait(bundle, call, where);
  }
  Barrier& barrier() noexcept { return *barrier_; }

  // Waits until no message of the job is on its way: all that was sent before by any endpoint of
  // any process, and by handlers and callbacks meanwhile, was handled, or has come back and was
  // passed to handler 0. Transfers (stores, puts on channels, zero-copy) are no messages: wait for
  // them before, also for those whose callbacks send. Collective, in place of a barrier; if a
  // handler throws out of it, or out of barrier() or finish(), call the same again and it goes on.
  // Runs handlers of all bundles of the calling thread. Bundles of other threads: let these flush
  // them first. Throws Error in a handler or callback. Costs two barriers, or one if nothing was
  // sent since the last call.
  void quiesce(Bundle& bundle, SourceLocation where = SourceLocation::current()) {
    quiesce(bundle, "Job::quiesce", where);
  }

  // The last collective call: quiesce() for the bundles of all threads, which may not be inside
  // them any more. Then this process may leave with exit code 0: no message is lost, and nobody
  // needs its endpoints.
  void finish(Bundle& bundle, SourceLocation where = SourceLocation::current()) {
    finish(bundle, "Job::finish", where);
  }
  void finish(Bundle& bundle, const char* call, const SourceLocation& where);

  // " (thrown by handler on_ping of a message of rank 3)" if the exception that is being handled is
  // the last that a handler has thrown out of a poll or a wait; else "".
  std::string thrown_by() const;

  // Prints "rank R: <sentence>" and ends every process of the job.
  [[noreturn]] void abort(int exit_code, const std::string& sentence);

 private:
  std::vector<std::vector<std::byte>> exchange_bytes(std::span<const std::byte> mine,
                                                     const char* call,
                                                     const SourceLocation& where) override;
  void quiesce(Bundle& bundle, const char* call, const SourceLocation& where);
  void open_neighbours(const std::vector<Card>& cards);
  void leave_network(const char* call, const SourceLocation& where);
  std::function<void()> make_watch();
  void tell(const Layout& layout) const;

  const Config config_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<Router> router_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<LearnedStores> learned_stores_;  // nullptr: all processes are on this node
  std::unique_ptr<Barrier> barrier_;
  std::uint64_t messages_ = 0;  // sent and received, at the last entry of quiesce()
  std::unique_ptr<CrashReport> crash_report_;
  std::unique_ptr<StallReporter> stall_reporter_;  // where no launcher watches
};

}  // namespace am
