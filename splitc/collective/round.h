#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/types/owned.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"
#include "splitc/world/sync.h"

// What the processes show one another in collective calls.
//
// Each process has two boards in its segment. A collective call writes the own board, passes one
// barrier, and reads the boards of others; the next one uses the other board of everybody. One
// barrier is enough: who writes the board of round k again is in round k + 2, so it has passed the
// barrier of round k + 1, which everybody entered after reading the boards of round k.
//
// Between nodes the barrier itself carries what is shown (am/collective/payloads.h), to memory of
// the lowest rank of each node, of which there are two by turns, too. What is too large for that is
// fetched from the boards, as far as it is needed.

namespace am {
class Payload;
struct Shown;
}  // namespace am

namespace splitc {

namespace detail {

// One round of a collective call. Throws Error, naming both processes and what they called, when
// another process is in a different one: checked builds compare all processes, release builds those
// whose boards are read, and across nodes the lowest ranks of all nodes.
//
// Thread rule: the world's thread.
class Round {
 public:
  // Announces `call`, cut to 35 letters; `step` counts the rounds of one call. First waits for all
  // calls that were started (started.h). Throws Error between barrier_notify() and barrier_wait().
  Round(Call call, std::uint64_t bytes, std::uint64_t kind = 0, std::uint32_t step = 0);
  static Round latest() noexcept;  // the one this process is in
  Round(Round&& other) noexcept;
  ~Round();

  // Most bytes of each process that gather() moves with the barrier.
  static std::size_t most_gathered() noexcept;
  // Most bytes of a part that transpose() moves so, if it is `by_nodes`. 0 on one node.
  static std::size_t most_transposed() noexcept;
  // Collective, before a round of the same arguments that will move `carried` bytes with a barrier:
  // if that is much, the nodes write into one another's memory from now on, where the network does
  // that.
  static void prepare(Call call, std::uint64_t bytes, std::uint64_t kind, std::size_t carried);

  // Where this process shows `bytes`, at most most_shown(), which are to be filled before one of
  // the following calls. Each of these enters the barrier, and says what of() will give, from
  // finish() until this process's next collective call.
  std::byte* mine(std::size_t bytes) noexcept;
  static std::size_t most_shown() noexcept;
  void start_meet();  // nothing
  // The first `bytes` that processes `first` to `last` - 1 show, or of more than those.
  void start_gather(std::size_t bytes, std::uint32_t first, std::uint32_t last);
  // Those that `root` shows; of() gives them for `root`.
  void start_broadcast(std::size_t bytes, std::uint32_t root);
  // The part for this process that each shows: part p of `bytes` is for process p. `by_nodes`: with
  // the barrier, if they are at most most_transposed(); else large ones are fetched.
  void start_transpose(std::size_t bytes, bool by_nodes);
  // Waits until all have entered; then finish(). An exception of a handler comes out, and the round
  // ends without having been passed.
  void wait();
  void finish();

  // All at once.
  void meet() { start_meet(), wait(), finish(); }
  void gather(std::size_t bytes) { gather(bytes, 0, procs()); }
  void gather(std::size_t bytes, std::uint32_t first, std::uint32_t last) {
    start_gather(bytes, first, last), wait(), finish();
  }
  void broadcast(std::size_t bytes, std::uint32_t root) {
    start_broadcast(bytes, root), wait(), finish();
  }
  void transpose(std::size_t bytes, bool by_nodes = false) {
    start_transpose(bytes, by_nodes), wait(), finish();
  }

  const std::byte* of(std::uint32_t proc) const;

  // For the two halves of a barrier, which are two objects: the first one's payload is kept, and
  // the second one only checks.
  void leave_payload();
  void check();

 private:
  // What of() gives: of the leader's large board, or, else, of the boards of some processes.
  struct Found {
    bool is_gathered = false;
    std::size_t at = 0;
    std::size_t stride = 0;  // on the large board, from one process to the next
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::size_t bytes = 0;
  };

  explicit Round(unsigned parity) noexcept;
  am::Shown shown() const noexcept;
  void enter(am::Owned<am::Payload> payload, const Found& found);
  void enter_to_look(std::uint32_t first, std::uint32_t last, std::size_t at, std::size_t bytes);
  bool differs() const noexcept;
  // For so many bytes; the same in all processes, also in those that show none.
  void choose_board(std::size_t bytes) noexcept { large_ = bytes > Board::kBytes; }
  std::uint64_t shown_offset() const noexcept;
  const std::byte* shown_by(std::uint32_t near) const noexcept;
  std::byte* gathered() const noexcept;
  void look(std::uint32_t first, std::uint32_t last, std::size_t at, std::size_t bytes);
  // Where the header and the bytes of a far process are; all headers begin on a whole word.
  std::size_t stride() const noexcept { return (sizeof(BoardHeader) + bytes_ + 7) / 8 * 8; }
  std::size_t place_of(std::uint32_t proc) const noexcept { return (proc - first_) * stride(); }
  handle fetch(std::uint32_t proc, std::uint64_t offset, std::byte* to, std::size_t bytes) const;
  const BoardHeader& header_of(std::uint32_t proc) const;
  void check(std::uint32_t proc) const;
  void find_difference();

  Call call_;
  unsigned parity_;
  bool large_ = false;              // shows on the large board
  am::Owned<am::Payload> payload_;  // of a job of several nodes
  Found found_;
  // Where the barrier has brought all that of() gives, if it has.
  const std::byte* gathered_ = nullptr;
  // Else: what look() said, and what it has fetched.
  std::uint32_t first_ = 0;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::byte> fetched_;
};

}  // namespace detail
}  // namespace splitc
