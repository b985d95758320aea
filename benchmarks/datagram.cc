// What messages cost between two nodes that are joined by datagrams, beside sendto() and recvfrom()
// alone, and beside libfabric's own way to make them reliable:
//   SPLITC_LINK=datagram splitcrun -n 2 --nodes 2 datagram
// With SPLITC_FAULT=drop:1 the same where one in a hundred is lost (the limits lose none).

#include <memory>

#include "am/am.h"
#include "am/route/port.h"
#include "benchmarks/support/network_program.h"
#include "benchmarks/support/program.h"
#include "benchmarks/support/raw_fabric.h"
#include "benchmarks/support/raw_network.h"
#include "benchmarks/support/raw_udp.h"

namespace {

using bench::Bench;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kRoundTrips = 50;
constexpr std::size_t kPlaces = 8;

struct Limits {
  std::unique_ptr<bench::RawUdp> udp;
  std::unique_ptr<bench::RawFabric> fabric;
  std::unique_ptr<bench::RawNetwork> rxd;
};
Limits* limits = nullptr;  // of the process

std::shared_ptr<void> prepare(Bench& b) {
  auto made = std::make_shared<Limits>();
  made->udp = std::make_unique<bench::RawUdp>(b.job, b.pair);
  made->fabric =
      bench::open_fabric(b.job, b.pair, {.provider = "udp;ofi_rxd", .network = "127.0.0.1/32"});
  b.report.say(b.job.router().port() == nullptr ? "no network: use --nodes 2"
                                                : b.job.router().port()->link().can().description);
  limits = made.get();
  if (b.job.rank() > 1) return made;
  made->rxd = std::make_unique<bench::RawNetwork>(b.pair, *made->fabric);
  if (!b.pair.near()) {
    b.pair.meet_over([](const auto& meanwhile) { limits->udp->meet(meanwhile); });
  }
  return made;
}

void short_messages(Bench& b) {
  const int n = b.count(kRoundTrips);
  const auto samples =
      b.pair.interleave(b.reps(500), {[&] { return limits->udp->round_trip(8, n); },
                                      [&] { return limits->rxd->round_trip(8, n); },
                                      [&] { return b.messages.short_round_trip(n); }});
  b.report.add_time("short_round_trip", 8, samples[2], "sendto, recvfrom", samples[0]);
  b.report.add_time("short_round_trip", 8, samples[2], "udp;ofi_rxd", samples[1]);
}

void medium_messages(Bench& b) {
  const int n = b.count(kRoundTrips);
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{4096}}) {
    const auto samples =
        b.pair.interleave(b.reps(300), {[&] { return limits->udp->round_trip(bytes, n); },
                                        [&] { return b.messages.medium_round_trip(bytes, n); }});
    b.report.add_time("medium_round_trip", bytes, samples[1], "sendto, recvfrom", samples[0]);
  }
}

void streams(Bench& b) {
  const int n = b.count(8);
  const auto samples =
      b.pair.interleave(b.reps(80), {[&] { return limits->udp->stream(kMiB, n); },
                                     [&] { return b.messages.stream_long(kMiB, n, kPlaces); }});
  b.report.add_bandwidth("request_long", kMiB, samples[1], "sendto, recvfrom", samples[0]);
}

// Alone: udp;ofi_rxd by hand loses messages of a flood (docs/transports.md), and then waits for
// ever.
void floods(Bench& b) {
  const int n = b.count(4000);
  const auto samples = b.pair.interleave(b.reps(100), {[&] { return b.messages.flood(n); }});
  b.report.add_rate("request_reply", 8, samples[0]);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program(
      argc, argv,
      {.name = "datagram",
       .what = "messages over datagrams, beside sendto() and recvfrom() alone",
       .measurements =
           {
               {"short", "request and reply, 8 bytes each", short_messages},
               {"medium", "the same with 1 KiB and 4 KiB", medium_messages},
               {"stream", "bandwidth of long requests of 1 MiB", streams},
               {"flood", "how many short requests a second", floods},
           },
       .route = "network",
       .anywhere = true,
       .prepare = prepare});
}
