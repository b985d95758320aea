// channel/ is typed put channels, from one to one, one to all and all to one, over those of am/. It
// may use world/, pointer/ and collective/. Making a channel is collective, a put is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "am/channel/channel.h"
#include "am/types/source_location.h"
#include "splitc/pointer/global_ptr.h"

// Persistent put channels (CkDirect): the two ends are set up once, in one collective call, and
// then every put is one copy or one RMA write, without message or synchronisation.
//
//   double* const ghost = local_malloc<double>(n);            // where the left neighbour writes
//   put_channel<double> halo(right_ghost, std::span(edge, n));  // my edge, into the right one's
//   for (...) {
//     halo.put();
//     halo.wait();          // for the left neighbour's put
//     use(ghost);
//     halo.ready();         // ghost may be written again
//     barrier();            // ... and the left neighbour knows
//   }
//
// The rule: a put comes after the receiver's ready() for the one before, and the program guarantees
// it by what it does anyway. docs/channels.md says how, and what happens to who breaks it.

namespace splitc {

// Which elements of an array a channel takes, from some first one on: runs of consecutive elements
// at equal distances, rows of runs, planes of rows. Of a[nz][ny][nx] the face x = 0 is {.run = 1,
// .rows = ny, .planes = nz, .row_stride = nx, .plane_stride = ny * nx}.
struct strided {
  std::uint64_t run = 1;
  std::uint32_t rows = 1;
  std::uint32_t planes = 1;
  std::uint64_t row_stride = 0;    // elements from one run to the next of its plane
  std::uint64_t plane_stride = 0;  // elements from one plane to the next

  constexpr std::uint64_t size() const noexcept { return run * rows * planes; }
};

namespace detail {

// For elements of so many bytes. Throws Error if no 64-bit number holds how far it reaches.
am::Strided in_bytes(const strided& s, std::size_t element, Call call);

// What one process sends in a collective call, and where; bits == 0: nothing.
struct Wish {
  std::uint64_t bits = 0;  // a global pointer
  am::Strided shape;
};

// Both ends of the channels that one collective call makes.
class Channel {
 public:
  // `told` is called for each put that has come, if it is not empty.
  Channel(Call call, const Wish& wish, std::function<void()> told);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void associate(const void* from, const am::Strided& shape);
  am::SendChannel& out(Call call);
  bool sends() const noexcept { return out_.has_value(); }
  bool reusable() const noexcept { return !out_ || out_->reusable(); }
  std::size_t senders() const noexcept { return in_.size(); }
  bool arrived() const noexcept { return arrived_ == in_.size(); }
  void wait(am::SourceLocation where = am::SourceLocation::current());
  void mark();
  void arm();

 private:
  void take(const std::vector<Wish>& wishes, std::vector<am::ChannelHandle>& handles);

  const std::function<void()> told_;
  std::vector<am::ReceiveChannel> in_;  // in the order of the senders
  std::vector<std::uint32_t> senders_;  // of each of them
  std::size_t arrived_ = 0;             // puts that have come since the last mark()
  std::optional<am::SendChannel> out_;
};

}  // namespace detail

// What this process sends to one place, and what others send to this one.
//
// Thread rule: the world's thread.
template <class T>
class put_channel {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "global memory holds plain bytes");

  // Collective. This process's puts write `from`, any memory of its own, to `to`, which may be its
  // own as well; nullptr: it sends nothing. Who is written to becomes a receiver, of any number of
  // senders. `told`, if given, runs in every poll that finds a put here, once for each; it may not
  // wait. All memory stays until the channel goes, after its last put has been waited for. Throws
  // Error: the target is no memory that may be used.
  put_channel(global_ptr<T> to, std::span<std::type_identity_t<const T>> from,
              std::function<void()> told = {})
      : put_channel(to, {.run = from.size()}, from.data(), {.run = from.size()}, std::move(told)) {}
  // The same for elements that are apart: those of `to_shape` from `to` on.
  put_channel(global_ptr<T> to, const strided& to_shape, const T* from, const strided& from_shape,
              std::function<void()> told = {})
      : channel_(std::make_unique<detail::Channel>(
            "put_channel",
            detail::Wish{to.bits(), detail::in_bytes(to_shape, sizeof(T), "put_channel")},
            std::move(told))) {
    if (to) channel_->associate(from, detail::in_bytes(from_shape, sizeof(T), "put_channel"));
  }

  // --- The sender's end. Throw Error if this process sends nothing.
  bool sends() const noexcept { return channel_->sends(); }
  void put() { channel_->out("put_channel::put").put(); }
  // All puts so far have left their source, which may be written again. Always on one node.
  bool reusable() const noexcept { return channel_->reusable(); }
  // A second source: puts send the two in turn.
  void alternate(std::span<std::type_identity_t<const T>> from) {
    channel_->out("put_channel::alternate").alternate(std::as_bytes(from));
  }

  // --- The receiver's end. Without effect if nobody sends here.
  std::size_t senders() const noexcept { return channel_->senders(); }
  // A put of every sender has come since the last ready(); wait() until then, polling.
  bool arrived() const noexcept { return channel_->arrived(); }
  void wait(am::SourceLocation where = am::SourceLocation::current()) { channel_->wait(where); }
  // What has come is no longer in use, and puts may come and are told: both of the following.
  void ready() {
    ready_mark();
    ready_poll();
  }
  void ready_mark() { channel_->mark(); }  // puts may come, and are remembered
  void ready_poll() { channel_->arm(); }   // puts are told

 private:
  std::unique_ptr<detail::Channel> channel_;
};

}  // namespace splitc
