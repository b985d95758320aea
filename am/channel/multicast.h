#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "am/channel/channel.h"

namespace am {

// One put to many receivers. Those of this node get a copy each; of every other node one receiver
// gets it by network, first passes it on within its node and, as a tree, to other nodes, and is
// then called back like the rest. (CkDirect had this as future work.)
//
// The rule of channels holds for all of them together: a put comes after the ready() of every
// receiver for the one before.
//
// Thread rule: the bundle's.
class MulticastChannel {
 public:
  // `receivers`: handles of the same size, each with no other sender. Waits, polling, until those
  // who pass on what comes know it; they must poll meanwhile. Not by a handler or callback. Throws
  // Error: as SendChannel; sizes differ.
  MulticastChannel(Bundle& bundle, std::span<const ChannelHandle> receivers);

  // As SendChannel's.
  void associate(std::span<const std::byte> source);
  void associate(const std::byte* first, const Strided& shape);
  void alternate(std::span<const std::byte> source);
  void put();
  bool reusable() const noexcept;
  void close();

 private:
  std::vector<SendChannel> out_;  // to receivers of this node, and to those who pass on
};

}  // namespace am
