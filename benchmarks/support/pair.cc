#include "benchmarks/support/pair.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "am/am.h"
#include "benchmarks/support/clock.h"

namespace bench {

void Pair::Free::operator()(std::byte* memory) const noexcept { std::free(memory); }

Pair::Pair(am::Job& job, am::Bundle& bundle, std::uint64_t offset)
    : bundle_(bundle),
      me_(job.rank()),
      offset_((offset + 4095) / 4096 * 4096),
      near_(job.router().peer(0).segment != nullptr && job.router().peer(1).segment != nullptr) {
  std::byte* const board = job.router().peer(near_ ? 0 : me_).segment;
  board_ = reinterpret_cast<Board*>(board + offset_);
  for (am::Rank rank : {0u, 1u}) {
    std::byte* const segment = job.router().peer(rank).segment;
    buffers_[rank] = segment != nullptr ? segment + buffer_offset() : nullptr;
  }
  if (me_ > 1) return;  // not one of the pair: costs it nothing
  source_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, kBufferBytes)));
  if (source_ == nullptr) throw std::bad_alloc();
  std::memset(source_.get(), 1, kBufferBytes);
}

shmem::Fence Pair::fence() const noexcept { return bundle_.router().fence(); }

void Pair::meet() {
  if (!near_) {
    meeting_([this] { bundle_.poll(); });
    return;
  }
  ++meetings_;
  board_->met[me_].publish(meetings_);
  spin_until([this] {
    bundle_.poll();
    return board_->met[other()].value() >= meetings_;
  });
}

double Pair::round_trips(Line& line, std::uint64_t& sequence, int count) {
  std::uint64_t n = sequence;
  const Stopwatch watch;
  for (const std::uint64_t end = n + static_cast<std::uint64_t>(count); n != end;) {
    ++n;
    if (first()) {
      line.payload_there = n;
      // pairs with: the loop of the other rank, just below
      line.there.store(n, std::memory_order_release);
      spin_until<false>([&] { return line.back.load(std::memory_order_acquire) == n; });
    } else {
      // pairs with: the loop of the other rank, just above
      spin_until<false>([&] { return line.there.load(std::memory_order_acquire) == n; });
      line.payload_back = line.payload_there;
      // pairs with: the loop of the other rank, just above
      line.back.store(n, std::memory_order_release);
    }
  }
  sequence = n;
  return watch.ns() / count;
}

double Pair::probe() { return round_trips(board_->probe, probed_, 50); }

std::vector<Samples> Pair::interleave(int reps, const std::vector<Contender>& contenders) {
  std::vector<Samples> samples(contenders.size());
  for (int rep = 0; rep < reps; ++rep) {
    meet();
    if (near_) probes_.add(probe());
    std::size_t i = 0;
    for (const Contender& contender : contenders) {
      meet();
      const double ns = contender();
      if (first()) samples[i].add(ns);
      ++i;
    }
  }
  meet();
  return samples;
}

}  // namespace bench
