// What a provider of libfabric does when nothing of the library is in the way, and what its
// settings cost. The provider is the one that the library chooses, or SPLITC_PROVIDER names.

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/network_program.h"

namespace {

using bench::Bench;
using bench::RawFabric;
using bench::RawNetwork;
using Way = RawNetwork::Way;
using Done = RawNetwork::Done;

void round_trips(Bench& b) {
  RawNetwork& raw = *b.raw_network;
  const int n = b.count(200);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{1} << 10,
                                  std::size_t{4} << 10, std::size_t{64} << 10}) {
    const auto samples =
        b.pair.interleave(b.reps(60), {[&] { return raw.round_trip(bytes, n); },
                                       [&] { return raw.round_trip(bytes, n, Way::kSend); },
                                       [&] { return raw.write_data_round_trip(bytes, n); }});
    b.report.add_time("send_recv_round_trip", bytes, samples[0]);
    b.report.add_time("uninjected_round_trip", bytes, samples[1], "shortest", samples[0]);
    b.report.add_time("writedata_round_trip", bytes, samples[2], "send", samples[0]);
  }
}

void accesses(Bench& b) {
  RawNetwork& raw = *b.raw_network;
  const int n = b.count(200);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 10}) {
    const auto samples =
        b.pair.interleave(b.reps(60), {[&] { return raw.read(bytes, n); },
                                       [&] { return raw.write(bytes, n, Done::kLocal); },
                                       [&] { return raw.write(bytes, n, Done::kDelivered); }});
    b.report.add_time("read", bytes, samples[0]);
    b.report.add_time("write_local", bytes, samples[1]);
    b.report.add_time("write_delivered", bytes, samples[2]);
  }
}

// Many at once: more or fewer of them.
void streams(Bench& b) {
  constexpr std::size_t kPlaces = 8;
  RawNetwork& raw = *b.raw_network;
  for (const std::size_t bytes :
       {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{4} << 20}) {
    const int n = b.count(static_cast<int>(std::size_t{8} << 20) / static_cast<int>(bytes) + 8);
    for (const std::uint64_t window : {2, 8, 64}) {
      raw.fabric().set_window(window);
      const auto samples = b.pair.interleave(
          b.reps(40), {[&] { return raw.stream_read(bytes, n, kPlaces); },
                       [&] { return raw.stream_write(bytes, n, kPlaces, Done::kLocal); },
                       [&] { return raw.stream_write(bytes, n, kPlaces, Done::kDelivered); }});
      const std::string by = "_by_" + std::to_string(window);
      b.report.add_bandwidth("read" + by, bytes, samples[0]);
      b.report.add_bandwidth("write_local" + by, bytes, samples[1]);
      b.report.add_bandwidth("write_delivered" + by, bytes, samples[2]);
    }
  }
  raw.fabric().set_window(RawFabric::kLargestWindow);
}

void rates(Bench& b) {
  RawNetwork& raw = *b.raw_network;
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(
      b.reps(30),
      {[&] { return raw.inject_writes(n); }, [&] { return raw.sends(n, Way::kSend); },
       [&] { return raw.sends(n, Way::kInject); }, [&] { return raw.answered_sends(n); },
       [&] { return raw.stream_write(8, n, 1, Done::kDelivered); },
       [&] { return raw.stream_read(8, n, 1); }});
  b.report.add_rate("inject_write", 8, samples[0], "fi_send", samples[1]);
  b.report.add_rate("inject", 8, samples[2], "fi_send", samples[1]);
  b.report.add_rate("answered_send", 8, samples[3], "fi_send", samples[1]);
  b.report.add_rate("write_delivered", 8, samples[4], "fi_send", samples[1]);
  b.report.add_rate("read", 8, samples[5], "fi_send", samples[1]);
}

struct Variant {
  const char* name;
  RawFabric::Options options;
};

