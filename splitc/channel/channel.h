// channel/ is typed put channels, from one to one, one to all and all to one, over those of am/. It
// may use world/, pointer/ and collective/. Making a channel is collective, a put is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "am/channel/channel.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/pointer/strided.h"
#include "splitc/world/context.h"
#include "splitc/world/world.h"

// Persistent put channels, after CkDirect (Bohm, Chakravorty, Jetley, Bhatele, Kale: CkDirect:
// Unsynchronized One-Sided Communication in a Message-Driven Paradigm, 2009): the two ends are set
// up once, in one collective call, and then every put is one copy or one RMA write, without message
// or synchronisation.
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
// Each process's object has two ends. put() writes where this process said, to the right here;
// wait() and ready() are for what others have written to this process, the left neighbour here.
//
// The rule: a put comes after the receiver's ready() for the one before. The program guarantees it
// by the synchronisation that it has anyway: a barrier, a put in the other direction, a message.
// docs/channels.md says how, and what happens to a program that breaks the rule.

namespace splitc {

namespace detail {

// The target of one process in a collective call; bits == 0: it sends nothing.
struct Wish {
  std::uint64_t bits = 0;  // a global pointer
  am::Strided shape;
};

struct ChannelAnswer;

// Both ends of the channels that one collective call makes.
class Channel {
 public:
  // `callback`, if it is not empty, is called for each put that has arrived.
  Channel(Call call, const Wish& wish, am::Function<void()> callback);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  void associate(const void* from, const am::Strided& shape);
  am::SendChannel& out(Call call);
  void put(Call call);
  bool sends() const noexcept { return out_.has_value(); }
  bool reusable() const noexcept { return !out_ || out_->reusable(); }
  std::size_t senders() const noexcept { return in_.size(); }
  bool arrived() const noexcept { return arrived_ == in_.size(); }
  void wait(am::Here where = {});
  void wait_reusable(am::SourceLocation where);
  void mark(am::CheckedCall call);
  void arm(am::CheckedCall call);

 private:
  void take(const std::vector<Wish>& wishes, std::vector<ChannelAnswer>& answers);

  void check_mine(Call call) const { maker_.check(call, "a channel"); }

  const Maker maker_;
  const am::Function<void()> callback_;
  const std::uint32_t target_;
  std::vector<am::ReceiveChannel> in_;  // in the order of the senders
  std::vector<std::uint32_t> senders_;  // of each of them
  std::size_t arrived_ = 0;             // puts that have arrived since the last mark()
  std::optional<am::SendChannel> out_;
};

}  // namespace detail

// Both ends, in one process, of the channels that one collective call sets up: what this process
// sends to one target, and what any number of others send to memory of this one.
//
// What each costs:
//
//   route               put()                                          at the receiver
//   near (same node)    a copy, one store of the word that announces   nothing while nothing comes;
//                       it, one load to see whether the receiver       9 ns a poll for each of at
//                       sleeps: round trip of 1,000 bytes 0.28 us      most two lines without news
//   far (other node)    one RMA write with completion data, or         the network's completion
//                       packets where the provider has none
//
// Errors. Misuse of the rule is found as far as it can be seen: checked builds throw Error, from
// put() on a node, from ready(), or from the receiver's poll(); release builds count it
// (am::channel_stats()).
//
// It can be moved, and not copied. Thread rule: the thread that has made it; another that waits or
// puts gets an Error, from put() in checked builds only. put(), reusable(), arrived() and the ready
// calls are allowed in handlers and callbacks of that thread, too.
template <class T>
class put_channel {
 public:
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);

