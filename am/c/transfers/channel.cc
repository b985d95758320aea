// Channels in C.
#include "am/c/channel.h"

#include <bit>
#include <memory>
#include <span>
#include <string>

#include "am/c/transfers/held.h"
#include "am/channel/channel.h"
#include "am/route/router.h"

namespace am::c {

// An end of a channel.
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

int check(const char* call, AM_receiver_t receiver) noexcept {
  return check_handle(call, receivers.holds(receiver), receiver, "receiver of a channel");
}
int check(const char* call, AM_sender_t sender) noexcept {
  return check_handle(call, senders.holds(sender), sender, "sender of a channel");
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

int check_in_segment(const char* call, eb_t bundle, const void* buffer, std::size_t nbytes) {
  const Router& router = bundle->core->router();
  const std::uint64_t offset = router.segment_offset(buffer);
  const std::uint64_t size = router.segment_bytes();
  if (nbytes <= size - offset) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              std::to_string(nbytes) +
                  " bytes from there on are not, or not all, in the segment of this process, which "
                  "others write; take them from AM_GetProcessSegment()");
}

int create(const char* call, eb_t bundle, void* buffer, std::size_t nbytes, void (*callback)(void*),
           void* data, AM_receiver_t* receiver, AM_channel_t* channel) {
  if (const int code = check_outside_handlers(call, bundle)) return code;
  if (const int code = check_result(call, receiver)) return code;
  if (const int code = check_result(call, channel)) return code;
  if (callback == nullptr) return fail(AM_ERR_BAD_ARG, call, "NULL is no callback");
  if (const int code = check_in_segment(call, bundle, buffer, nbytes)) return code;
  return guarded(call, [&] {
    see_to<&forget_channels, &end_channels_of>();
    auto made = std::make_unique<ReceiveEnd>(
        ReceiveEnd{bundle, ReceiveChannel(*bundle->core, {static_cast<std::byte*>(buffer), nbytes},
                                          [callback, data] { callback(data); })});
    const ChannelHandle handle = made->channel.handle();
    if (const int code = hold(call, receivers, std::move(made), receiver)) return code;
    *channel = std::bit_cast<AM_channel_t>(handle);
    return static_cast<int>(AM_OK);
  });
}

int check_size(const char* call, const ChannelHandle& handle, std::size_t nbytes) {
  const std::uint64_t wanted = handle.shape.bytes();
  if (handle.magic != ChannelHandle::kMagic || nbytes == wanted) return AM_OK;
  return fail(AM_ERR_BAD_ARG, call,
              std::to_string(nbytes) + " bytes, but the receiver's buffer has " +
                  std::to_string(wanted) + "; both must have the same number");
}

std::span<const std::byte> bytes_of(const void* buffer, std::size_t nbytes) noexcept {
  return {static_cast<const std::byte*>(buffer), nbytes};
}

int assoc(const char* call, eb_t bundle, const AM_channel_t& channel, const void* buffer,
          std::size_t nbytes, AM_sender_t* sender) {
  if (const int code = check_outside_handlers(call, bundle)) return code;
  if (const int code = check_result(call, sender)) return code;
  if (const int code = check_memory(call, buffer, nbytes)) return code;
  const auto handle = std::bit_cast<ChannelHandle>(channel);
  if (const int code = check_size(call, handle, nbytes)) return code;
  return guarded(call, [&] {
    see_to<&forget_channels, &end_channels_of>();
    auto made = std::make_unique<SendEnd>(SendEnd{bundle, SendChannel(*bundle->core, handle)});
    made->channel.associate(bytes_of(buffer, nbytes));
    return hold(call, senders, std::move(made), sender);
  });
}

// Gives a sender other bytes to send, by set(channel, bytes).
template <class Set>
int set_buffer(const char* call, AM_sender_t sender, const void* buffer, std::size_t nbytes,
               Set&& set) {
  if (const int code = check(call, sender)) return code;
  if (const int code = check_no_handler(call)) return code;
  if (const int code = check_memory(call, buffer, nbytes)) return code;
  SendChannel& channel = sender->core->channel;
  const std::size_t wanted = channel.next_source().size();
  if (nbytes != wanted) {
    return fail(AM_ERR_BAD_ARG, call,
                std::to_string(nbytes) + " bytes, but the channel has " + std::to_string(wanted));
  }
  return guarded(call, [&] { set(channel, bytes_of(buffer, nbytes)); });
}

// What a program does with an end that exists: do_it(channel).
template <class Handle, class DoIt>
int with(const char* call, Handle handle, DoIt&& do_it) {
  if (const int code = check(call, handle)) return code;
  return guarded(call, [&] { do_it(handle->core->channel); });
}
template <class Handle, class Ask>
int ask(const char* call, Handle handle, int* result, Ask&& ask) {
  if (const int code = check_result(call, result)) return code;
  return with(call, handle, [&](auto& channel) { *result = ask(channel) ? 1 : 0; });
}

int get_statistics(const char* call, eb_t bundle, AM_channel_stats_t* statistics) {
  if (const int code = check_bundle(call, bundle)) return code;
  if (const int code = check_result(call, statistics)) return code;
  return guarded(call, [&] {
    const ChannelStats now = channel_stats(*bundle->core);
    *statistics = {now.early, now.lost, now.stale, now.ready_twice};
  });
}

}  // namespace
}  // namespace am::c

