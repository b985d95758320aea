#include "am/job/trace/gathering.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/core/process.h"
#include "am/route/router.h"
#include "am/types/clock.h"

namespace am {

TraceGathering::TraceGathering(Process& process, Exchange& exchange, TraceFile* file)
    : file_(file), bundle_(process), endpoint_(bundle_) {
  endpoint_.add_handlers<&TraceGathering::on_ask_clock, &TraceGathering::on_clock,
                         &TraceGathering::on_ask_flows, &TraceGathering::on_flows,
                         &TraceGathering::on_lines>(*this);
  exchange.connect(endpoint_);
}

// --- Clocks

BestAnswer TraceGathering::ask_clock() {
  constexpr int kAttempts = 200;
  BestAnswer best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    answered_ = false;
    const std::int64_t asked_ns = now_ns();
    endpoint_.request<&TraceGathering::on_ask_clock>(0);
    bundle_.wait_until([this] { return answered_; });
    best.add({asked_ns, clock_ns_, now_ns()});
  }
  return best;
}

void TraceGathering::on_ask_clock(Request request) {
  std::move(request).reply<&TraceGathering::on_clock>(now_ns());
}

void TraceGathering::on_clock(Reply, std::int64_t ns) {
  clock_ns_ = ns;
  answered_ = true;
}

// --- Arrows

void TraceGathering::add_ends(Trace& trace) {
  const auto each_end = [&](auto&& visit) {
    trace.for_each([&](std::uint32_t, TraceEvent& event) {
      if (event.flow != 0 && !begins_flow(event.what())) visit(event);
    });
  };
  std::size_t count = 0;
  each_end([&](TraceEvent&) { ++count; });
  ends_ = FlowEnds(count);
  each_end([&](TraceEvent& event) { ends_.add(event); });
}

void TraceGathering::match(Trace& trace) {
  const Rank most = bundle_.router().size();
  std::unordered_map<Rank, Batch> batches;
  trace.for_each([&](std::uint32_t, TraceEvent& event) {
    if (event.flow == 0 || !begins_flow(event.what()) || event.peer >= most) return;
    const Rank peer = static_cast<Rank>(event.peer);
    Batch& batch = batches[peer];
    batch.flows.push_back(event.flow);
    batch.events.push_back(&event);
    if (batch.flows.size() == kBatch) ask(peer, batch);
  });
  for (auto& [peer, batch] : batches) {
    if (!batch.flows.empty()) ask(peer, batch);
  }
  bundle_.wait_until([this] { return asked_.empty(); });
}

void TraceGathering::ask(Rank peer, Batch& batch) {
  const std::uint32_t number = ++number_;
  const Batch& asked = asked_[number] = std::exchange(batch, {});
  // (A copy: the answer, which may come before this returns, takes the batch away.)
  const std::vector<TraceFlow> flows = asked.flows;
  endpoint_.request_medium<&TraceGathering::on_ask_flows>(peer, std::as_bytes(std::span(flows)),
                                                          number);
}

TraceGathering::Found TraceGathering::find(std::span<const TraceFlow> flows) noexcept {
  Found found{};
  for (std::size_t i = 0; i < flows.size(); ++i) {
    if (ends_.take(flows[i]) != nullptr) found[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return found;
}

void TraceGathering::mark(const Batch& batch, const Found& found) noexcept {
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    batch.events[i]->matched = found[i / 64] >> (i % 64) & 1;
  }
}

void TraceGathering::on_ask_flows(Request request, std::span<const std::byte> flows,
                                  std::uint32_t number) {
  std::array<TraceFlow, kBatch> all{};
  std::memcpy(all.data(), flows.data(), std::min(flows.size(), sizeof all));
  const Found found = find(std::span(all).first(std::min(flows.size() / sizeof all[0], kBatch)));
  std::move(request).reply<&TraceGathering::on_flows>(found, number);
}

void TraceGathering::on_flows(Reply, Found found, std::uint32_t number) {
  const auto asked = asked_.find(number);
  if (asked == asked_.end()) return;
  mark(asked->second, found);
  asked_.erase(asked);
}

// --- Text

void TraceGathering::send(std::string_view lines) {
  if (file_ == nullptr) {
    endpoint_.request_medium<&TraceGathering::on_lines>(0, std::as_bytes(std::span(lines)));
    return;
  }
  file_->append(lines);
  bundle_.poll();
}

void TraceGathering::on_lines(OneWay, std::span<const std::byte> lines) {
  if (file_ == nullptr) return;
  file_->append({reinterpret_cast<const char*>(lines.data()), lines.size()});
}

}  // namespace am
