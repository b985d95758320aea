#include "am/observe/activity.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace am {
namespace {

using Words = std::array<std::uint64_t, sizeof(WaitRecord) / sizeof(std::uint64_t)>;

// The beginning of `text`, with a 0 behind it; nullptr is "".
template <std::size_t kBytes>
void copy_text(char (&to)[kBytes], const char* text) noexcept {
  if (text == nullptr) return;
  std::memcpy(to, text, std::min(std::strlen(text), kBytes - 1));
}

// The end of it.
template <std::size_t kBytes>
void copy_end(char (&to)[kBytes], const char* text) noexcept {
  const std::size_t length = std::strlen(text);
  copy_text(to, text + length - std::min(length, kBytes - 1));
}

WaitRecord record_of(const Reason& reason, std::uint64_t progress) noexcept {
  WaitRecord record{};
  copy_text(record.call, reason.call.name);
  copy_text(record.needs, reason.needs);
  copy_text(record.unit, reason.unit);
  record.line = static_cast<std::uint32_t>(reason.call.where.line());
  if (record.line != 0) copy_end(record.file, reason.call.where.file_name());
  record.peer = reason.peer;
  record.caller = reinterpret_cast<std::uintptr_t>(reason.call.where.return_address());
  record.have = reason.have;
  record.wanted = reason.wanted;
  record.collective = reason.collective;
  record.progress = progress;
  return record;
}

}  // namespace

void Activity::reset() noexcept {
  polls_.store(0, std::memory_order_relaxed);
  handler_.store(0, std::memory_order_relaxed);
  looks_.store(0, std::memory_order_relaxed);
  far_packets_.store(0, std::memory_order_relaxed);
  far_bytes_.store(0, std::memory_order_relaxed);
  pieces_.store(0, std::memory_order_relaxed);
  taken_.store(0, std::memory_order_relaxed);
  pid_.store(getpid(), std::memory_order_relaxed);
  state_.store(State::kRunning, std::memory_order_relaxed);
}

void Activity::finish(std::uint64_t collectives) noexcept {
  collectives_.store(collectives, std::memory_order_relaxed);
  // pairs with: read(); the number is there before
  state_.store(State::kFinished, std::memory_order_release);
}

bool Activity::try_begin_wait() noexcept {
  // pairs with: end_wait(), perhaps of another thread, which wrote the record before
  return taken_.exchange(1, std::memory_order_acquire) == 0;
}

void Activity::show_wait(const Reason& reason, std::uint64_t progress) noexcept {
  const auto words = std::bit_cast<Words>(record_of(reason, progress));
  lock_.write([&] {
    for (std::size_t i = 0; i < kWords; ++i) record_[i].store(words[i], std::memory_order_relaxed);
  });
  // pairs with: read(); the record is there before
  state_.store(State::kWaiting, std::memory_order_release);
}

void Activity::end_wait() noexcept {
  state_.store(State::kRunning, std::memory_order_relaxed);
  // pairs with: try_begin_wait(), perhaps of another thread, which writes the record next
  taken_.store(0, std::memory_order_release);
}

Activity::Snapshot Activity::read() const noexcept {
  Snapshot now;
  now.pid = pid_.load(std::memory_order_relaxed);
  now.handler = handler_.load(std::memory_order_relaxed);
  now.source = source_.load(std::memory_order_relaxed);
  now.handled = handled_.load(std::memory_order_relaxed);
  now.looks = looks_.load(std::memory_order_relaxed);
  now.polls = polls_.load(std::memory_order_relaxed);
  now.far_packets = far_packets_.load(std::memory_order_relaxed);
  now.far_bytes = far_bytes_.load(std::memory_order_relaxed);
  now.pieces = pieces_.load(std::memory_order_relaxed);
  // pairs with: finish(), show_wait()
  now.state = state_.load(std::memory_order_acquire);
  now.collectives = collectives_.load(std::memory_order_relaxed);
  if (now.state != State::kWaiting) return now;
  Words words;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const bool whole = lock_.try_read([&] {
      for (std::size_t i = 0; i < kWords; ++i)
        words[i] = record_[i].load(std::memory_order_relaxed);
    });
    if (!whole) continue;
    now.wait = std::bit_cast<WaitRecord>(words);
    return now;
  }
  now.state = State::kRunning;  // it is written all the time: nothing stands still there
  return now;
}

bool ShownWait::show(const Reason& reason) noexcept {
  const bool first = !std::exchange(asked_, true);
  if (!shown_) {
    if (!activity_.try_begin_wait()) return first;
    shown_ = true;
    own_progress_ = progress_.fetch_add(1, std::memory_order_relaxed) + 1;
  } else if (reason.wanted - reason.have != missing_) {
    own_progress_ = progress_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  missing_ = reason.wanted - reason.have;
  activity_.show_wait(reason, own_progress_);
  return first;
}

}  // namespace am
