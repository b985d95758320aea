#include "examples/em3d/versions.h"

#include <algorithm>

#include "splitc/splitc.h"

// Each version first brings the values it needs into reach, then computes. While one side is being
// brought up to date nobody changes the other, so one barrier, or what works as one, is enough in
// half a step. Where consumers fetch, it is behind the computation: who passes it finds new values.
// Where owners send, it is in front: who passes it has all values, and everybody has used those of
// the half step before. Channels need none: see there.

namespace em3d {
namespace {

using namespace splitc;

// --- Computing, once the values are in reach

void compute(Sweep& sweep) {
  std::size_t edge = 0;
  for (double& value : sweep.values) {
    for (std::uint32_t k = 0; k < sweep.degree; ++k, ++edge) {
      value = advance(value, sweep.weights[edge], *sweep.nearby[edge]);
    }
  }
}

// Four edges a turn: the loads of all can begin before the first is needed.
void compute_unrolled(Sweep& sweep) {
  const double* weight = sweep.weights.data();
  const double* const* other = sweep.nearby.data();
  for (double& node : sweep.values) {
    double value = node;
    std::uint32_t left = sweep.degree;
    for (; left >= 4; left -= 4, weight += 4, other += 4) {
      const double a = *other[0], b = *other[1], c = *other[2], d = *other[3];
      value = advance(value, weight[0], a);
      value = advance(value, weight[1], b);
      value = advance(value, weight[2], c);
      value = advance(value, weight[3], d);
    }
    for (; left > 0; --left) value = advance(value, *weight++, **other++);
    node = value;
  }
}

// --- The versions

// Reads through global pointers where it needs the values: every edge waits for its own.
void simple(Sweep& sweep) {
  std::size_t edge = 0;
  for (double& value : sweep.values) {
    for (std::uint32_t k = 0; k < sweep.degree; ++k, ++edge) {
      value = advance(value, sweep.weights[edge], *sweep.sources[edge]);
    }
  }
  barrier();
}

// Reads each remote value once, however many edges want it.
void read_ghosts(Sweep& sweep) {
  for (const Ghost& ghost : sweep.ghosts) *ghost.copy = *ghost.source;
}
void bundle(Sweep& sweep) {
  read_ghosts(sweep);
  compute(sweep);
  barrier();
}
void unroll(Sweep& sweep) {
  read_ghosts(sweep);
  compute_unrolled(sweep);
  barrier();
}

// Starts all reads, then waits once.
void get(Sweep& sweep) {
  for (const Ghost& ghost : sweep.ghosts) splitc::get(*ghost.copy, ghost.source);
  sync();
  compute_unrolled(sweep);
  barrier();
}

// The owner sends: half of the way of a read.
void put(Sweep& sweep) {
  for (const auto& consumers : sweep.consumers) {
    for (const Consumer& consumer : consumers) splitc::put(consumer.copy, *consumer.value);
  }
  sync();
  barrier();
  compute_unrolled(sweep);
}

// The owner sends, and nobody tells it that the values have come.
void store(Sweep& sweep) {
  for (const auto& consumers : sweep.consumers) {
    for (const Consumer& consumer : consumers) splitc::store(consumer.copy, *consumer.value);
  }
  all_store_sync();
  compute_unrolled(sweep);
}

// The same in one parcel for each consumer. Its ghosts of one owner lie in the order of the parcel,
// so it lands unpacked.
void bulk(Sweep& sweep) {
  std::vector<double> parcel;
  for (const auto& consumers : sweep.consumers) {
    if (consumers.empty()) continue;
    parcel.clear();
    for (const Consumer& consumer : consumers) parcel.push_back(*consumer.value);
    bulk_store(consumers.front().copy, std::span(parcel));
  }
  all_store_sync();
  compute_unrolled(sweep);
}

// Another core has written them: they come faster in a row than one where an edge wants it.
void fetch_ghosts(const Sweep& sweep) {
  constexpr std::size_t kPerLine = 64 / sizeof(double);
  for (std::size_t i = 0; i < sweep.ghosts.size(); i += kPerLine) {
    __builtin_prefetch(sweep.ghosts[i].copy);
  }
}

// The same by channels, which were set up before. Everybody waits for its partners only.
//
// A put may come when the receiver is ready() for it. It is: between two puts to a partner this
// process has received what the partner sent in the half step between, and that was after it was
// ready. So partners send in both directions in every half step, if need be a parcel of nothing.
void channel(Sweep& sweep) {
  for (Exchange& to : sweep.exchanges) {
    if (!to.channel.sends()) continue;
    to.channel.wait_reusable();
    std::ranges::transform(to.consumers, to.parcel.begin(),
                           [](const Consumer& consumer) { return *consumer.value; });
    to.channel.put();
  }
  for (Exchange& from : sweep.exchanges) from.channel.wait();
  fetch_ghosts(sweep);
  compute_unrolled(sweep);
  for (Exchange& from : sweep.exchanges) from.channel.ready();
}

constexpr Version kVersions[] = {
    {"simple", "a blocking read for every edge", simple},
    {"bundle", "a blocking read for every remote node", bundle},
    {"unroll", "the same, and four edges a turn", unroll},
    {"get", "split-phase reads, one wait", get},
    {"put", "the owner writes, one wait", put},
    {"store", "the owner writes, nobody confirms", store},
    {"bulk", "one parcel for each consumer", bulk},
    {"channel", "the same by channels, no barrier", channel},
};

}  // namespace

std::span<const Version> versions() { return kVersions; }

}  // namespace em3d
