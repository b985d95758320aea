// What the ways cost in which a collective call can go, and from which size on which is cheapest.
// Pure arithmetic: it knows no job.
#pragma once

#include <cstdint>
#include <optional>

namespace am {

// A network between nodes, by the model of Alexandrov, Ionescu, Schauser and Scheiman (LogGP,
// 1995), without g: no collective call sends many messages to one process at a time.
struct LogGP {
  double latency_ns;   // L: of a message, on its way
  double overhead_ns;  // o: that sender and receiver spend on a message, each
  double byte_ns;      // G: of a byte of a long message, of a sender as of a receiver
};

// Part of o that a message costs among several that share frames.
inline constexpr double kShare = 0.4;

// The processes of a job.
struct CollectiveShape {
  std::uint32_t procs = 1;
  std::uint32_t nodes = 1;
  std::uint32_t most_near = 1;       // processes of the node that has most
  double crowding = 1;               // processes a core, on the machine that has most; at least 1
  std::uint64_t board = 256 * 1024;  // most bytes that a barrier brings
};

// Up to which size a call goes by boards, through memory that the barrier itself fills; beyond it
// the bytes move once, from where they are to where they shall be (docs/collectives.md). In bytes
// of each process, but `all_to_all`: of each part.
struct Crossovers {
  std::uint64_t broadcast;
  std::uint64_t gather;
  std::uint64_t reduce;         // everybody combines everything
  std::uint64_t reduce_slices;  // everybody combines a slice, which come and go by boards
  std::uint64_t all_to_all;
};

// What the user says of them, in place of the model.
struct ChosenCrossovers {
  std::optional<std::uint64_t> broadcast, gather, reduce, reduce_slices, all_to_all;
};

// The cheapest by the model. On one node `network` is not looked at. The same bits for the same
// arguments, as all processes of a job must come to the same.
Crossovers cheapest(const CollectiveShape& shape, const LogGP& network);

// `model`, but for what is chosen.
Crossovers chosen(const Crossovers& model, const ChosenCrossovers& choice) noexcept;

}  // namespace am
