#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "examples/em3d/graph.h"
#include "splitc/splitc.h"

namespace em3d {

// The values of the nodes of one side, `size` of them on each process.
using Values = splitc::spread_array<double>;

// Where the value of some node is.
using Source = splitc::global_ptr<const double>;

// A copy, in this process, of the value of a node of another one.
struct Ghost {
  Source source;
  double* copy;
};

// The same, seen from the process that owns the node: its value, and a copy of it elsewhere.
struct Consumer {
  const double* value;
  splitc::global_ptr<double> copy;
};

// One round of sending: what this process sends to the one some ranks above it, and what it
// receives from the one as many below, which is another one unless there are two.
struct Exchange {
  std::span<const Consumer> consumers;  // of the receiver
  std::vector<double> parcel;           // room for their values
  splitc::put_channel<double> channel;  // writes the parcel into the receiver's ghosts
};

// Half a step on this process: brings the values of the nodes of one side up to date from those of
// the other side. Has the edges in every form that some version wants.
class Sweep {
  Values copies_{0};  // the memory of the ghosts: first, as it outlives the channels

 public:
  // The values of the nodes of `side` are in `own`, those of the other side in `other`; both
  // outlive this. Collective, and so is the end of it.
  Sweep(const Options& options, Side side, const Values& own, const Values& other);

  // Constant after construction. Edge k of node i is at i * degree + k.
  const std::uint32_t degree;
  const std::span<double> values;                // of the nodes
  std::vector<double> weights;                   // of the edges
  std::vector<Source> sources;                   // of the edges: the value at the other end
  std::vector<const double*> nearby;             // that value, or its ghost
  std::vector<Ghost> ghosts;                     // by process, then by place
  std::vector<std::vector<Consumer>> consumers;  // by process, in the order of its ghosts
  std::vector<Exchange> exchanges;               // with all that are given to open_channels()

  // Collective: makes the channels to the processes that are `partners`, 0 or 1 for each. Who is a
  // partner of a process has it as one, too.
  void open_channels(std::span<const char> partners);

 private:
  void find_sources(const Options& options, Side side, const Values& other);
  std::vector<Source> remote_sources() const;
  void make_ghosts(std::span<const Source> remote);
  void find_consumers(std::span<const Source> remote);
};

// Collective: which processes have edges with this one, of whichever side and direction: 0 or 1 for
// each process.
std::vector<char> partners_of(const Sweep& electric, const Sweep& magnetic);

}  // namespace em3d
