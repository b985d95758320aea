// The parameters of the LogP model (Culler et al.), on one node:
//   o_s, o_r  overhead: time that the sender, the receiver spends on one message
//   g         gap: time between messages of an endless stream
//   L         latency: what is left of half a round trip after o_s and o_r
//   G         gap per byte of long messages
// The overheads are those of a burst whose cache lines have not been touched for a while, the round
// trip is that of one hot line: where o_s + o_r exceed half a round trip, L is given as 0.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/support/clock.h"
#include "benchmarks/support/program.h"
#include "splitc/splitc.h"

namespace {

using bench::Bench;
using bench::Messages;
using bench::Samples;

void add(Bench& b, const std::string& name, std::size_t bytes, double ns) {
  b.report.add({.name = name, .bytes = bytes, .value = ns, .median = ns});
}

struct Burst {
  Samples send, receive, collect;
};

// Bursts of messages that stay below the credits.
Burst bursts(Bench& b, const std::function<Messages::Overheads()>& one) {
  Burst burst;
  const int reps = b.reps(400);
  for (int rep = 0; rep < reps; ++rep) {
    b.pair.meet();
    const Messages::Overheads costs = one();
    burst.send.add(costs.send);
    burst.receive.add(costs.receive);
    burst.collect.add(costs.collect);
  }
  return burst;
}

void report_latency(Bench& b, const std::string& name, std::size_t bytes, double round_trip,
                    const Burst& burst) {
  const double overheads = burst.send.minimum() + burst.receive.minimum();
  add(b, name + "_half_round_trip", bytes, round_trip / 2);
  add(b, name + "_L", bytes, std::max(0.0, round_trip / 2 - overheads));
}

void short_pairs(Bench& b) {
  const int n = b.count(1000);
  const Burst burst = bursts(b, [&] { return b.messages.short_overheads(32); });
  const auto samples = b.pair.interleave(
      b.reps(300),
      {[&] { return b.messages.short_round_trip(n); }, [&] { return b.messages.flood(n); }});
  b.report.add_time("request_o_s", 8, burst.send);
  b.report.add_time("request_o_r_with_reply", 8, burst.receive);
  b.report.add_time("reply_o_r", 8, burst.collect);
  b.report.add_time("request_reply_g", 8, samples[1]);
  report_latency(b, "request", 8, samples[0].minimum(), burst);
}

void one_way(Bench& b) {
  const int n = b.count(1000);
  const Burst burst = bursts(b, [&] { return b.messages.one_way_overheads(32); });
  const auto samples = b.pair.interleave(b.reps(300), {[&] { return b.messages.one_way(n); }});
  b.report.add_time("one_way_o_s", 8, burst.send);
  b.report.add_time("one_way_o_r", 8, burst.receive);
  b.report.add_time("one_way_g", 8, samples[0]);
}

void medium(Bench& b) {
  const std::size_t bytes = am::max_medium();
  const int n = b.count(200);
  const Burst burst = bursts(b, [&] { return b.messages.medium_overheads(bytes, 8); });
  const auto samples =
      b.pair.interleave(b.reps(200), {[&] { return b.messages.medium_round_trip(bytes, n); }});
  b.report.add_time("medium_o_s", bytes, burst.send);
  b.report.add_time("medium_o_r_with_reply", bytes, burst.receive);
  b.report.add_time("medium_reply_o_r", bytes, burst.collect);
  report_latency(b, "medium", bytes, samples[0].minimum(), burst);
}

// A store there and a store back, each waited for by store_sync.
double store_round_trip(Bench& b, int times) {
  const splitc::global_ptr<std::uint64_t> there(b.pair.other(), b.pair.buffer_offset());
  const bench::Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    if (b.pair.first()) splitc::store(there, 1);
    splitc::store_sync(sizeof(std::uint64_t));
    if (!b.pair.first()) splitc::store(there, 1);
  }
  return watch.ns() / times;
}

// `times` stores that nobody waits for meanwhile, then what the receiver pays to consume them.
double store_overhead(Bench& b, int times) {
  const splitc::global_ptr<std::uint64_t> there(1, b.pair.buffer_offset());
  const bench::Stopwatch watch;
  if (b.pair.first()) {
    for (int i = 0; i < times; ++i) splitc::store(there, 1);
  }
  const double ns = watch.ns() / times;
  b.raw.barrier(1);
  if (!b.pair.first()) splitc::store_sync(sizeof(std::uint64_t) * static_cast<unsigned>(times));
  return ns;
}

void stores(Bench& b) {
  const int n = b.count(1000);
  const auto samples = b.pair.interleave(
      b.reps(300), {[&] { return store_overhead(b, n); }, [&] { return store_round_trip(b, n); }});
  b.report.add_time("store_o_s", 8, samples[0]);
  const double half = samples[1].minimum() / 2;
  add(b, "store_half_round_trip", 8, half);
  add(b, "store_L_and_o_r", 8, std::max(0.0, half - samples[0].minimum()));
}

void bulk(Bench& b) {
  const std::size_t bytes = 1u << 20;
  const int n = b.count(16);
  const auto samples =
      b.pair.interleave(b.reps(50), {[&] { return b.messages.stream_long(bytes, n, 8); }});
  const double per_byte = samples[0].minimum() / static_cast<double>(bytes);
  b.report.add({.name = "long_G",
                .bytes = bytes,
                .value = per_byte * 1e3,
                .median = samples[0].median() / static_cast<double>(bytes) * 1e3,
                .unit = "ps/B"});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "logp",
       .what = "send and receive overhead, gap and latency of each kind of message",
       .measurements = {
           {"short", "short request and reply", short_pairs},
           {"one_way", "short request that nobody answers", one_way},
           {"medium", "medium request and reply, 4 KiB each", medium},
           {"store", "store of 8 bytes", stores},
           {"bulk", "gap per byte of long requests of 1 MiB", bulk},
       }});
}
