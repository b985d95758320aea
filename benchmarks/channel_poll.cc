// What Bundle::poll costs with nothing to do and 0 to 10,000 channels, right after all of them were
// put, and when they are idle: splitcrun -n 2 [--nodes 2] channel_poll. CkDirect looked at every
// armed one of them in every poll. Rank 0 receives and polls; rank 1 sends.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "am/am.h"
#include "benchmarks/support/clock.h"
#include "benchmarks/support/network_program.h"

namespace {

using bench::Bench;

constexpr std::size_t kBytes = 64;
constexpr int kRounds = 5;         // of puts
constexpr int kFirstPolls = 1000;  // after each

// Empty polls of rank 0.
void report_polls(Bench& b, const std::string& name) {
  const int n = b.count(20000);
  const auto samples = b.pair.interleave(b.reps(50), {[&] {
                                           if (!b.pair.first()) return 0.0;
                                           const bench::Stopwatch watch;
                                           for (int i = 0; i < n; ++i) b.bundle.poll();
                                           return watch.ns() / n;
                                         }});
  b.report.add_time(name, 0, samples[0]);
}

// Rank 0's ends of `count` channels.
struct Receivers {
  Receivers(Bench& b, int count) {
    for (int i = 0; i < count; ++i) {
      std::byte* const place = b.pair.buffer(0) + static_cast<std::size_t>(i) * kBytes;
      channels.emplace_back(b.bundle, std::span(place, kBytes), [this] { ++arrived; });
    }
  }
  std::vector<am::ReceiveChannel> channels;
  int arrived = 0;
};

// Of the polls after all puts of a round have been reported.
void receive_rounds(Bench& b, Receivers& in) {
  const auto count = static_cast<int>(in.channels.size());
  bench::Samples first;
  for (int round = 1; round <= kRounds; ++round) {
    b.pair.meet();
    b.bundle.wait_until([&] { return in.arrived == round * count; });
    for (am::ReceiveChannel& channel : in.channels) channel.ready_mark();
    const bench::Stopwatch watch;
    for (int i = 0; i < kFirstPolls; ++i) b.bundle.poll();
    first.add(watch.ns() / kFirstPolls);
    if (round == kRounds) break;
    for (am::ReceiveChannel& channel : in.channels) channel.ready_poll();
  }
  if (count > 0) b.report.add_time("poll_first_" + std::to_string(count), 0, first);
}

void receive(Bench& b, int count) {
  Receivers in(b, count);
  for (const am::ReceiveChannel& channel : in.channels) b.messages.swap(channel.handle());
  receive_rounds(b, in);
  report_polls(b, "poll_marked_" + std::to_string(count));
  for (am::ReceiveChannel& channel : in.channels) channel.ready_poll();
  report_polls(b, "poll_armed_" + std::to_string(count));
  b.pair.meet();  // nobody sends any more
}

void send(Bench& b, int count) {
  std::vector<am::SendChannel> out;
  for (int i = 0; i < count; ++i) {
    out.emplace_back(b.bundle, b.messages.swap(am::ChannelHandle{}));
    out.back().associate({b.pair.source(), kBytes});
  }
  for (int round = 0; round < kRounds; ++round) {
    b.pair.meet();
    for (am::SendChannel& channel : out) channel.put();
  }
  report_polls(b, "");
  report_polls(b, "");
  for (am::SendChannel& channel : out) channel.close();
  b.pair.meet();
}

void idle_channels(Bench& b) {
  for (const int count : {0, 1, 100, 10'000}) {
    if (b.pair.first()) {
      receive(b, count);
    } else {
      send(b, count);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program_anywhere(
      argc, argv,
      {.name = "channel_poll",
       .what = "Bundle::poll with nothing to do, by the number of channels",
       .measurements = {{"idle",
                         "channels that were put just now, that are marked, and that are armed",
                         idle_channels}}});
}
