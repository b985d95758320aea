// Measures the round trip of a short request and its reply between pairs of processes: 0 and 1, 2
// and 3, and so on. Where one is left over, it plays with itself.
//
//   ./run -n 2 ping_pong

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "am/am.h"

namespace {

constexpr int kRounds = 20;
constexpr std::uint64_t kTrips = 1000;  // in a round

std::uint64_t pongs = 0;  // the number of the last one

void on_pong(am::Reply, std::uint64_t trip) { pongs = trip; }
void on_ping(am::Request ping, std::uint64_t trip) { std::move(ping).reply<&on_pong>(trip); }

// Microseconds a round trip to `partner` takes. The fastest round is the one that nothing else on
// this machine disturbed.
double measure(am::Endpoint& endpoint, am::Rank partner) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  double fastest = 1e9;
  std::uint64_t trip = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kTrips; ++i) {
      endpoint.request<&on_ping>(partner, ++trip);
      endpoint.bundle().wait_until([trip] { return pongs == trip; });
    }
    const Microseconds took = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, took.count() / kTrips);
  }
  return fastest;
}

void play() {
  am::Job job;
  am::Bundle bundle(job);
  am::Endpoint endpoint(bundle);
  endpoint.add_handlers<&on_ping, &on_pong>();
  job.connect(endpoint);

  const am::Rank partner = std::min(job.rank() ^ 1, job.size() - 1);
  if (job.rank() <= partner) {
    const double trip_us = measure(endpoint, partner);
    std::printf("ranks %u and %u: %.3f us\n", job.rank(), partner, trip_us);
  }
  // The partner comes here at once: finish() answers messages until all processes have come.
  job.finish(bundle);
}

}  // namespace

int main() {
  try {
    play();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ping_pong: %s\n", error.what());
    return 1;
  }
}
