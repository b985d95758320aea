#include <algorithm>

#include "am/am.h"
#include "benchmarks/network.h"
#include "benchmarks/support/clock.h"

namespace network {
namespace {

using bench::Bench;
using Way = bench::RawNetwork::Way;
using Done = bench::RawNetwork::Done;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kTargets = 8;
// Samples are short: on a machine with other work the best of many is without it.
constexpr int kRoundTrips = 50;

}  // namespace

void short_messages(Bench& b) {
  const int n = b.count(kRoundTrips);
  beside(
      b, {"short_round_trip", 8}, 500, [&] { return b.messages.short_round_trip(n); },
      "fi_send, fi_recv", [&] { return b.raw_network->round_trip(8, n); });
}

void medium_messages(Bench& b) {
  const int n = b.count(kRoundTrips);
  for (const std::size_t bytes : {kKiB, 4 * kKiB}) {
    beside(
        b, {"medium_round_trip", bytes}, 300,
        [&] { return b.messages.medium_round_trip(bytes, n); }, "fi_send, fi_recv",
        [&] { return b.raw_network->round_trip(bytes, n); });
  }
}

void long_messages(Bench& b) {
  for (const std::size_t bytes : {5 * kKiB, 10 * kKiB, 20 * kKiB, 64 * kKiB, 1024 * kKiB}) {
    const int n = b.count(bytes > 64 * kKiB ? 4 : 20);
    beside(
        b, {"long_round_trip", bytes}, 150, [&] { return b.messages.long_round_trip(bytes, n); },
        "fi_writedata", [&] { return b.raw_network->write_data_round_trip(bytes, n); });
  }
}

void long_streams(Bench& b) {
  for (const std::size_t bytes : {64 * kKiB, 1024 * kKiB}) {
    const int n = b.count(static_cast<int>(8 * 1024 * kKiB / bytes));
    beside(
        b, {"request_long", bytes, Kind::kBandwidth}, 80,
        [&] { return b.messages.stream_long(bytes, n, kTargets); }, "fi_write, delivered",
        [&] { return b.raw_network->stream_write(bytes, n, kTargets, Done::kDelivered); });
  }
}

void floods(Bench& b) {
  const int n = b.count(4000);
  const auto send = [&] { return b.raw_network->sends(n, Way::kSend); };
  beside(
      b, {"request_reply", 8, Kind::kRate}, 150, [&] { return b.messages.flood(n); }, "fi_send",
      send);
  beside(
      b, {"request_reply_answered", 8, Kind::kRate}, 150, [&] { return b.messages.flood(n); },
      "fi_send, answered", [&] { return b.raw_network->answered_sends(n); });
  beside(
      b, {"one_way", 8, Kind::kRate}, 150, [&] { return b.messages.one_way(n); }, "fi_send", send);
}

void barriers(Bench& b) {
  if (b.job.size() > 2) {
    b.report.say("barrier: left out, for it is one of all processes and these are more than two");
    return;
  }
  const int n = b.count(kRoundTrips);
  beside(
      b, {"barrier", 0}, 300,
      [&] {
        const bench::Stopwatch watch;
        for (int i = 0; i < n; ++i) b.job.barrier(b.bundle);
        return watch.ns() / n;
      },
      "a message each", [&] { return b.raw_network->barrier(n); });
}

}  // namespace network
