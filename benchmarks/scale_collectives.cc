#include "benchmarks/scale_collectives.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

using am::schedule::Call;
using am::schedule::Operation;
using am::schedule::Placement;
using am::schedule::Schedule;
using am::schedule::Step;

Placement one_each(std::uint32_t nodes) {
  std::vector<std::uint64_t> node_of(nodes);
  std::iota(node_of.begin(), node_of.end(), std::uint64_t{0});
  return Placement(node_of);
}

std::uint32_t partners_of(const Schedule& schedule) {
  std::set<std::uint32_t> partners;
  for (std::size_t round = 0; round < schedule.rounds(); ++round) {
    for (const Step& step : schedule.round(round)) {
      if (step.is_message()) partners.insert(step.peer);
    }
  }
  return static_cast<std::uint32_t>(partners.size());
}

// The members of a call, each of which goes on as far as what it has received lets it.
class Members {
 public:
  Members(const Call& call, std::uint32_t nodes, const Network& network)
      : network_(network), members_(nodes) {
    const Placement placement = one_each(nodes);
    for (std::uint32_t me = 0; me < nodes; ++me) {
      members_[me].schedule =
          choose(call, placement, me, am::schedule::Near::kMessages, am::schedule::Limits());
    }
  }

  Prediction perform() {
    for (std::uint32_t me = 0; me < members_.size(); ++me) ready_.push_back(me);
    while (!ready_.empty()) {
      const std::uint32_t me = ready_.front();
      ready_.pop_front();
      while (go_on(me)) continue;
    }
    Prediction all{0, work_us_, 0};
    for (const Member& one : members_) {
      all.us = std::max(all.us, one.now);
      all.connections = std::max(all.connections, partners_of(one.schedule));
    }
    return all;
  }

 private:
  struct Member {
    Schedule schedule;
    std::size_t round = 0;
    bool has_sent = false;  // in this round
    double now = 0;
    double wire_is_free = 0;
  };

  static std::uint64_t channel(std::uint32_t from, std::uint32_t to) {
    return std::uint64_t{from} << 32 | to;
  }

  // Whether `me` has ended a round.
  bool go_on(std::uint32_t me) {
    Member& member = members_[me];
    if (member.round == member.schedule.rounds()) return false;
    const auto steps = member.schedule.round(member.round);
    if (!std::exchange(member.has_sent, true)) send(me, steps);
    if (!receive(me, steps)) return false;
    ++member.round;
    member.has_sent = false;
    return true;
  }

  void send(std::uint32_t me, std::span<const Step> steps) {
    Member& member = members_[me];
    for (const Step& step : steps) {
      if (step.kind != Step::Kind::kSend) continue;
      const double on_wire = static_cast<double>(step.from.bytes) * network_.per_byte;
      member.now += network_.overhead;
      member.wire_is_free = std::max(member.wire_is_free, member.now) + on_wire;
      arrivals_[channel(me, step.peer)].push_back(member.wire_is_free + network_.latency);
      ready_.push_back(step.peer);
      work_us_ += 2 * network_.overhead + network_.latency + on_wire;
    }
  }

  // False: something has not been sent yet.
  bool receive(std::uint32_t me, std::span<const Step> steps) {
    std::map<std::uint32_t, std::size_t> wanted;
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::kReceive) ++wanted[step.peer];
    }
    const auto has_come = [&](const auto& one) {
      return arrivals_[channel(one.first, me)].size() >= one.second;
    };
    if (!std::ranges::all_of(wanted, has_come)) return false;
    std::vector<double> times;
    for (const auto& [peer, count] : wanted) {
      auto& there = arrivals_[channel(peer, me)];
      const auto end = there.begin() + static_cast<std::ptrdiff_t>(count);
      times.insert(times.end(), there.begin(), end);
      there.erase(there.begin(), end);
    }
    std::ranges::sort(times);
    double& now = members_[me].now;
    for (const double time : times) now = std::max(now, time) + network_.overhead;
    return true;
  }

  const Network network_;
  std::vector<Member> members_;
  std::unordered_map<std::uint64_t, std::vector<double>> arrivals_;
  std::deque<std::uint32_t> ready_;
  double work_us_ = 0;
};

// Of calls in which all members do alike: a round takes each what it sends and receives.
Prediction predict_alike(const Call& call, std::uint32_t nodes, const Network& network) {
  const Schedule schedule =
      choose(call, one_each(nodes), 0, am::schedule::Near::kMessages, am::schedule::Limits());
  double us = 0, work = 0;
  for (std::size_t round = 0; round < schedule.rounds(); ++round) {
    double messages = 0, bytes = 0;
    for (const Step& step : schedule.round(round)) {
      if (step.kind != Step::Kind::kSend) continue;
      messages += 1;
      bytes += static_cast<double>(step.from.bytes);
    }
    if (messages == 0) continue;
    us += 2 * messages * network.overhead + bytes * network.per_byte + network.latency;
    work += messages * (2 * network.overhead + network.latency) + bytes * network.per_byte;
  }
  return {us, work * nodes, partners_of(schedule)};
}

}  // namespace

std::vector<NamedCall> predicted_calls() {
  const auto of_words = [](Operation operation, std::uint64_t bytes) {
    return Call{.operation = operation, .bytes = bytes, .element_bytes = 8};
  };
  return {{"barrier", of_words(Operation::kBarrier, 0)},
          {"broadcast", of_words(Operation::kBroadcast, 8), true},
          {"broadcast_64K", of_words(Operation::kBroadcast, 65'536), true},
          {"reduce", of_words(Operation::kReduce, 8), true},
          {"all_reduce", of_words(Operation::kAllReduce, 8)},
          {"all_reduce_64K", of_words(Operation::kAllReduce, 65'536)},
          {"scan", of_words(Operation::kScan, 8), true},
          {"gather_to_one", of_words(Operation::kGather, 8), true},
          {"all_gather", of_words(Operation::kAllGather, 8)},
          {"all_to_all", of_words(Operation::kAllToAll, 8)}};
}

Prediction predict(const Call& call, std::uint32_t nodes, const Network& network) {
  const bool alike = call.operation == Operation::kBarrier ||
                     call.operation == Operation::kAllGather ||
                     call.operation == Operation::kAllToAll;
  return alike ? predict_alike(call, nodes, network) : Members(call, nodes, network).perform();
}

}  // namespace bench
