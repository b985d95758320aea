#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "am/channel/channel.h"
#include "am/channel/multicast.h"
#include "am/types/source_location.h"

namespace splitc {
namespace detail {

// One process's bytes to all others.
class Multicast {
 public:
  Multicast(std::span<std::byte> mine, std::uint32_t root);
  Multicast(const Multicast&) = delete;
  Multicast& operator=(const Multicast&) = delete;

  void put();
  bool reusable() const noexcept { return !out_ || out_->reusable(); }
  bool arrived() const noexcept { return !in_ || in_->in_use(); }
  void wait(am::SourceLocation where = am::SourceLocation::current());
  void ready();

 private:
  std::uint32_t root_;
  std::optional<am::ReceiveChannel> in_;
  std::optional<am::MulticastChannel> out_;
};

}  // namespace detail

// One process's buffer to all others by one put (splitc/channel/channel.h): as a tree over the
// nodes.
//
// Thread rule: the world's thread.
template <class T>
class multicast_channel {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds plain bytes");

  // Collective, with equal sizes. `mine` is what `root` sends, any memory of its own, and where it
  // arrives at the others, in their segments. All memory stays until the channel goes, after its
  // last put has been waited for.
  explicit multicast_channel(std::span<T> mine, std::uint32_t root = 0)
      : channel_(std::as_writable_bytes(mine), root) {}

  // By the root, after the ready() of all others for the last one. Throws Error elsewhere.
  void put() { channel_.put(); }
  // All puts so far have left the source, which may be written again.
  bool reusable() const noexcept { return channel_.reusable(); }

  // By the others; the root waits for nothing.
  bool arrived() const noexcept { return channel_.arrived(); }  // since the last ready()
  void wait(am::SourceLocation where = am::SourceLocation::current()) { channel_.wait(where); }
  void ready() { channel_.ready(); }

 private:
  detail::Multicast channel_;
};

}  // namespace splitc
