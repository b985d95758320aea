#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "am/link/link.h"
#include "am/types/types.h"

namespace am {

// What a barrier carries from node to node. Its rounds connect every node with every other anyway,
// so that data which go along cost no message of their own.
//
// In round k the leader of node i sends to that of node i + 2^k and receives from that of i - 2^k,
// around the ring of all nodes; the sizes follow from what all processes know. Only the leader's
// object is called; those of others say only that they are in the same call.
//
// Thread rule: the barrier's. It lives until the barrier has been passed.
class Payload {
 public:
  virtual ~Payload() = default;

  // Names the call, with all that has to be the same in all processes. Nothing is taken from a node
  // whose leader is in another.
  virtual std::uint64_t digest() const noexcept = 0;
  // All processes of this node have entered. False: not all of them are in this call.
  virtual bool begin() { return true; }
  // What is sent in `round`. Valid until the next call of this object, and, if it has a place(),
  // unchanged until the end of the barrier.
  virtual std::span<const std::byte> outgoing(int /*round*/) { return {}; }
  // Where the network may write it at once, if it is much; else it goes by packets.
  virtual std::optional<link::RemoteKey> place(int /*round*/) const { return std::nullopt; }
  // What comes in `round`, of incoming_bytes(round).
  virtual std::size_t incoming_bytes(int /*round*/) const { return 0; }
  virtual void incoming(int /*round*/, std::span<const std::byte> /*data*/) {}
  // The same where it has been written to the place that its sender has for this node.
  virtual void written(int /*round*/) {}
  // The last round is over, and the processes of this node will be let go.
  virtual void end() {}
};

}  // namespace am
