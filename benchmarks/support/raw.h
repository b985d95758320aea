#pragma once

#include <cstddef>
#include <cstdint>

#include "benchmarks/support/pair.h"

namespace bench {

// What two processes that share memory can do, written by hand and without the library: the limits
// that the library's figures are compared with. Both processes call the same functions in the same
// order; each returns nanoseconds per operation at rank 0.
class Raw {
 public:
  explicit Raw(Pair& pair) noexcept : pair_(pair), board_(pair.board()) {}

  // 8 bytes there and 8 bytes back, both in one cache line.
  double one_line(int round_trips);
  // A flag there and a flag back, each with a cache line of its own.
  double two_lines(int round_trips);
  // `bytes` copied from memory of the sender alone into the other's segment, then a flag; the same
  // back. The receiver does not look at the bytes.
  double payload(std::size_t bytes, int round_trips);
  // The same with the flags of both directions in one cache line, which then carries each answer to
  // where the next question is written: fewer lines move, as long as the two speak in turn.
  double payload_one_line(std::size_t bytes, int round_trips);
  // 8 bytes one way, from rank 1 to rank 0, through a ring of 64 slots of one cache line. The
  // consumer adds the bytes up and says every 16 slots how far it has read.
  double ring(int messages);
  // As many requests as 64 slots take at once, from rank 0 to rank 1, each answered in its slot,
  // until all answers are here: with the slots, heads, marks, handlers, fence and bells of the
  // library's mailboxes, and of each side's state one or two counts.
  double flood(int pairs);
  // Each says that it is there and waits for the other.
  double barrier(int times);

  // Copies `bytes` by memcpy into the other's segment, `copies` times, to `places` places in turn.
  double copy(std::size_t bytes, int copies, std::size_t places = 1);
  // The same, telling the other after every copy, which grants each place again when it has seen it
  // filled. The last is known to be seen when the time ends.
  double stream(std::size_t bytes, int copies, std::size_t places);
  // stream() by stores that go around the caches.
  double stream_past_caches(std::size_t bytes, int copies, std::size_t places);

 private:
  template <class Copy>
  double stream_by(Copy&& copy, std::size_t bytes, int copies, std::size_t places);

  Pair& pair_;
  Board& board_;
  // In step on both sides.
  std::uint64_t line_ = 0;
  std::uint64_t flags_ = 0;
  std::uint64_t ring_ = 0;
  std::uint64_t flooded_ = 0;
  std::uint64_t barriers_ = 0;
};

}  // namespace bench
