#include "am/channel/receivers.h"

#include <cstring>
#include <span>
#include <utility>

#include "am/channel/channels.h"
#include "am/core/bundle.h"
#include "am/observe/event.h"
#include "am/observe/trace.h"
#include "am/route/port.h"

namespace am {
namespace {

using Wrong = ChannelPhase::Wrong;

[[maybe_unused]] const char* explain(Wrong what) {  // by the checked build
  switch (what) {
    case Wrong::kEarly:
      return "a put came before ready(), while the buffer was in use, and has overwritten it; let "
             "the sender wait until this process has called ready()";
    case Wrong::kLost:
      return "several puts came where one was to come, and are reported as one; let the "
             "sender wait for the ready() after each";
    case Wrong::kReadyTwice:
      return "the channel is ready already; call it once after each callback";
    case Wrong::kNotMarked: return "ready_mark() comes first; or call ready(), which is both";
    case Wrong::kNothing: break;
  }
  return "";
}

}  // namespace

std::string detail::describe(const ChannelHandle& handle) {
  return "channel " + std::to_string(handle.number) + " of rank " + std::to_string(handle.rank) +
         " (" + std::to_string(handle.shape.bytes()) + " bytes at offset " +
         std::to_string(handle.offset) + ")";
}

ChannelReceivers::ChannelReceivers(Bundle& bundle, ChannelHome& home, Channels& channels)
    : bundle_(bundle), home_(home), channels_(channels), numbers_(home.numbers()) {
  numbers_.add();
}

ChannelReceivers::~ChannelReceivers() { numbers_.remove(*this); }

void ChannelReceivers::open(End& end) {
  end.owner = this;
  if (!numbers_.open(end)) {
    bundle_.refuse("ReceiveChannel", "this process has " +
                                         std::to_string(shmem::ArrivalBoard::kNumbers) +
                                         " channels, which is as many as there can be; close some");
  }
  end.handle.word = home_.renew_word(end.handle, channels_);
  publish(end);
}

void ChannelReceivers::close(Owned<End> end) noexcept {
  numbers_.close(*end);
  if (end.get() == calling_) closed_ = std::move(end);
}

ChannelReceivers::End* ChannelReceivers::find(std::uint32_t arrival) noexcept {
  return numbers_.find(arrival, *this);
}

// Says on the board how many puts were seen, and whether one may come.
void ChannelReceivers::publish(const End& end) noexcept {
  numbers_.say(end, end.phase.free() ? detail::State::kFree : detail::State::kBusy);
}

void ChannelReceivers::arrive(End* end, shmem::Arrival arrival) {
  if (end == nullptr) [[unlikely]]
    return wrong_stale(detail::arrival_of(arrival));
  const auto puts = static_cast<std::int32_t>(arrival.count - end->arrived);
  // Of senders that did not know of one another's last put: they have announced the same count.
  if (puts <= 0) return arrive(*end, 1);
  end->arrived = arrival.count;
  arrive(*end, static_cast<std::uint32_t>(puts));
}

void ChannelReceivers::arrive(End& end, std::uint32_t puts) {
  for (SendChannel& relay : end.relays) relay.put({"put", {}});
  const ChannelPhase::Step step = end.phase.arrive(puts);
  if (step.wrong == Wrong::kNothing) [[likely]] {
    if (step.next == ChannelPhase::Next::kCall) return call(end);
    return publish(end);
  }
  if (step.next == ChannelPhase::Next::kCall) due_.push_back(detail::arrival_of(end.handle));
  publish(end);
  wrong(step.wrong, end, "poll");
}

void ChannelReceivers::call(End& end) {
  end.phase.called();
  ++end.callbacks;
  publish(end);
  calling_ = &end;
  const Finally called([this] {
    calling_ = nullptr;
    closed_.reset();
  });
  if (Trace* const trace = active_trace()) [[unlikely]]
    return call_traced(*trace, end);
  end.callback();
}

// The callback may close the channel; its end stays until it returns.
void ChannelReceivers::call_traced(Trace& trace, End& end) {
  const std::uint64_t by_network = std::exchange(end.last_by_network, 0);
  const std::uint64_t number =
      by_network != 0 ? detail::number_by_network(by_network) : end.arrived;
  const TraceDetails details{
      .flow = channel_flow(bundle_.router().rank(), detail::arrival_of(end.handle), number),
      .bytes = end.handle.shape.bytes()};
  const TraceName name = trace.name_of("callback of a channel");
  const TracedCall traced(trace, ticks_after_loads());
  end.callback();
  traced.record(TraceKind::kCallback, name, details);
}

// Carries out orders to relay, then reports the puts that were deferred, left here or came by
// network. After an exception the rest stays for the next poll.
int ChannelReceivers::poll_noted() {
  while (!orders_.empty()) {
    const Order order = orders_.front();
    orders_.erase(orders_.begin());
    obey(order);
  }
  int count = 0;
  const auto each = [&count](auto& list, auto&& handle) {
    auto now = std::exchange(list, {});
    for (std::size_t i = 0; i < now.size(); ++i, ++count) {
      try {
        handle(now[i]);
      } catch (...) {
        now.erase(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        list.insert(list.begin(), now.begin(), now.end());
        throw;
      }
    }
  };
  if (has_left_.load(std::memory_order_relaxed)) numbers_.take_left(*this, announced_);
  each(announced_,
       [this](shmem::Arrival arrival) { arrive(find(detail::arrival_of(arrival)), arrival); });
  each(due_, [this](std::uint32_t arrival) {
    End* const end = find(arrival);
    if (end != nullptr && end->phase.due()) call(*end);
  });
  each(by_network_, [this](std::uint32_t arrival) {
    End* const end = find(arrival);
    if (end == nullptr) return wrong_stale(arrival);
    end->last_by_network = ++end->network_puts;
    arrive(*end, 1);
  });
  return count;
}

bool ChannelReceivers::take_relay(Rank from, const link::Access& packet) {
  const auto arrival = static_cast<std::uint32_t>(packet.number);
  if (packet.number != arrival || packet.head.data_bytes != sizeof(ChannelHandle) ||
      packet.head.bytes != sizeof packet + sizeof(ChannelHandle) || packet.offset > 0xff ||
      find(arrival) == nullptr) {
    return false;
  }
  Order& order = orders_.emplace_back();
  order = {from, arrival, packet.head.detail, static_cast<std::uint8_t>(packet.offset), {}};
  std::memcpy(static_cast<void*>(&order.to), &packet + 1, sizeof order.to);
  return true;
}

void ChannelReceivers::obey(const Order& order) {
  End* const end = find(order.arrival);
  if (end == nullptr) return wrong_stale(order.arrival);
  if ((order.detail & link::kFirstRelay) != 0) end->relays.clear();
  end->relays.emplace_back(bundle_, order.to);
  end->relays.back().associate(end->first, end->handle.shape);
  if ((order.detail & link::kLastRelay) == 0) return;
  const link::PacketHeader done =
      link::make_header(link::Type::kRelayed, sizeof(link::PacketHeader), 0, order.asker);
  const Port::Lock network(*bundle_.router().port());
  bundle_.router().port()->link().send(order.from, std::as_bytes(std::span(&done, 1)));
}

bool ChannelReceivers::take_piece(const link::Access& packet) {
  const auto arrival = static_cast<std::uint32_t>(packet.number);
  const std::uint64_t bytes = packet.head.data_bytes;
  if (packet.number != arrival ||
      packet.head.bytes != sizeof packet + link::rounded(packet.head.data_bytes)) {
    return false;
  }
  End* const end = find(arrival);
  if (end == nullptr) {
    if (packet.offset == 0 || bytes == 0) arrived(arrival);  // poll() finds that it is stale, once
    return true;
  }
  const std::uint64_t all = end->handle.shape.bytes();
  if (packet.offset > all || bytes > all - packet.offset) return false;
  const auto* const data = reinterpret_cast<const std::byte*>(&packet + 1);
  scatter(end->first, end->handle.shape, packet.offset, data, bytes);
  end->pieces += bytes;
  const bool written = bytes == 0 && packet.offset == all;  // row by row, before
  if (end->pieces < all && !written) return true;
  end->pieces = 0;
  arrived(arrival);
  return true;
}

void ChannelReceivers::mark(End& end, CheckedCall call) {
  const Wrong what = end.phase.mark();
  if constexpr (kChecked) publish(end);  // what check() wants to know
  if (what != Wrong::kNothing) wrong(what, end, call);
}

void ChannelReceivers::arm(End& end, CheckedCall call) {
  const ChannelPhase::Step step = end.phase.poll();
  if (step.next == ChannelPhase::Next::kCall) due_.push_back(detail::arrival_of(end.handle));
  if (step.wrong != Wrong::kNothing) wrong(step.wrong, end, call);
}

void ChannelReceivers::wrong(Wrong what, const End& end, CheckedCall call) {
  if constexpr (kChecked) {
    bundle_.refuse(named(call, "ready"), detail::describe(end.handle) + ": " + explain(what));
  }
  stats_.early += what == Wrong::kEarly;
  stats_.lost += what == Wrong::kLost;
  stats_.ready_twice += what == Wrong::kReadyTwice || what == Wrong::kNotMarked;
}

void ChannelReceivers::wrong_stale(std::uint32_t arrival) {
  ++stats_.stale;
  if constexpr (kChecked) {
    bundle_.refuse("poll", "a put came for channel " + std::to_string(detail::number_of(arrival)) +
                               ", generation " + std::to_string(detail::generation_of(arrival)) +
                               ", which has been closed here; close a channel after its last put "
                               "has been reported, and give its handle to nobody afterwards");
  }
}

}  // namespace am
