#include "am/observe/call_sites.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "am/observe/observed_wait.h"
#include "am/observe/trace.h"
#include "am/types/clock.h"
#include "am/types/of_thread.h"

namespace am {
namespace {

// By addresses: the same text elsewhere is another place here, which find() joins.
bool same_words(const Call& a, const Call& b) noexcept {
  return a.name == b.name && a.where.bits() == b.where.bits();
}

std::size_t line_of(const Call& call) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(call.name) ^ call.where.bits() * 7919;
  return mixed * 0x9e3779b97f4a7c15u >> 32;
}

}  // namespace

// The same name may stand at several addresses, one in each part of the program.
bool CallSites::Same::operator()(const Call& a, const Call& b) const noexcept {
  return a.where.return_address() == b.where.return_address() && a.where.line() == b.where.line() &&
         std::strcmp(a.name, b.name) == 0 &&
         std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
}

std::size_t CallSites::Hash::operator()(const Call& call) const noexcept {
  const std::size_t caller = std::hash<const void*>()(call.where.return_address());
  return std::hash<std::string_view>()(call.name) ^ caller * 31 ^ call.where.line() * 1'000'003;
}

CallSites::CallSites(std::uint32_t processes)
    : serial_(detail::next_serial()), traffic_(processes) {
  detail::active_call_sites.store(this, std::memory_order_relaxed);
}

CallSites::~CallSites() { detail::active_call_sites.store(nullptr, std::memory_order_relaxed); }

CallSites::Lately& CallSites::of_this_thread() {
  Lately& own = OfThread<Lately>::get();
  if (own.serial != serial_) [[unlikely]] {
    own = {};
    own.serial = serial_;
  }
  return own;
}

CallSites::Counts& CallSites::counts(const Call& call) {
  Lately& lately = of_this_thread();
  Lately::Line& line = lately.lines[line_of(call) % Lately::kLines];
  if (line.counts == nullptr || !same_words(line.call, call)) [[unlikely]]
    line = {call, &find(call, &lately)};
  return *line.counts;
}

CallSites::Counts& CallSites::find(const Call& call, const void* thread) {
  const std::lock_guard lock(mutex_);
  auto at = sites_.find(call);
  if (at == sites_.end()) {
    at = sites_.try_emplace(sites_.size() < kMost ? call : Call(kOthers)).first;
  }
  for (Counts& counts : at->second) {
    if (counts.thread == thread) return counts;
  }
  return at->second.emplace_front(thread);
}

void CallSites::add_traffic(Rank to, std::uint64_t bytes) noexcept {
  if (to >= traffic_.size()) return;
  traffic_[to].operations.fetch_add(1, kRelaxed);
  traffic_[to].bytes.fetch_add(bytes, kRelaxed);
}

void CallSites::count(const Call& call, Rank to, std::uint64_t bytes) {
  counts(call).far.add(bytes);
  add_traffic(to, bytes);
}

void CallSites::count_near(const Call& call, Rank to, std::uint64_t bytes) {
  counts(call).near.add(bytes);
  add_traffic(to, bytes);
}

void CallSites::waited(const Call& call, std::int64_t ns, const char* needs) {
  Counts& at = counts(call);
  at.waits.add(1);
  if (ns != 0) at.waited_ns.add(static_cast<std::uint64_t>(ns));
  if (needs != nullptr) at.needs.store(needs, kRelaxed);
}

std::vector<CallSites::Site> CallSites::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Site> all;
  for (const auto& [call, threads] : sites_) {
    Site& site = all.emplace_back(Site{.call = call});
    for (const Counts& counts : threads) {
      site.far += counts.far.traffic();
      site.near += counts.near.traffic();
      site.waits += counts.waits.value();
      site.waited_ns += counts.waited_ns.value();
      if (const char* const needs = counts.needs.load(kRelaxed)) site.needs = needs;
    }
  }
  return all;
}

std::vector<CallSites::Traffic> CallSites::traffic() const {
  std::vector<Traffic> all;
  for (const SharedTraffic& one : traffic_) {
    all.push_back({one.operations.load(kRelaxed), one.bytes.load(kRelaxed)});
  }
  return all;
}

void note_operation(const Call& call, Rank peer, std::uint64_t bytes, Distance distance) {
  CallSites* const sites = active_call_sites();
  if (sites != nullptr && distance == Distance::kFar) sites->count(call, peer, bytes);
  if (sites != nullptr && distance == Distance::kNear) sites->count_near(call, peer, bytes);
  if (Trace* const trace = active_trace()) {
    const std::uint64_t now = ticks();
    trace->record(TraceKind::kOperation, trace->name_of(call), now, now,
                  {.peer = peer, .bytes = bytes});
  }
}

namespace {

// What one part of a wait adds to the sum if it stands for so many. A short part is long if a
// handler has run in it, perhaps for seconds, which are not to be taken for 64 times as many: such
// a one adds itself, or as much as the longest that is multiplied.
std::int64_t stood_for(std::int64_t ns, std::uint32_t waits) noexcept {
  constexpr std::int64_t kMultiplied = 1'000'000;
  return std::max(ns, std::min(ns, kMultiplied) * waits);
}

}  // namespace

void WaitTime::begin() {
  if (trace_ != nullptr) begin_ticks_ = ticks();
  if (sites_ == nullptr) return;
  looks_left_ = kShort;
  stands_for_ = sites_->sample().next();
  if (stands_for_ != 0) begin_ns_ = now_ns();
}

void WaitTime::end_short_part() noexcept {
  const std::int64_t now = now_ns();
  if (stands_for_ != 0) short_part_ns_ = stood_for(now - begin_ns_, stands_for_);
  begin_ns_ = now;
  stands_for_ = 1;
  looks_left_ = kNever;
}

// The wait of a barrier is an event of the trace also where it need not wait, so the barrier
// records it, from when it begins.
void WaitTime::note(const Reason& reason) {
  if (sites_ != nullptr) sites_->waited(reason.call, end(), reason.needs);
  if (trace_ == nullptr) return;
  if (reason.collective == 0) {
    trace_->record(TraceKind::kWait, trace_->name_of(reason.call), begin_ticks_,
                   Trace::end_of_wait(begin_ticks_), {.peer = reason.peer});
  }
  Trace::forget_poll();
}

std::int64_t WaitTime::end() noexcept {
  if (stands_for_ == 0) return 0;
  const std::int64_t part = now_ns() - begin_ns_;
  const bool short_part = looks_left_ <= kShort;
  if (short_part) sites_->sample().took(part);
  return short_part_ns_ + (short_part ? stood_for(part, stands_for_) : part);
}

}  // namespace am
