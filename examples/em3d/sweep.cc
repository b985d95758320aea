#include "examples/em3d/sweep.h"

#include <algorithm>
#include <iterator>

namespace em3d {
namespace {

using namespace splitc;

// The part of a process's ghosts whose sources one other process owns.
struct Range {
  std::uint32_t first;
  std::uint32_t count;
};

}  // namespace

Sweep::Sweep(const Options& options, Side side, const Values& own, const Values& other)
    : degree(options.degree), values(own.mine()), consumers(procs()) {
  find_sources(options, side, other);
  const std::vector<Source> remote = remote_sources();
  // At least one, so that there is somewhere to send nothing to.
  copies_ = Values(procs(), all_reduce(std::max<std::size_t>(1, remote.size()), maximum()));
  make_ghosts(remote);
  find_consumers(remote);
}

void Sweep::find_sources(const Options& options, Side side, const Values& other) {
  const Graph graph(options, procs());
  for (std::uint32_t i = 0; i < options.size; ++i) {
    for (std::uint32_t k = 0; k < degree; ++k) {
      const Neighbour end = graph.neighbour(side, my_proc(), i, k);
      weights.push_back(end.weight);
      sources.push_back(other.on(end.proc) + end.index);
    }
  }
}

// Those of other processes, each once however many edges lead to it.
std::vector<Source> Sweep::remote_sources() const {
  std::vector<Source> remote;
  std::ranges::copy_if(sources, std::back_inserter(remote),
                       [](Source source) { return toproc(source) != my_proc(); });
  std::ranges::sort(remote);
  remote.erase(std::unique(remote.begin(), remote.end()), remote.end());
  return remote;
}

void Sweep::make_ghosts(std::span<const Source> remote) {
  double* copy = copies_.mine().data();
  for (const Source source : remote) ghosts.push_back({source, copy++});
  for (const Source source : sources) {
    if (toproc(source) == my_proc()) {
      nearby.push_back(tolocal(source));
    } else {
      nearby.push_back(std::ranges::lower_bound(ghosts, source, {}, &Ghost::source)->copy);
    }
  }
}

// Everybody says to the owners which of their nodes it has ghosts of.
void Sweep::find_consumers(std::span<const Source> remote) {
  spread_array<Source> wanted(procs(), copies_.block());
  spread_array<Range> ranges(procs(), procs());  // at the owner, by consumer
  std::ranges::copy(remote, wanted.mine().begin());
  for (auto first = remote.begin(); first != remote.end();) {
    const std::uint32_t owner = toproc(*first);
    const auto last = std::ranges::find_if(
        first, remote.end(), [owner](Source source) { return toproc(source) != owner; });
    put(ranges.on(owner)[my_proc()], {static_cast<std::uint32_t>(first - remote.begin()),
                                      static_cast<std::uint32_t>(last - first)});
    first = last;
  }
  sync();
  barrier();
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const Range range = ranges.mine()[proc];
    std::vector<Source> own(range.count);
    bulk_read(std::span(own), wanted.on(proc) + range.first);
    global_ptr<double> copy = copies_.on(proc) + range.first;
    for (const Source source : own) consumers[proc].push_back({tolocal(source), copy++});
  }
}

void Sweep::open_channels(std::span<const char> partners) {
  for (std::uint32_t distance = 1; distance < procs(); ++distance) {
    const std::uint32_t receiver = (my_proc() + distance) % procs();
    const std::vector<Consumer>& to = consumers[receiver];
    global_ptr<double> first = to.empty() ? copies_.on(receiver) : to.front().copy;
    if (!partners[receiver]) first = nullptr;
    std::vector<double> parcel(to.size());
    const std::span<const double> source(parcel);  // stays there when the vector is moved
    exchanges.push_back({to, std::move(parcel), put_channel<double>(first, source)});
  }
}

std::vector<char> partners_of(const Sweep& electric, const Sweep& magnetic) {
  std::vector<char> sends_to(procs());
  for (const Sweep* sweep : {&electric, &magnetic}) {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      sends_to[proc] |= !sweep->consumers[proc].empty();
    }
  }
  std::vector<char> partners(procs());
  all_to_all(std::span<const char>(sends_to), std::span(partners));
  for (std::uint32_t proc = 0; proc < procs(); ++proc) partners[proc] |= sends_to[proc];
  return partners;
}

}  // namespace em3d
