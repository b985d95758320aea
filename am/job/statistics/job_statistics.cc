#include "am/job/statistics/job_statistics.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "am/core/endpoint.h"
#include "am/job/config/lost_output.h"
#include "am/job/stall/code.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "am/types/clock.h"

namespace am {
namespace {

using statistics::ProcessStatistics;

constexpr std::size_t kTold = 100;  // places where a process waited, and as many that it used

// Since the start of the process, which may have measured the network.
template <class Stats>
Stats until_now(const Process& process, Stats (Port::*stats)()) {
  Port* const port = process.router().port();
  return port == nullptr ? Stats{} : (port->*stats)();
}

// Texts of all processes, brought to process 0 by an endpoint of its own. Its constructor is
// collective.
class Gathering {
 public:
  Gathering(Process& process, Exchange& exchange) : bundle_(process), endpoint_(bundle_) {
    endpoint_.add_handlers<&Gathering::on_text>(*this);
    if (process.router().rank() == 0) texts_.resize(process.router().size());
    exchange.connect(endpoint_);
  }

  Bundle& bundle() noexcept { return bundle_; }
  // By rank; process 0's only, when no message is in flight any more.
  const std::vector<std::string>& texts() const noexcept { return texts_; }

  void send(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    for (std::size_t at = 0; at < bytes.size();) {
      const auto fragment =
          bytes.subspan(at, std::min<std::size_t>(max_medium(), bytes.size() - at));
      endpoint_.request_medium<&Gathering::on_text>(0, fragment, bytes.size(), at);
      at += fragment.size();
    }
  }

 private:
  // A fragment of a text, in any order.
  void on_text(OneWay message, std::span<const std::byte> fragment, std::uint64_t total,
               std::uint64_t at) {
    if (texts_.empty() || at > total || fragment.size() > total - at) return;
    std::string& text = texts_[message.source()];
    text.resize(total);
    std::memcpy(text.data() + at, fragment.data(), fragment.size());
  }

  Bundle bundle_;
  Endpoint endpoint_;
  std::vector<std::string> texts_;
};

}  // namespace

JobStatistics::JobStatistics(Process& process, StatisticsForm form)
    : process_(process), form_(form) {
  restart();
}

void JobStatistics::restart() {
  sites_.reset();
  sites_.emplace(process_.router().size());
  begin_sent_ = until_now(process_, &Port::send_stats);
  begin_losses_ = until_now(process_, &Port::loss_stats);
  begin_ns_ = now_ns();
}

void JobStatistics::stop() {
  if (!sites_) return;
  mine_ = describe();
  sites_.reset();
}

ProcessStatistics JobStatistics::describe() const {
  ProcessStatistics mine;
  mine.elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin_ns_);
  mine.traffic = sites_->traffic();
  mine.sent = until_now(process_, &Port::send_stats) - begin_sent_;
  mine.losses = until_now(process_, &Port::loss_stats) - begin_losses_;
  for (const CallSites::Site& site : statistics::worth_telling(sites_->sites(), kTold)) {
    mine.calls.push_back({.call = site.call.name,
                          .place = describe_place(site.call.where),
                          .far = site.far,
                          .near = site.near,
                          .waits = site.waits,
                          .waited_ns = site.waited_ns,
                          .needs = site.needs});
  }
  return mine;
}

void JobStatistics::report(Exchange& exchange, const Quiesce& quiesce) const {
  const Router& router = process_.router();
  Gathering gathering(process_, exchange);
  gathering.send(statistics::pack(mine_));
  quiesce(gathering.bundle());
  if (router.rank() != 0) return;
  std::vector<ProcessStatistics> all(gathering.texts().size());
  std::ranges::transform(gathering.texts(), all.begin(), statistics::unpack);
  for (ProcessStatistics& one : all) one.traffic.resize(all.size());
  const auto nodes = static_cast<std::uint32_t>(router.options().leaders.size());
  const std::string text = form_ == StatisticsForm::kJson ? statistics::to_json(all, nodes)
                                                          : statistics::summarize(all, nodes);
  const int error = write_all(stderr, text);
  if (error == 0) return;
  note_lost_output("rank 0: the statistics are lost, as standard error cannot be written (" +
                   std::string(std::strerror(error)) + "); give it a file that has room");
}

void JobStatistics::say_none() const {
  const Router& router = process_.router();
  for (Rank rank = 0; rank < router.rank(); ++rank) {
    if (!router.is_dead(rank)) return;
  }
  std::fprintf(stderr,
               "rank %u: there are no statistics, as they need all processes, and one has died\n",
               router.rank());
}

}  // namespace am
