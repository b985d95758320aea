#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "am/collective/nodes.h"
#include "am/collective/payload.h"
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
  // What `near`, of this node, contributes.
  const std::byte* bytes_of(Rank near) const noexcept;
  // Kept from one call to the next.
  std::vector<std::byte>& memory() const noexcept { return memory_; }

 private:
  const std::byte* header_of(Rank near) const noexcept;

  const Router& router_;
  const Nodes& nodes_;
  std::vector<std::byte>& memory_;
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
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;
  void end() override;

 private:
  std::uint32_t blocks(int round) const noexcept;
  std::size_t size(std::uint32_t blocks) const noexcept;

  const std::size_t bytes_;
  std::byte* const to_;
};

// The bytes of one process to every node.
class Broadcast final : public SameCall {
 public:
  // Of `bytes` of `root`. They come to `to` at the leaders of all nodes but that of the root, where
  // all can read what it shows.
  Broadcast(Barrier& barrier, const Shown& shown, std::size_t bytes, Rank root, std::byte* to);

  std::span<const std::byte> outgoing(int round) override;
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;

 private:
  const std::size_t bytes_;
  const Rank root_;
  std::uint32_t distance_;  // of this node from that of the root
  std::byte* const to_;
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
  std::size_t incoming_bytes(int round) const override;
  void incoming(int round, std::span<const std::byte> data) override;
  void end() override;

 private:
  template <class Visit>
  void for_travellers(int round, std::uint32_t travelled, const Visit& visit) const;
  std::size_t size(std::uint32_t origin, std::uint32_t distance) const noexcept;
  std::byte* block(std::uint32_t distance) const noexcept {
    return memory().data() + distance * stride_;
  }

  const std::size_t bytes_;
  std::byte* const to_;
  std::size_t stride_ = 0;  // of the parts from one node to another, in memory()
};

}  // namespace am
