#include "splitc/statistics/statistics.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "am/job/config/config.h"
#include "am/job/config/lost_output.h"
#include "am/job/job.h"
#include "am/job/stall/code.h"
#include "am/route/port.h"
#include "am/types/clock.h"
#include "splitc/collective/barrier.h"
#include "splitc/rpc/rpc.h"
#include "splitc/statistics/summary.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

constexpr std::size_t kTold = 100;  // places where a process waited, and as many that it used

// What others have told process 0, by process.
std::vector<std::string>* told = nullptr;

// A piece of that, in any order. A handler, not a function for rpc(): the library may be a shared
// one.
void hear(am::OneWay message, std::span<const std::byte> piece, std::uint64_t total,
          std::uint64_t at) {
  if (told == nullptr) return;
  std::string& text = (*told)[message.source()];
  text.resize(total);
  std::memcpy(text.data() + at, piece.data(), piece.size());
}

void tell(const std::string& text, Call call) {
  if (my_proc() == 0) {
    (*told)[0] = text;
    return;
  }
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size();) {
    const auto piece =
        bytes.subspan(at, std::min<std::size_t>(am::max_medium(), bytes.size() - at));
    world().endpoint().request_medium<&hear>({0, call.where}, piece, bytes.size(), at);
    at += piece.size();
  }
}

// Whether all processes below this one have died.
bool is_first_alive() {
  for (std::uint32_t proc = 0; proc < my_proc(); ++proc) {
    if (!world().router().is_dead(proc)) return false;
  }
  return true;
}

// Since the start of the process, which may have measured the network.
template <class Stats>
Stats until_now(Stats (am::Port::*stats)()) {
  am::Port* const port = world().router().port();
  return port == nullptr ? Stats{} : (port->*stats)();
}

}  // namespace

Statistics::Statistics() {
  if (world().job().config().statistics == am::StatisticsForm::kNone) return;
  world().endpoint().add_handlers<&hear>();
  sites_.emplace(procs());
  begin_sent_ = until_now(&am::Port::send_stats);
  begin_losses_ = until_now(&am::Port::loss_stats);
  begin_ns_ = am::now_ns();
}

ProcessStatistics Statistics::describe() const {
  ProcessStatistics mine;
  mine.elapsed_ns = static_cast<std::uint64_t>(am::now_ns() - begin_ns_);
  mine.traffic = sites_->traffic();
  mine.sent = until_now(&am::Port::send_stats) - begin_sent_;
  mine.losses = until_now(&am::Port::loss_stats) - begin_losses_;
  for (const am::CallSites::Site& site : worth_telling(sites_->sites(), kTold)) {
    mine.calls.push_back({.call = site.place.call,
                          .place = am::describe_place(site.place),
                          .far = site.far,
                          .near = site.near,
                          .waits = site.waits,
                          .waited_ns = site.waited_ns,
                          .needs = site.needs});
  }
  return mine;
}

void Statistics::report(Call call) {
  if (!sites_) return;
  const ProcessStatistics mine = describe();
  sites_.reset();
  try {
    report(mine, call);
  } catch (const am::PeerDied&) {
    // The job goes on without it, and ends as it would have without statistics.
    told = nullptr;
    if (!is_first_alive()) return;
    std::fprintf(stderr,
                 "rank %u: there are no statistics, as they need all processes, and one has died\n",
                 my_proc());
  }
}

void Statistics::report(const ProcessStatistics& mine, Call call) {
  std::vector<std::string> texts(my_proc() == 0 ? procs() : 0);
  told = &texts;
  meet(call);
  tell(pack(mine), call);
  quiesce(call.where);
  told = nullptr;
  if (my_proc() != 0) return;
  std::vector<ProcessStatistics> all(texts.size());
  std::ranges::transform(texts, all.begin(), unpack);
  const auto nodes = static_cast<std::uint32_t>(world().router().options().leaders.size());
  const bool json = world().job().config().statistics == am::StatisticsForm::kJson;
  const std::string text = json ? to_json(all, nodes) : summarize(all, nodes);
  const int error = am::write_all(stderr, text);
  if (error == 0) return;
  am::note_lost_output("rank 0: the statistics are lost, as standard error cannot be written (" +
                       std::string(std::strerror(error)) + "); give it a file that has room");
}

}  // namespace splitc::detail
