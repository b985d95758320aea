#include "benchmarks/support/raw.h"

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "benchmarks/support/clock.h"
#include "benchmarks/support/compiler.h"

namespace bench {
namespace {

// memcpy by non-temporal stores, where the processor has them; `bytes` a multiple of 64.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t bytes) {
#if defined(__SSE2__)
  for (std::size_t at = 0; at < bytes; at += sizeof(__m128i)) {
    const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), part);
  }
  _mm_sfence();  // they are not ordered with the flag that follows
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace

double Raw::one_line(int round_trips) { return pair_.round_trips(board_.line, line_, round_trips); }

double Raw::two_lines(int round_trips) { return payload(0, round_trips); }

double Raw::payload(std::size_t bytes, int round_trips) {
  std::byte* const to = pair_.buffer(pair_.other());
  const std::byte* const from = pair_.source();
  const auto send = [&] {
    if (bytes != 0) std::memcpy(to, from, bytes);
    board_.flag[pair_.me()].publish(flags_);
  };
  const Stopwatch watch;
  for (int i = 0; i < round_trips; ++i) {
    ++flags_;
    if (pair_.first()) send();
    spin_until([&] { return board_.flag[pair_.other()].value() == flags_; });
    if (!pair_.first()) send();
  }
  return watch.ns() / round_trips;
}

double Raw::payload_one_line(std::size_t bytes, int round_trips) {
  std::byte* const to = pair_.buffer(pair_.other());
  const std::byte* const from = pair_.source();
  std::atomic<std::uint64_t>& mine = pair_.first() ? board_.line.there : board_.line.back;
  const std::atomic<std::uint64_t>& others = pair_.first() ? board_.line.back : board_.line.there;
  const auto send = [&] {
    std::memcpy(to, from, bytes);
    // pairs with: the other rank's load, just below
    mine.store(line_, std::memory_order_release);
  };
  const Stopwatch watch;
  for (int i = 0; i < round_trips; ++i) {
    ++line_;
    if (pair_.first()) send();
    // pairs with: the other rank's store, just above
    spin_until([&] { return others.load(std::memory_order_acquire) == line_; });
    if (!pair_.first()) send();
  }
  return watch.ns() / round_trips;
}

double Raw::ring(int messages) {
  constexpr std::uint64_t kSlots = Board::kRingSlots;
  std::uint64_t sum = 0;
  std::uint64_t granted = ring_ + kSlots;  // sequence numbers that may be written
  const Stopwatch watch;
  for (int i = 0; i < messages; ++i) {
    Line& slot = board_.ring[++ring_ % kSlots];
    if (pair_.first()) {
      // pairs with: the producer's store, just below
      spin_until([&] { return slot.there.load(std::memory_order_acquire) == ring_; });
      sum += slot.payload_there;
      if (ring_ % (kSlots / 4) == 0) board_.consumed.publish(ring_);
    } else {
      if (ring_ > granted) {
        spin_until([&] { return ring_ <= (granted = board_.consumed.value() + kSlots); });
      }
      slot.payload_there = ring_;
      // pairs with: the consumer's load, just above
      slot.there.store(ring_, std::memory_order_release);
    }
  }
  const double ns = watch.ns();
  if (pair_.first()) board_.consumed.publish(ring_);
  keep(sum);
  pair_.meet();  // the grant of the next call counts on everything being read
  return ns / messages;
}

double Raw::barrier(int times) {
  const Stopwatch watch;
  for (int i = 0; i < times; ++i) {
    board_.barrier[pair_.me()].publish(++barriers_);
    spin_until([&] { return board_.barrier[pair_.other()].value() >= barriers_; });
  }
  return watch.ns() / times;
}

double Raw::copy(std::size_t bytes, int copies, std::size_t places) {
  if (!pair_.first()) return 0;
  const std::byte* const from = opaque(pair_.source());
  std::byte* const to = opaque(pair_.buffer(1));
  const Stopwatch watch;
  std::size_t place = 0;
  for (int i = 0; i < copies; ++i) {
    std::memcpy(to + place * bytes, from, bytes);
    compiler_barrier();
    if (++place == places) place = 0;
  }
  return watch.ns() / copies;
}

template <class Copy>
double Raw::stream_by(Copy&& copy, std::size_t bytes, int copies, std::size_t places) {
  std::byte* const to = pair_.buffer(1);
  const std::byte* const from = pair_.source();
  const std::uint64_t start = flags_;
  flags_ += static_cast<std::uint64_t>(copies);
  std::size_t place = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 1; i <= static_cast<std::uint64_t>(copies); ++i) {
    if (pair_.first()) {
      spin_until([&] { return board_.flag[1].value() + places >= start + i; });
      copy(to + place * bytes, from, bytes);
      if (++place == places) place = 0;
      board_.flag[0].publish(start + i);
    } else {
      spin_until([&] { return board_.flag[0].value() >= start + i; });
      board_.flag[1].publish(start + i);
    }
  }
  if (pair_.first()) spin_until([&] { return board_.flag[1].value() == flags_; });
  return watch.ns() / copies;
}

double Raw::stream(std::size_t bytes, int copies, std::size_t places) {
  return stream_by(
      [](std::byte* to, const std::byte* from, std::size_t n) { std::memcpy(to, from, n); }, bytes,
      copies, places);
}

double Raw::stream_past_caches(std::size_t bytes, int copies, std::size_t places) {
  return stream_by(copy_past_caches, bytes, copies, places);
}

}  // namespace bench