  // Collective. This process's puts write `from`, any memory of its own, to `to`, allocated memory
  // of any process, also its own; nullptr: it sends nothing. A process that others write to becomes
  // a receiver, of any number of senders.
  //
  // `callback`, if given, is called by a poll of this process once for each put that has arrived
  // from any sender. It may not wait; it may put, and call ready().
  //
  // Ownership: the memory is the program's. The source is left unchanged from put() until
  // reusable(), and the target is neither read nor written from ready() until the put has arrived.
  // Both stay allocated while the channel exists. A process may destroy its object as soon as no
  // put to it or of it is to come, whatever the others do.
  //
  // Costs two all_to_all calls and a barrier. Throws Error if the target is not memory that may be
  // used, or runs over the end of its block there, if the two ends differ in size, and if a shape
  // has runs that overlap.
  put_channel(global_ptr<T> to, std::span<std::type_identity_t<const T>> from,
              am::Function<void()> callback = {}, am::Here where = {})
      : put_channel(to, {.run = from.size()}, from.data(), {.run = from.size()},
                    std::move(callback), where) {}
  // A channel for elements that are apart: those of `from_shape` from `from` on are written, in
  // their order, to those of `to_shape` from `to` on. The shapes have equally many elements.
  put_channel(global_ptr<T> to, const strided& to_shape, const T* from, const strided& from_shape,
              am::Function<void()> callback = {}, am::Here where = {})
      : channel_(new detail::Channel(
            detail::Call("put_channel", where),
            detail::Wish{to.bits(), detail::in_bytes(to_shape, sizeof(T), {"put_channel", where})},
            std::move(callback))) {
    if (to)
      channel_->associate(from, detail::in_bytes(from_shape, sizeof(T), {"put_channel", where}));
  }

  // --- The sender's end.

  // Whether this process gave a target.
  bool sends() const noexcept { return channel_->sends(); }
  // Sends the source (CkDirect_put). Never waits: what the network has no room for is sent by later
  // polls. Throws Error if this process sends nothing, and if a source of 64 KiB or more, which
  // goes to another node, is not mapped any more.
  void put(am::Here where = {}) { channel_->put({"put_channel::put", where}); }
  // Whether the source of every put so far may be written again. Always true on one node, and where
  // this process sends nothing. Does not poll.
  bool reusable() const noexcept { return channel_->reusable(); }
  // Waits until it may, polling: before the source is filled for the next put(). Throws Error in a
  // handler.
  void wait_reusable(am::Here where = {}) {
    if (!reusable()) channel_->wait_reusable(where);
  }
  // A second source, of the same size and kept as long: puts send the two in turn, so that one may
  // be filled while the other is in flight. Throws Error if this process sends nothing, if the
  // sizes differ, and while a put is not reusable().
  void alternate(std::span<std::type_identity_t<const T>> from, am::Here where = {}) {
    channel_->out({"put_channel::alternate", where}).alternate(std::as_bytes(from));
  }

  // --- The receiver's end. All puts of all senders belong to one round, which ready() ends.
  // Without effect if there is no sender.

  // How many processes send here.
  std::size_t senders() const noexcept { return channel_->senders(); }
  // Whether a put of every sender has arrived since the last ready(). Does not poll.
  bool arrived() const noexcept { return channel_->arrived(); }
  // Whether it has arrived; polls once if not.
  [[nodiscard]] bool try_wait() const {
    if (!arrived()) poll();  // tasks go on
    return arrived();
  }
  // Waits until arrived(), polling. What has arrived is then in place. Throws Error in a handler.
  void wait(am::Here where = {}) { channel_->wait(where); }
  // What has arrived is no longer in use: the next puts may come, and are reported
  // (CkDirect_ready). Does both of the following. Sends nothing: the program lets the senders know.
  void ready(am::Here where = {}) {
    channel_->mark({"put_channel::ready", where});
    channel_->arm({"put_channel::ready", where});
  }
  // Puts may come, and are remembered (CkDirect_ReadyMark).
  void ready_mark(am::Here where = {}) { channel_->mark({"put_channel::ready_mark", where}); }
  // From now on polls report them (CkDirect_ReadyPollQ).
  void ready_poll(am::Here where = {}) { channel_->arm({"put_channel::ready_poll", where}); }

 private:
  am::Owned<detail::Channel> channel_;
};

}  // namespace splitc
