#pragma once

#include <span>
#include <vector>

#include "am/channel/channel.h"

namespace am {

// One put to many receivers. Those of this node get a copy each; of every other node one receiver
// gets it by network, first passes it on within its node and, as a tree, to other nodes, and is
// then called back like the rest. (CkDirect's authors had this as future work.)
//
// The rule of channels holds for all of them together: a put comes after the ready() of every
// receiver for the one before.
//
// It can be moved, and not copied. Thread rule: the bundle's.
class MulticastChannel {
 public:
  // `receivers`: handles of buffers of the same size, each with no other sender. Waits, polling,
  // until the processes that are to pass puts on have confirmed it, one round trip; these must poll
  // meanwhile. Throws Error: in a handler or callback, if it has to wait; as SendChannel; sizes
  // differ.
  MulticastChannel(Bundle& bundle, std::span<const ChannelHandle> receivers);

  // Sets the source that put() sends to all receivers, as SendChannel::associate() does. put()
  // costs one copy for each receiver of this node and one RMA write for each subtree of other
  // nodes.
  void associate(std::span<const std::byte> source);
  void associate(const std::byte* first, const Strided& shape);
  void alternate(std::span<const std::byte> source);
  void put(CheckedCall call = {"put", SourceLocation::current()});
  bool reusable() const noexcept;  // the source; it says nothing of what is passed on
  void close();

 private:
  std::vector<SendChannel> out_;  // to receivers of this node, and to processes that forward
};

}  // namespace am