// Each variant has an endpoint of its own in the same two processes. All processes must be here.
void settings(Bench& b) {
  const Variant variants[]{
      {"domain_none", {.threading = FI_THREAD_DOMAIN, .wait = FI_WAIT_NONE}},
      {"domain_none_again", {.threading = FI_THREAD_DOMAIN, .wait = FI_WAIT_NONE}},
      {"domain_descriptor", {.threading = FI_THREAD_DOMAIN, .wait = FI_WAIT_FD}},
      {"completion_none", {.threading = FI_THREAD_COMPLETION, .wait = FI_WAIT_NONE}},
      {"completion_descriptor", {.threading = FI_THREAD_COMPLETION, .wait = FI_WAIT_FD}},
      {"safe_none", {.threading = FI_THREAD_SAFE, .wait = FI_WAIT_NONE}},
      {"safe_descriptor", {.threading = FI_THREAD_SAFE, .wait = FI_WAIT_FD}},
  };
  std::vector<std::string> names;
  std::vector<std::unique_ptr<RawFabric>> fabrics;
  std::vector<std::unique_ptr<RawNetwork>> networks;
  for (Variant variant : variants) {
    bench::complete(variant.options, b.job);
    if (!RawFabric::can_open(variant.options)) {
      b.report.say(std::string(variant.name) + ": the provider crashes");
      continue;
    }
    try {
      fabrics.push_back(bench::open_fabric(b.job, b.pair, variant.options));
    } catch (const std::exception& error) {
      b.report.say(std::string(variant.name) + ": " + error.what());
      continue;
    }
    names.push_back(variant.name);
    if (b.raw_network != nullptr) {
      networks.push_back(std::make_unique<RawNetwork>(b.pair, *fabrics.back()));
    }
  }
  if (b.raw_network == nullptr) return;
  std::vector<bench::Pair::Contender> contenders;
  const int n = b.count(200);
  for (const auto& network : networks) {
    contenders.push_back([&, n] { return network->round_trip(8, n); });
    contenders.push_back([&, n] { return network->read(8, n); });
    contenders.push_back([&, n] { return network->empty_poll(n); });
  }
  const auto samples = b.pair.interleave(b.reps(100), contenders);
  for (std::size_t i = 0; i < names.size(); ++i) {
    b.report.add_time("round_trip_" + names[i], 8, samples[3 * i], names[0], samples[0]);
    b.report.add_time("read_" + names[i], 8, samples[3 * i + 1], names[0], samples[1]);
    b.report.add_time("empty_poll_" + names[i], 0, samples[3 * i + 2], names[0], samples[2]);
  }
}

// Rank 0 greets one process after the other, and looks into its queue after each.
void peers(Bench& b) {
  const auto fabric = bench::open_fabric(b.job, b.pair, {});
  if (b.job.rank() != 0) {
    fabric->wait_until([&] { return fabric->received() == 1; });
    fabric->send_short(0, 8);
    fabric->wait_until([&] { return fabric->received() == 2; });
    b.job.exchange(0);
    return;
  }
  const int n = b.count(2000);
  for (am::Rank peer = 0; peer < b.job.size(); ++peer) {
    if (peer != 0) {
      fabric->send_short(peer, 8);
      fabric->wait_until([&] { return fabric->received() == peer && fabric->idle(); });
    }
    bench::Samples samples;
    for (int rep = 0; rep < b.reps(100); ++rep) {
      const bench::Stopwatch watch;
      for (int i = 0; i < n; ++i) fabric->poll();
      samples.add(watch.ns() / n);
    }
    b.report.add_time("empty_poll_peers_" + std::to_string(peer), 0, samples);
  }
  for (am::Rank peer = 1; peer < b.job.size(); ++peer) fabric->send_short(peer, 8);
  fabric->drain();
  b.job.exchange(0);  // nobody closes an endpoint before everything has arrived
}

void stalls(Bench& b) {
  RawNetwork& raw = *b.raw_network;
  for (const auto& [name, done] :
       {std::pair{"write_local", Done::kLocal}, std::pair{"write_delivered", Done::kDelivered}}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64} << 10}) {
      bench::Samples times;
      bool seen = true;
      for (int rep = 0; rep < b.reps(3); ++rep) {
        const RawNetwork::Stalled stalled = raw.stalled_write(bytes, done);
        times.add(stalled.ns);
        seen = seen && stalled.seen;
      }
      b.report.add_time(std::string(name) + "_to_stalled", bytes, times);
      b.report.say(std::string("  the bytes were ") + (seen ? "" : "not ") +
                   "there before the other process looked into its queue");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_network_program(
      argc, argv,
      {.name = "fabric",
       .what = "a provider of libfabric by hand, without the library",
       .measurements =
           {
               {"round_trip", "fi_inject or fi_send there and back; fi_send; fi_writedata",
                round_trips},
               {"access", "fi_read and fi_write, complete here or over there", accesses},
               {"stream", "the same, many at once, to 8 places", streams},
               {"rate", "8 bytes, many at once", rates},
               {"settings", "what kinds of waiting and locking cost", settings, true},
               {"peers", "an empty look into the queue, with more and more peers", peers, true},
               {"stall", "writes to a process that looks away for 100 ms", stalls},
           },
       .route = "raw",
       .anywhere = true});
}
