#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "am/channel/channel.h"
#include "am/channel/multicast.h"
#include "am/types/types.h"
#include "splitc/world/context.h"
#include "splitc/world/world.h"

namespace splitc {
namespace detail {

// What multicast_channel does, on bytes.
class Multicast {
 public:
  Multicast(std::span<std::byte> mine, std::uint32_t root, Call call);
  Multicast(const Multicast&) = delete;
  Multicast& operator=(const Multicast&) = delete;

  void put(am::CheckedCall call);
  bool reusable() const noexcept { return !out_ || out_->reusable(); }
  bool arrived() const noexcept { return !in_ || in_->in_use(); }
  void wait(am::Here where = {});
  void ready(am::CheckedCall call);

 private:
  const Maker maker_;
  std::uint32_t root_;
  std::optional<am::ReceiveChannel> in_;
  std::optional<am::MulticastChannel> out_;
};

}  // namespace detail

// One process's buffer to all others by one put, again and again: a persistent broadcast.
// CkDirect's authors had it as future work. The rule is that of channels
// (splitc/channel/channel.h): a put comes after the ready() of every other process for the one
// before.
//
// Cost of a put: at the root one copy for each process of its node, and one RMA write for each
// subtree of other nodes; there one process of each node passes it on, in a tree over the nodes,
// when it polls.
//
// Neither copied nor moved. Thread rule: the thread that has made it.
template <class T>
class multicast_channel {
 public:
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);

  // Collective, with the same `root` and equal sizes. `mine` is what `root` sends, any memory of
  // its own, and where it arrives at the others, in their segments (local_malloc, spread arrays).
  // All memory stays allocated while the channel exists, which is destroyed after its last put has
  // been waited for. Throws Error: there is no such root; memory of a receiver is not in its
  // segment; at the root, if sizes differ. Costs a gather, a barrier, and one round trip to the
  // processes that pass on.
  explicit multicast_channel(std::span<T> mine, std::uint32_t root = 0, am::Here where = {})
      : channel_(std::as_writable_bytes(mine), root, {"multicast_channel", where}) {}

  // At the root: sends the buffer to all others. Never waits. Throws Error in other processes.
  void put(am::Here where = {}) { channel_.put({"multicast_channel::put", where}); }
  // Whether the source may be written again: no put of it is in flight. Does not poll.
  bool reusable() const noexcept { return channel_.reusable(); }

  // At the others; at the root arrived() is true, and the two others do nothing.

  // Whether a put has arrived since the last ready(). Does not poll.
  bool arrived() const noexcept { return channel_.arrived(); }
  // Whether it has arrived; polls once if not.
  [[nodiscard]] bool try_wait() const {
    if (!arrived()) poll();  // tasks go on
    return arrived();
  }
  // Waits until arrived(), polling.
  void wait(am::Here where = {}) { channel_.wait(where); }
  // The buffer is no longer in use: the next put may come. Sends nothing: the program lets the root
  // know.
  void ready(am::Here where = {}) { channel_.ready({"multicast_channel::ready", where}); }

 private:
  detail::Multicast channel_;
};

}  // namespace splitc
