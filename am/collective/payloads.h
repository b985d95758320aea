#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "am/collective/nodes.h"
#include "am/collective/payload.h"
#include "am/link/link.h"
#include "am/types/types.h"

namespace am {

class Barrier;
class Router;

// Where each process shows what it contributes to a collective call, before it enters the barrier:
// at the same offsets of all segments a header, which has to be the same in all processes, and the
// bytes.
struct Shown {
  std::uint64_t header;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
};

// Carries nothing, and compares the headers. What the others are made of.
class SameCall : public Payload {
 public:
  // This process shows its header already. `barrier` outlives it.
  SameCall(Barrier& barrier, const Shown& shown);

  std::uint64_t digest() const noexcept override { return digest_; }
  bool begin() override;

 protected:
  const Nodes& nodes() const noexcept { return nodes_; }
  const Router& router() const noexcept { return router_; }
  // The node to which this one sends in `round`.
  std::uint32_t receiver(int round) const noexcept;
  // What `near`, of this node, contributes.
  const std::byte* bytes_of(Rank near) const noexcept;
  // Memory of `bytes`, as much on all nodes, with the content of earlier calls: where other nodes
  // can write, if there is so much. To be taken in begin().
  void take_memory(std::size_t bytes);
  std::byte* memory() const noexcept { return memory_; }
  // The byte `at` of the memory of another node, if others can write there.
  std::optional<link::RemoteKey> memory_of(std::uint32_t node, std::size_t at) const noexcept;

 private:
  const std::byte* header_of(Rank near) const noexcept;

  Barrier& barrier_;
  const Router& router_;
  const Nodes& nodes_;
  std::byte* memory_ = nullptr;
  bool shared_ = false;
  const Shown shown_;
  const std::uint64_t digest_;
};

// Everybody's bytes to every node. In round k a node sends what it has of the 2^k nodes before it.
class Gathering final : public SameCall {
 public:
  // Of `bytes` of each process. At the leader of a node `to` gets those of all, by rank.
  Gathering(Barrier& barrier, const Shown& shown, std::size_t bytes, std::byte* to);

  bool begin() override;
  std::span<const std::byte> outgoing(int round) override;
  std::optional<link::RemoteKey> place(int round) const override;
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;
  void end() override;

 private:
  std::uint32_t blocks(int round) const noexcept;
  std::size_t size(std::uint32_t node, std::uint32_t blocks) const noexcept;

  const std::size_t bytes_;
  std::byte* const to_;
};

// The bytes of one process to every node.
class Broadcast final : public SameCall {
 public:
  // Of `bytes` of `root`. They come to `to` at the leaders of all nodes but that of the root, where
  // all can read what it shows. If `to` is in the segment, it is at the same offset on all nodes,
  // and what a leader shows for another payload is elsewhere.
  Broadcast(Barrier& barrier, const Shown& shown, std::size_t bytes, Rank root, std::byte* to);

  bool begin() override;
  std::span<const std::byte> outgoing(int round) override;
  std::optional<link::RemoteKey> place(int round) const override;
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;

 private:
  const std::size_t bytes_;
  const Rank root_;
  std::uint32_t distance_;  // of this node from that of the root
  std::byte* const to_;
  bool writes_ = false;  // the network can write to `to` of other nodes
};

// Part p of each process to process p. A part goes the distance between its nodes by the powers of
// two that it consists of: in each round half of all parts travel (Bruck et al. 1997).
class Transposition final : public SameCall {
 public:
  // Of procs parts of `bytes` of each process. At the leader of a node `to` gets those for the
  // lowest rank of the node, by their senders' ranks, and then those for the next.
  Transposition(Barrier& barrier, const Shown& shown, std::size_t bytes, std::byte* to);

  bool begin() override;
  std::span<const std::byte> outgoing(int round) override;
  std::optional<link::RemoteKey> place(int round) const override;
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;
  void written(int round) override;
  void end() override;

 private:
  template <class Visit>
  void for_travellers(int round, std::uint32_t travelled, const Visit& visit) const;
  std::size_t size(std::uint32_t origin, std::uint32_t distance) const noexcept;
  std::byte* block(std::uint32_t distance) const noexcept { return memory() + distance * stride_; }
  // Behind the blocks: what goes in each round, and what comes.
  std::size_t most_of_round() const noexcept;
  std::size_t leaving(int round) const noexcept;
  std::size_t coming(int round) const noexcept;

  const std::size_t bytes_;
  std::byte* const to_;
  const std::size_t stride_;  // of the parts from one node to another, in memory()
  const int rounds_;
};

}  // namespace am
