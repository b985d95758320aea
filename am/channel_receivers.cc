#include "am/channel_receivers.h"

#include <utility>

#include "am/bundle.h"

namespace am {
namespace {

using Wrong = ChannelPhase::Wrong;

constexpr std::uint16_t number_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival >> 16);
}
constexpr std::uint16_t generation_of(std::uint32_t arrival) noexcept {
  return static_cast<std::uint16_t>(arrival);
}

const char* explain(Wrong what) {
  switch (what) {
    case Wrong::kEarly:
      return "a put came before ready(), while the buffer was in use, and has overwritten it; let "
             "the sender wait until this process has called ready()";
    case Wrong::kLost:
      return "several puts came where one was to come, and only the last can be told; let the "
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

ChannelReceivers::ChannelReceivers(Bundle& bundle)
    : bundle_(bundle),
      board_(bundle.router().self().header->puts),
      arrivals_(board_, bundle.router().fence()) {}

std::uint16_t ChannelReceivers::take_number() {
  if (ends_.size() < shmem::ArrivalBoard::kNumbers) {  // rather than one that has had a channel
    ends_.push_back(nullptr);
    generations_.push_back(0);
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
  if (++generations_[number] == 0) ++generations_[number];  // 0 is of no channel
  end.handle.number = number;
  end.handle.generation = generations_[number];
  ends_[number] = &end;
  publish(end);
}

void ChannelReceivers::close(const End& end) noexcept {
  const std::uint16_t number = end.handle.number;
  ends_[number] = nullptr;
  free_.push_back(number);
  // pairs with: ChannelSenders::open() and check()
  board_.states[number].store(0, std::memory_order_release);
}

ChannelReceivers::End* ChannelReceivers::find(std::uint32_t arrival) noexcept {
  const std::uint16_t number = number_of(arrival);
  End* const end = number < ends_.size() ? ends_[number] : nullptr;
  return end != nullptr && end->handle.generation == generation_of(arrival) ? end : nullptr;
}

// Says on the board how many puts were seen, and whether the buffer is free.
void ChannelReceivers::publish(const End& end) noexcept {
  const bool free = !end.phase.in_use();
  const shmem::Arrival state{free, end.handle.generation, end.arrived};
  // pairs with: ChannelSenders::open(), check() and reclaim()
  board_.states[end.handle.number].store(state.word(), std::memory_order_release);
}

void ChannelReceivers::arrive(shmem::Arrival arrival) {
  const std::uint32_t name = std::uint32_t{arrival.number} << 16 | arrival.generation;
  End* const end = find(name);
  if (end == nullptr) [[unlikely]]
    return wrong_stale(name);
  const auto puts = static_cast<std::int32_t>(arrival.count - end->arrived);
  if (puts <= 0) return;
  end->arrived = arrival.count;
  arrive(*end, static_cast<std::uint32_t>(puts));
}

void ChannelReceivers::arrive(End& end, std::uint32_t puts) {
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
  end.callback();
}

// What came by network, and what was to be told later.
int ChannelReceivers::poll_noted() {
  int count = 0;
  std::vector<std::uint32_t> arrived = std::exchange(by_network_, {});
  const std::vector<std::uint32_t> due = std::exchange(due_, {});
  for (std::size_t i = 0; i < due.size(); ++i, ++count) {
    End* const end = find(due[i]);
    if (end == nullptr || !end->phase.armed()) continue;
    try {
      call(*end);
    } catch (...) {
      due_.insert(due_.end(), due.begin() + static_cast<std::ptrdiff_t>(i) + 1, due.end());
      by_network_.insert(by_network_.begin(), arrived.begin(), arrived.end());
      throw;
    }
  }
  for (std::size_t i = 0; i < arrived.size(); ++i, ++count) {
    try {
      if (End* const end = find(arrived[i])) {
        arrive(*end, 1);
      } else {
        wrong_stale(arrived[i]);
      }
    } catch (...) {
      by_network_.insert(by_network_.begin(), arrived.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         arrived.end());
      throw;
    }
  }
  return count;
}

bool ChannelReceivers::has_work() noexcept {
  return !by_network_.empty() || !due_.empty() || arrivals_.has_arrival();
}

bool ChannelReceivers::take_piece(const link::Access& packet) {
  const auto arrival = static_cast<std::uint32_t>(packet.number);
  const std::uint64_t bytes = packet.head.data_bytes;
  if (packet.head.bytes != sizeof packet + link::rounded(packet.head.data_bytes)) return false;
  End* const end = find(arrival);
  if (end == nullptr) {
    if (packet.offset == 0) arrived(arrival);  // poll() finds that it is stale, once
    return true;
  }
  const std::uint64_t all = end->handle.shape.bytes();
  if (packet.offset > all || bytes > all - packet.offset) return false;
  const auto* const data = reinterpret_cast<const std::byte*>(&packet + 1);
  scatter(end->first, end->handle.shape, packet.offset, data, bytes);
  end->pieces += bytes;
  if (end->pieces < all) return true;
  end->pieces = 0;
  arrived(arrival);
  return true;
}

void ChannelReceivers::mark(End& end, const char* call) {
  const Wrong what = end.phase.mark();
  publish(end);
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
                               "has been told, and give its handle to nobody afterwards");
  }
}

}  // namespace am
