#include "am/channel/receivers.h"

#include <cstring>
#include <span>
#include <utility>

#include "am/core/bundle.h"
#include "am/core/process.h"
#include "am/far/far_memory.h"
#include "am/observe/event.h"
#include "am/observe/trace.h"
#include "am/route/port.h"

namespace am {
namespace {

using Wrong = ChannelPhase::Wrong;

constexpr std::uint16_t number_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival >> 16);
}
constexpr std::uint16_t generation_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival);
}

std::vector<shmem::ArrivalPair> pairs_of(const Router& router) {
  std::vector<shmem::ArrivalPair> pairs;
  for (const Rank rank : router.near_ranks()) {
    if (const auto pair = router.arrival_pair(rank)) pairs.push_back(*pair);
  }
  return pairs;
}

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

ChannelReceivers::ChannelReceivers(Bundle& bundle, ArrivalSink& home)
    : bundle_(bundle),
      home_(home),
      board_(bundle.router().self().header->puts),
      arrivals_(board_, bundle.router().fence(), pairs_of(bundle.router())) {}

ChannelReceivers::~ChannelReceivers() {
  if (FarMemory* const far = bundle_.process().far_memory()) {
    const Port::Lock network(*bundle_.router().port());
    for (const std::uint64_t word : words_) far->arrival_words().remove(word);
  }
}

std::uint16_t ChannelReceivers::take_number() {
  if (ends_.size() < shmem::ArrivalBoard::kNumbers) {  // rather than one that has had a channel
    ends_.push_back(nullptr);
    return static_cast<std::uint16_t>(ends_.size() - 1);
  }
  if (free_.empty()) {
    bundle_.refuse("ReceiveChannel", "this process has " + std::to_string(ends_.size()) +
                                         " channels, which is as many as there can be; close some");
  }
  const std::uint16_t number = free_.front();
  free_.pop_front();
  return number;
}

void ChannelReceivers::open(End& end) {
  const std::uint16_t number = take_number();
  // The board remembers the last one, of an earlier bundle, too.
  // pairs with: nothing; this process alone writes it
  const std::uint64_t last = board_.states[number].load(std::memory_order_relaxed);
  end.handle.number = number;
  end.handle.generation = shmem::Arrival::of(last).generation;
  if (++end.handle.generation == 0) ++end.handle.generation;  // 0 is of no channel
  ends_[number] = &end;
  end.handle.word = renew_word(end);
  publish(end);
}

// The word of a closed channel stays until its number has another one: so a put that comes too late
// is known to be one.
std::uint64_t ChannelReceivers::renew_word(const End& end) {
  FarMemory* const far = bundle_.process().far_memory();
  if (far == nullptr) return 0;
  if (words_.size() <= end.handle.number) words_.resize(end.handle.number + std::size_t{1});
  std::uint64_t& word = words_[end.handle.number];
  const Port::Lock network(*bundle_.router().port());
  far->arrival_words().remove(word);
  return word = far->arrival_words().add(detail::arrival_of(end.handle), home_);
}

void ChannelReceivers::close(Owned<End> end) noexcept {
  const std::uint16_t number = end->handle.number;
  ends_[number] = nullptr;
  free_.push_back(number);
  say(*end, detail::State::kClosed);
  if (end.get() == calling_) closed_ = std::move(end);
}

ChannelReceivers::End* ChannelReceivers::find(std::uint32_t arrival) noexcept {
  const std::uint16_t number = number_of(arrival);
  End* const end = number < ends_.size() ? ends_[number] : nullptr;
  return end != nullptr && end->handle.generation == generation_of(arrival) ? end : nullptr;
}

// Says on the board how many puts were seen, and whether one may come.
void ChannelReceivers::publish(const End& end) noexcept {
  say(end, end.phase.free() ? detail::State::kFree : detail::State::kBusy);
}

void ChannelReceivers::say(const End& end, detail::State state) noexcept {
  const shmem::Arrival word{static_cast<std::uint16_t>(state), end.handle.generation, end.arrived};
  // pairs with: ChannelSenders::open_near(), check() and put_near(), and ChannelSeats::seen()
  board_.states[end.handle.number].store(word.word(), std::memory_order_release);
}

void ChannelReceivers::arrive(shmem::Arrival arrival) {
  const std::uint32_t name = detail::arrival_of(arrival);
  End* const end = find(name);
  if (end == nullptr) [[unlikely]]
    return wrong_stale(name);
  const auto puts = static_cast<std::int32_t>(arrival.count - end->arrived);
  // Of senders that did not know of one another's last put: they have announced the same count.
  if (puts <= 0) return arrive(*end, 1);
  end->arrived = arrival.count;
  arrive(*end, static_cast<std::uint32_t>(puts));
}

void ChannelReceivers::arrive(End& end, std::uint32_t puts) {
  for (SendChannel& relay : end.relays) relay.put();
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
  struct Calling {
    ~Calling() {
      receivers.calling_ = nullptr;
      receivers.closed_.reset();
    }
    ChannelReceivers& receivers;
  } const calling{*this};
  calling_ = &end;
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

// Carries out orders to relay, then reports the puts that were deferred or came by network. After
// an exception the rest stays for the next poll.
int ChannelReceivers::poll_noted() {
  while (!orders_.empty()) {
    const Order order = orders_.front();
    orders_.erase(orders_.begin());
    obey(order);
  }
  int count = 0;
  const auto each = [&count](std::vector<std::uint32_t>& list, auto&& handle) {
    std::vector<std::uint32_t> now = std::exchange(list, {});
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
      packet.head.bytes != sizeof packet + sizeof(ChannelHandle) || find(arrival) == nullptr) {
    return false;
  }
  Order& order = orders_.emplace_back();
  order = {from, arrival, packet.head.detail, {}};
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
      link::make_header(link::Type::kRelayed, sizeof(link::PacketHeader));
  const Port::Lock network(*bundle_.router().port());
  bundle_.router().port()->link().send(order.from, std::as_bytes(std::span(&done, 1)));
}

bool ChannelReceivers::has_work() noexcept {
  return !by_network_.empty() || !due_.empty() || !orders_.empty() || arrivals_.has_arrival();
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

void ChannelReceivers::mark(End& end, const char* call) {
  const Wrong what = end.phase.mark();
  if constexpr (kChecked) publish(end);  // what check() wants to know
  if (what != Wrong::kNothing) wrong(what, end, call);
}

void ChannelReceivers::arm(End& end, const char* call) {
  const ChannelPhase::Step step = end.phase.poll();
  if (step.next == ChannelPhase::Next::kCall) due_.push_back(detail::arrival_of(end.handle));
  if (step.wrong != Wrong::kNothing) wrong(step.wrong, end, call);
}

void ChannelReceivers::wrong(Wrong what, const End& end, const char* call) {
  if constexpr (kChecked) bundle_.refuse(call, detail::describe(end.handle) + ": " + explain(what));
  stats_.early += what == Wrong::kEarly;
  stats_.lost += what == Wrong::kLost;
  stats_.ready_twice += what == Wrong::kReadyTwice || what == Wrong::kNotMarked;
}

void ChannelReceivers::wrong_stale(std::uint32_t arrival) {
  ++stats_.stale;
  if constexpr (kChecked) {
    bundle_.refuse("poll", "a put came for channel " + std::to_string(number_of(arrival)) +
                               ", generation " + std::to_string(generation_of(arrival)) +
                               ", which has been closed here; close a channel after its last put "
                               "has been reported, and give its handle to nobody afterwards");
  }
}

}  // namespace am
