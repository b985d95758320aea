#include "am/c/channel.h"

#include <bit>
#include <memory>
#include <span>
#include <string>

#include "am/c/transfers/held.h"
#include "am/channel/channel.h"
#include "am/route/router.h"

namespace am::c {

struct ReceiveEnd {
  eb_t bundle;
  ReceiveChannel channel;
};
struct SendEnd {
  eb_t bundle;
  SendChannel channel;
};

}  // namespace am::c

struct AM_Receiver {
  am::c::ReceiveEnd* core = nullptr;
};
struct AM_Sender {
  am::c::SendEnd* core = nullptr;
};

namespace am::c {
namespace {

constexpr std::size_t kMostReceivers = 65'536;  // as many as there are numbers of channels
constexpr std::size_t kMostSenders = 1 << 20;

constinit Places<AM_Receiver, kMostReceivers> receivers;
constinit Places<AM_Sender, kMostSenders> senders;

ReceiveChannel& core_of(AM_receiver_t receiver) {
  check_handle(receivers.holds(receiver), receiver, "receiver of a channel");
  return receiver->core->channel;
}
SendChannel& core_of(AM_sender_t sender) {
  check_handle(senders.holds(sender), sender, "sender of a channel");
  return sender->core->channel;
}

void end_channels_of(eb_t bundle) {
  receivers.for_each([&](AM_receiver_t one) {
    if (one->core->bundle == bundle) drop(receivers, one);
  });
  senders.for_each([&](AM_sender_t one) {
    if (one->core->bundle == bundle) drop(senders, one);
  });
}

void forget_channels() noexcept {
  receivers.forget();
  senders.forget();
}

// Bytes that a sender is to send, as many as its channel has.
std::span<const std::byte> checked(const void* buffer, std::size_t nbytes, std::uint64_t wanted) {
  check_memory(buffer, nbytes);
  if (nbytes != wanted) {
    refuse(AM_ERR_BAD_ARG, std::to_string(nbytes) + " bytes, but the receiver's buffer has " +
                               std::to_string(wanted) + "; both must have the same number");
  }
  return {static_cast<const std::byte*>(buffer), nbytes};
}

// Other bytes for a sender.
std::span<const std::byte> checked(AM_sender_t sender, const void* buffer, std::size_t nbytes) {
  const SendChannel& channel = outside_handlers(core_of(sender));
  return checked(buffer, nbytes, channel.next_source().size());
}

}  // namespace
}  // namespace am::c

using namespace am::c;

int AM_ChannelCreate(eb_t bundle, void* buffer, size_t nbytes, void (*callback)(void* data),
                     void* data, AM_receiver_t* receiver, AM_channel_t* channel) {
  return guarded("AM_ChannelCreate", [=] {
    am::Bundle& in = outside_handlers(core_of(bundle));
    check_result(receiver);
    check_result(channel);
    if (callback == nullptr) refuse(AM_ERR_BAD_ARG, "NULL is no callback");
    const std::uint64_t offset = in.router().segment_offset(buffer);
    if (nbytes > in.router().segment_bytes() - offset) {
      refuse(AM_ERR_BAD_ARG,
             std::to_string(nbytes) +
                 " bytes from there on are not, or not all, in the segment of this process, which "
                 "others write; take them from AM_GetProcessSegment()");
    }
    see_to<&forget_channels, &end_channels_of>();
    auto made = std::make_unique<ReceiveEnd>(
        ReceiveEnd{bundle, am::ReceiveChannel(in, {static_cast<std::byte*>(buffer), nbytes},
                                              [=] { callback(data); })});
    const am::ChannelHandle handle = made->channel.handle();
    *receiver = hold(receivers, std::move(made), "receivers of channels");
    *channel = std::bit_cast<AM_channel_t>(handle);
  });
}

int AM_ChannelReady(AM_receiver_t receiver) {
  return guarded("AM_ChannelReady", [=] { core_of(receiver).ready({"ready", {}}); });
}

int AM_ChannelReadyMark(AM_receiver_t receiver) {
  return guarded("AM_ChannelReadyMark", [=] { core_of(receiver).ready_mark({"ready_mark", {}}); });
}

int AM_ChannelReadyPollQ(AM_receiver_t receiver) {
  return guarded("AM_ChannelReadyPollQ", [=] { core_of(receiver).ready_poll({"ready_poll", {}}); });
}

int AM_ChannelInUse(AM_receiver_t receiver, int* in_use) {
  return answer("AM_ChannelInUse", in_use, [=] { return core_of(receiver).in_use() ? 1 : 0; });
}

int AM_ChannelFreeReceiver(AM_receiver_t receiver) {
  return guarded("AM_ChannelFreeReceiver", [=] {
    core_of(receiver);
    drop(receivers, receiver);
  });
}

int AM_ChannelAssocLocal(eb_t bundle, AM_channel_t channel, const void* buffer, size_t nbytes,
                         AM_sender_t* sender) {
  return guarded("AM_ChannelAssocLocal", [&] {
    am::Bundle& in = outside_handlers(core_of(bundle));
    check_result(sender);
    const auto handle = std::bit_cast<am::ChannelHandle>(channel);
    const bool is_handle = handle.magic == am::ChannelHandle::kMagic;  // else SendChannel says so
    const auto bytes = checked(buffer, nbytes, is_handle ? handle.shape.bytes() : nbytes);
    see_to<&forget_channels, &end_channels_of>();
    auto made = std::make_unique<SendEnd>(SendEnd{bundle, am::SendChannel(in, handle)});
    made->channel.associate(bytes);
    *sender = hold(senders, std::move(made), "senders of channels");
  });
}

int AM_ChannelSetBuffer(AM_sender_t sender, const void* buffer, size_t nbytes) {
  return guarded("AM_ChannelSetBuffer",
                 [=] { core_of(sender).associate(checked(sender, buffer, nbytes)); });
}

int AM_ChannelAlternate(AM_sender_t sender, const void* buffer, size_t nbytes) {
  return guarded("AM_ChannelAlternate",
                 [=] { core_of(sender).alternate(checked(sender, buffer, nbytes)); });
}

int AM_ChannelPut(AM_sender_t sender) {
  return guarded("AM_ChannelPut", [=] { core_of(sender).put({"put", {}}); });
}

int AM_ChannelReusable(AM_sender_t sender, int* reusable) {
  return answer("AM_ChannelReusable", reusable, [=] { return core_of(sender).reusable() ? 1 : 0; });
}

int AM_ChannelFreeSender(AM_sender_t sender) {
  return guarded("AM_ChannelFreeSender", [=] {
    // What a handler throws meanwhile comes out before the place is given back.
    outside_handlers(core_of(sender)).close();
    drop(senders, sender);
  });
}

int AM_GetChannelStatistics(eb_t bundle, AM_channel_stats_t* statistics) {
  return answer("AM_GetChannelStatistics", statistics, [=] {
    const am::ChannelStats now = channel_stats(core_of(bundle));
    return AM_channel_stats_t{now.early, now.lost, now.stale, now.ready_twice};
  });
}
