// am/channel: persistent puts. It uses am/core, as a poller of one bundle, and am/far for the words
// that notify of puts. A put makes no message, and only its sender writes the word that
// announces it.
//
// For programs of splitc/ there are typed channels, set up in one collective call, in
// splitc/channel/channel.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "am/channel/strided.h"
#include "am/types/function.h"
#include "am/types/types.h"

// Persistent put channels, after CkDirect (Bohm, Chakravorty, Jetley, Bhatele, Kale, 2009). The two
// ends are set up once; then a put is one copy or one RMA write and nothing else: no message,
// header, credit or handler, and no synchronisation but what the program has anyway.
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
// what happens if it is broken.
//
// A channel belongs to a bundle; up to 256 bundles of a process, each in a thread of its own or
// several in one, have channels. Thread rule: the bundle's. put(), the ready calls and what is
// const are allowed in handlers and callbacks, too.
//
//   route               put()                                          at the receiver
//   near (same node)    a copy, one store of the word that announces   nothing while nothing comes;
//                       it, one load to see whether the receiver       9 ns a poll for each of at
//                       sleeps: round trip of 1,000 bytes 0.28 us      most two lines without news
//   far (other node)    one RMA write with completion data, in the     the network's completion
//                       same packet as others where that is faster;
//                       packets of 4 KiB where the provider has none
//
// No order is kept between a put and a message, or between puts of two channels.

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
// as it could be seen. Checked builds throw Error instead of counting. Only receivers' ends count.
struct ChannelStats {
  std::uint64_t early = 0;        // puts that arrived while the buffer was in use
  std::uint64_t lost = 0;         // times that several puts arrived and one was reported
  std::uint64_t stale = 0;        // puts on a channel that was closed
  std::uint64_t ready_twice = 0;  // ready() of a channel that was ready
  bool operator==(const ChannelStats&) const = default;
};
// The statistics of the channels of `bundle`, since its first channel.
ChannelStats channel_stats(Bundle& bundle);

// Several threads of the process of `bundle` will have channels: from now on none of their
// callbacks runs while the library holds a lock. Without it, the first channel of a second thread
// waits until the callback that the first thread is in has returned. Any thread, not in a callback.
void share_channels(Bundle& bundle);

// The receiver's end (CkDirect_createHandle). A put may consist of any bytes: no value of its last
// ones is reserved to show that it has arrived (the paper's out-of-band pattern), since a network
// that writes a buffer in order may still have written half of its last word (docs/channels.md).
//
// It can be moved; what has been moved from may only be destroyed or assigned to.
//
// Misuse. Checked builds throw Error: for ready() at once, for what a sender did wrong out of
// poll(). Release builds count it (channel_stats()).
class ReceiveChannel {
 public:
  // `buffer` is part of this process's segment (Router::segment(), splitc's allocators), of any
  // size, and stays until close(). While the channel is ready, puts write it, and the receiver
  // leaves it alone; from the callback on until ready() it is the receiver's.
  //
  // `callback`, which is not empty, runs in poll(), once for each put, with the bytes in place.
  // Like a handler it may not wait; it may put, call ready(), and send by try_request(). What it
  // throws comes out of poll().
  //
  // The channel is ready from now on. Throws Error: the buffer is elsewhere; 65,536 channels are
  // open. Communicates nothing: the program sends the handle.
  ReceiveChannel(Bundle& bundle, std::span<std::byte> buffer, Function<void()> callback);
  // Makes a receiver for the bytes of `shape` from `first` on, whose runs do not overlap.
  ReceiveChannel(Bundle& bundle, std::byte* first, const Strided& shape, Function<void()> callback);
  ReceiveChannel(ReceiveChannel&& other) noexcept;
  ReceiveChannel& operator=(ReceiveChannel&& other) noexcept;
  ~ReceiveChannel();  // closes

  // For the sender. Several senders may use it, one after the other.
  const ChannelHandle& handle() const noexcept;

  // The buffer is no longer in use: the next put may come, and is reported (CkDirect_ready). Both
  // of the following. Sends nothing: the program lets the sender know. Also inside the callback.
  //
  // `call` is what errors of checked builds name: the call that the program made, and its line.
  void ready(CheckedCall call = {"ready", SourceLocation::current()});
  // The buffer is no longer in use: a put may come, and is remembered (CkDirect_ReadyMark).
  void ready_mark(CheckedCall call = {"ready_mark", SourceLocation::current()});
  // From now on puts are reported; one that has arrived since ready_mark() by the next poll
  // (CkDirect_ReadyPollQ).
  void ready_poll(CheckedCall call = {"ready_poll", SourceLocation::current()});

  // Whether the callback has been called and ready() has not.
  bool in_use() const noexcept;
  std::uint64_t callbacks() const noexcept;  // so far

  // No callback from here on; the handle is stale. No put may be in flight: close a channel after
  // its last put has been reported. Also inside its callback.
  void close() noexcept;

 private:
  Channels* channels_;
  Owned<detail::ReceiveEnd> end_;
};

// The sender's end (CkDirect_assocLocal, CkDirect_put). One at a time for each channel. It can be
// moved; what has been moved from may only be destroyed or assigned to.
class SendChannel {
 public:
  // Throws Error: the bytes are no handle; its channel has been closed, as far as that can be seen
  // from here (on one node, always); too many channels to that process. Communicates nothing.
  SendChannel(Bundle& bundle, const ChannelHandle& handle);
  SendChannel(SendChannel&& other) noexcept;
  SendChannel& operator=(SendChannel&& other) noexcept;
  ~SendChannel();  // closes

  // What put() sends: memory anywhere in this process, of as many bytes as the receiver's buffer,
  // that stays while the channel does. Several channels may send the same. May be called again, for
  // another source, and ends alternate(). Throws Error: another size; a put is not reusable().
  void associate(std::span<const std::byte> source);
  void associate(const std::byte* first, const Strided& shape);
  // A second source, after associate(): puts send one and the other in turn, beginning with
  // associate()'s, so that one may be filled while the other is in flight. Throws Error likewise.
  void alternate(std::span<const std::byte> source);
  void alternate(const std::byte* first, const Strided& shape);

  // Sends the source, which is left unchanged until reusable(). Never waits: what the network has
  // no room for is sent by later polls. Throws Error if nothing is associated; in checked builds,
  // on one node, also if the receiver has not called ready() for the put before. `call` is what
  // errors of checked builds name: the call that the program made, and its line.
  void put(CheckedCall call = {"put", SourceLocation::current()});

  // Whether the sources of all puts so far may be written again. It says nothing of the receiver.
  // Does not poll. Always true on one node.
  bool reusable() const noexcept;
  std::uint64_t puts() const noexcept;  // so far

  // From the first byte that the next put() sends to the last; none: nothing is associated.
  std::span<const std::byte> next_source() const noexcept;

  // Waits, polling, until reusable(); the destructor does so, too. Throws Error in a handler or
  // callback unless it is; the destructor ends the job then.
  void close();

 private:
  void leave() noexcept;
  void set_source(std::uint32_t index, const std::byte* first, const Strided& shape,
                  const char* call);

  Bundle* bundle_;
  Channels* channels_;
  Owned<detail::SendEnd> end_;
};

}  // namespace am
