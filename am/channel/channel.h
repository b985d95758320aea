// am/channel: persistent puts. It uses am/core, as a poller of one bundle, and am/one_sided for the
// words that notify of puts. A put makes no message, and only its sender writes the word that
// announces it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "am/channel/strided.h"
#include "am/types/types.h"

// Persistent put channels (CkDirect). The two ends are set up once; then a put is one copy or one
// RMA write and nothing else: no message, header, credit or handler, and no synchronisation but
// what the program has anyway.
//
//   receiver                                         sender
//   am::ReceiveChannel in(bundle, ghost,
//                         [&] { ++arrived; });
//   ... in.handle() travels in any message ...       am::SendChannel out(bundle, handle);
//                                                    out.associate(edge);
//                                                    out.put();
//   bundle.wait_until([&] { return arrived; });
//   use(ghost);
//   in.ready();                                      ... once it knows of the ready(): out.put();
//
// The rule: a put comes after the receiver's ready() for the one before. The program guarantees it
// by what it does anyway, such as a barrier, or a put in the other direction. docs/channels.md says
// what happens to those who break it.
//
// All channels of a process belong to one bundle. Thread rule: the bundle's.

namespace am {

class Bundle;
class Channels;
namespace detail {
struct ReceiveEnd;
struct SendEnd;
}  // namespace detail

// What the sender needs to know of a channel: plain bytes, to be sent in any message (they fit the
// arguments of one). Good until the receiver closes the channel.
struct ChannelHandle {
  static constexpr std::uint32_t kMagic = 0x6c6e6863;  // "chnl"

  std::uint32_t magic = 0;
  Rank rank = 0;                 // of the receiver
  std::uint16_t number = 0;      // of the channel there
  std::uint16_t generation = 0;  // of that number; never 0
  std::uint32_t node = 0;        // of the receiver
  std::uint64_t offset = 0;      // of the buffer, in the receiver's segment
  std::uint64_t word = 0;        // by which a put from another node names it; 0: none can come
  Strided shape;                 // of the buffer
};
static_assert(sizeof(ChannelHandle) == 64 && std::is_trivially_copyable_v<ChannelHandle>);
static_assert(sizeof(ChannelHandle) <= kMaxArgumentBytes);

// What has gone wrong on the channels of this process, by other processes' or its own fault, as far
// as it could be seen. Checked builds throw Error instead of counting.
struct ChannelStats {
  std::uint64_t early = 0;        // puts that came while the buffer was in use
  std::uint64_t lost = 0;         // times that several puts came and one was told
  std::uint64_t stale = 0;        // puts for a channel that was closed
  std::uint64_t ready_twice = 0;  // ready() of a channel that was
  bool operator==(const ChannelStats&) const = default;
};
// Of the channels of `bundle`, since it has had the first.
ChannelStats channel_stats(Bundle& bundle);

// The receiver's end (CkDirect_createHandle). A put may consist of any bytes: no value of its last
// ones is set aside to tell that it has come (the paper's out-of-band pattern), since a network
// that writes a buffer in order may still have written half of its last word (docs/channels.md).
//
// Misuse is named in checked builds by an Error: of ready() at once, of what a sender did wrong out
// of poll(). Release builds count it (channel_stats()).
class ReceiveChannel {
 public:
  // `buffer` is part of this process's segment, of any size, and the receiver's until close();
  // while the channel is ready it is written by puts. `callback` runs in poll(), once for each put;
  // like a handler it may not wait, but it may put, and send by try_request(). The channel is ready
  // from now on. Throws Error: the buffer is elsewhere; too many channels.
  ReceiveChannel(Bundle& bundle, std::span<std::byte> buffer, std::function<void()> callback);
  // The same for bytes from `first` on.
  ReceiveChannel(Bundle& bundle, std::byte* first, const Strided& shape,
                 std::function<void()> callback);
  ReceiveChannel(ReceiveChannel&& other) noexcept;
  ReceiveChannel& operator=(ReceiveChannel&& other) noexcept;
  ~ReceiveChannel();  // closes

  const ChannelHandle& handle() const noexcept;

  // The buffer is no longer in use, and puts may come and are told (CkDirect_ready): both of the
  // following. Tells the sender nothing. Also inside the callback.
  void ready();
  // The buffer is no longer in use: a put may come, and is remembered (CkDirect_ReadyMark).
  void ready_mark();
  // From now on puts are told, one that came since ready_mark() by the next poll
  // (CkDirect_ReadyPollQ).
  void ready_poll();

  // Whether the callback has been called and the buffer is in use.
  bool in_use() const noexcept;
  std::uint64_t callbacks() const noexcept;  // so far

  // No callback from here on; the handle is stale. No put may be under way. Also by its callback.
  void close() noexcept;

 private:
  Channels* channels_;
  std::unique_ptr<detail::ReceiveEnd> end_;
};

// The sender's end (CkDirect_assocLocal, CkDirect_put). One at a time for each channel.
class SendChannel {
 public:
  // Throws Error: the handle is none, or is stale, as far as that can be seen from here (on one
  // node, always).
  SendChannel(Bundle& bundle, const ChannelHandle& handle);
  SendChannel(SendChannel&& other) noexcept;
  SendChannel& operator=(SendChannel&& other) noexcept;
  ~SendChannel();  // closes

  // What put() sends: memory anywhere in this process, of the size of the channel, that stays while
  // the channel does. Several channels may send the same. Throws Error: another size.
  void associate(std::span<const std::byte> source);
  void associate(const std::byte* first, const Strided& shape);
  // A second source: puts send one and the other in turn, beginning with associate()'s.
  void alternate(std::span<const std::byte> source);
  void alternate(const std::byte* first, const Strided& shape);

  // Sends the source. Never waits: what finds no room leaves with later polls. Also by handlers and
  // callbacks. No order is kept between a put and a message. Throws Error if nothing is associated.
  void put();

  // All puts so far have left their sources, which may be written again. Makes no progress: poll.
  // On one node always.
  bool reusable() const noexcept;
  std::uint64_t puts() const noexcept;  // so far

  // Waits, polling, until reusable(). Not by a handler or callback unless it is.
  void close();

 private:
  void leave() noexcept;
  void set_source(std::uint32_t index, const std::byte* first, const Strided& shape,
                  const char* call);

  Bundle* bundle_;
  Channels* channels_;
  std::unique_ptr<detail::SendEnd> end_;
};

}  // namespace am
