#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "benchmarks/support/board.h"
#include "benchmarks/support/samples.h"
#include "shmem/doorbell.h"

namespace am {
class Bundle;
class Job;
}  // namespace am

namespace bench {

// Ranks 0 and 1 of a job, which measure together while all others sleep. Rank 0 takes the times.
// They may be on different nodes: then they share no memory.
//
// Memory: from `offset` of both segments on it may use kScratchBytes.
class Pair {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{32} << 20;
  static constexpr std::size_t kScratchBytes = 4096 + Board::kBytes + kBufferBytes;
  // Prepares and runs one sample; returns nanoseconds per operation. Only that of rank 0 counts.
  using Contender = std::function<double()>;
  // Returns when both are here, calling `meanwhile` again and again.
  using Meeting = std::function<void(const std::function<void()>& meanwhile)>;

  Pair(am::Job& job, am::Bundle& bundle, std::uint64_t offset);

  am::Rank me() const noexcept { return me_; }
  am::Rank other() const noexcept { return 1 - me_; }
  bool first() const noexcept { return me_ == 0; }
  // On one node. board() and probe() are only for these.
  bool near() const noexcept { return near_; }
  // Of the job, as the library's mailboxes use it.
  shmem::Fence fence() const noexcept;
  // How two on different nodes meet.
  void meet_over(Meeting meeting) { meeting_ = std::move(meeting); }

  Board& board() noexcept { return *board_; }
  // kBufferBytes in the segment of `rank`, on a page; and where in the segment. Null if that is on
  // another node.
  std::byte* buffer(am::Rank rank) noexcept { return buffers_[rank]; }
  std::uint64_t buffer_offset() const noexcept { return offset_ + Board::kBytes; }
  // kBufferBytes of this process alone, on a page, touched.
  std::byte* source() noexcept { return source_.get(); }

  // Returns when both are here, making progress meanwhile.
  void meet();

  // Runs the contenders in turn, `reps` times, so that all of them see the same states of the
  // machine; both processes call it with as many. Returns the samples by contender (rank 0's).
  std::vector<Samples> interleave(int reps, const std::vector<Contender>& contenders);

  // 8 bytes there and 8 back, both in `line`, `count` times, in ns. `sequence` starts at 0, is kept
  // by the caller and is in step on both sides.
  double round_trips(Line& line, std::uint64_t& sequence, int count);
  // Some round trips of a line, in ns: before every turn of interleave(). See Placement.
  double probe();
  const Samples& probes() const noexcept { return probes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };

  // Constant after construction.
  am::Bundle& bundle_;
  const am::Rank me_;
  const std::uint64_t offset_;
  const bool near_;
  Meeting meeting_;
  Board* board_;
  std::byte* buffers_[2];
  std::unique_ptr<std::byte, Free> source_;
  // In step on both sides.
  std::uint64_t meetings_ = 0;
  std::uint64_t probed_ = 0;
  Samples probes_;
};

}  // namespace bench