using am::c::check_no_handler;
using am::c::guarded;
using am::c::with;

int AM_ChannelCreate(eb_t bundle, void* buffer, size_t nbytes, void (*callback)(void* data),
                     void* data, AM_receiver_t* receiver, AM_channel_t* channel) {
  return am::c::create("AM_ChannelCreate", bundle, buffer, nbytes, callback, data, receiver,
                       channel);
}

int AM_ChannelReady(AM_receiver_t receiver) {
  return with("AM_ChannelReady", receiver, [](auto& channel) { channel.ready({"ready", {}}); });
}

int AM_ChannelReadyMark(AM_receiver_t receiver) {
  return with("AM_ChannelReadyMark", receiver, [](auto& channel) {
    channel.ready_mark({"ready_mark", {}});
  });
}

int AM_ChannelReadyPollQ(AM_receiver_t receiver) {
  return with("AM_ChannelReadyPollQ", receiver, [](auto& channel) {
    channel.ready_poll({"ready_poll", {}});
  });
}

int AM_ChannelInUse(AM_receiver_t receiver, int* in_use) {
  return am::c::ask("AM_ChannelInUse", receiver, in_use,
                    [](auto& channel) { return channel.in_use(); });
}

int AM_ChannelFreeReceiver(AM_receiver_t receiver) {
  if (const int code = am::c::check("AM_ChannelFreeReceiver", receiver)) return code;
  am::c::drop(am::c::receivers, receiver);
  return AM_OK;
}

int AM_ChannelAssocLocal(eb_t bundle, AM_channel_t channel, const void* buffer, size_t nbytes,
                         AM_sender_t* sender) {
  return am::c::assoc("AM_ChannelAssocLocal", bundle, channel, buffer, nbytes, sender);
}

int AM_ChannelSetBuffer(AM_sender_t sender, const void* buffer, size_t nbytes) {
  return am::c::set_buffer("AM_ChannelSetBuffer", sender, buffer, nbytes,
                           [](auto& channel, auto bytes) { channel.associate(bytes); });
}

int AM_ChannelAlternate(AM_sender_t sender, const void* buffer, size_t nbytes) {
  return am::c::set_buffer("AM_ChannelAlternate", sender, buffer, nbytes,
                           [](auto& channel, auto bytes) { channel.alternate(bytes); });
}

int AM_ChannelPut(AM_sender_t sender) {
  return with("AM_ChannelPut", sender, [](auto& channel) { channel.put({"put", {}}); });
}

int AM_ChannelReusable(AM_sender_t sender, int* reusable) {
  return am::c::ask("AM_ChannelReusable", sender, reusable,
                    [](auto& channel) { return channel.reusable(); });
}

int AM_ChannelFreeSender(AM_sender_t sender) {
  constexpr const char* kCall = "AM_ChannelFreeSender";
  if (const int code = am::c::check(kCall, sender)) return code;
  if (const int code = check_no_handler(kCall)) return code;
  // What a handler throws meanwhile comes out before the place is given back.
  if (const int code = guarded(kCall, [&] { sender->core->channel.close(); })) return code;
  am::c::drop(am::c::senders, sender);
  return AM_OK;
}

int AM_GetChannelStatistics(eb_t bundle, AM_channel_stats_t* statistics) {
  return am::c::get_statistics("AM_GetChannelStatistics", bundle, statistics);
}
