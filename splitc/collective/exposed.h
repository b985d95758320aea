#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "am/collective/neighbour_memory.h"
#include "am/core/far/remote_memory.h"
#include "splitc/collective/round.h"
#include "splitc/world/place.h"
#include "splitc/world/tickets.h"

namespace splitc::detail {

// Two ranges of each process's own memory that all others can read while it lives, so that a
// collective call moves much data once, from where it is to where it shall be: through a mapping or
// through the kernel on a node, by RMA between nodes.
//
// Thread rule: the world's thread.
class Exposed {
 public:
  // Collective, one round of `call`; `bytes` and `kind` are the same everywhere, as in Round. The
  // ranges, of which either may be empty, stay where they are until finish() has returned.
  // `beside`, of one size everywhere and at most kBeside bytes, is shown to all in the same round.
  Exposed(Call call, std::uint64_t bytes, std::uint64_t kind, std::span<const std::byte> first,
          std::span<const std::byte> second = {}, std::span<const std::byte> beside = {});
  static constexpr std::size_t kBeside = 1024;

  // What `proc` shows beside. Valid as long as this.
  std::span<const std::byte> beside(std::uint32_t proc) const noexcept {
    const std::size_t each = beside_.size() / all_.size();
    return std::span(beside_).subspan(proc * each, each);
  }

  // False, in all processes, if the memory of one cannot be read by one of the others; then there
  // is nothing to finish.
  bool works() const noexcept { return works_; }

  // Starts to copy [at, at + to.size()) of a range of `proc` to `to`.
  enum Which : std::uint8_t { kFirst, kSecond };
  void read(std::uint32_t proc, Which which, std::uint64_t at, std::span<std::byte> to);
  // All that this process has started to read is here.
  void wait() { started_.wait(); }
  // Collective: the same, and all have come so far.
  void meet();
  // Collective: the same, and nobody reads any more. Once.
  void finish() { meet(); }

 private:
  struct Range {
    std::uint64_t offset;     // in the segment, if it is there
    std::uint64_t address;    // in the process
    am::link::RemoteKey key;  // if it has one
    std::uint8_t in_segment;
    std::uint8_t padding[7];
  };
  // What each process shows.
  struct Ranges {
    std::array<Range, 2> both;
    am::Neighbour process;
    std::uint64_t readable;  // whether its ranges can be read from other nodes
  };

  bool expose(std::span<const std::byte> memory, Range& range);
  bool crosses();
  void read_neighbour(std::uint32_t proc, std::uint64_t address, std::span<std::byte> to);

  const Call call_;
  const std::uint64_t bytes_;
  const std::uint64_t kind_;
  std::vector<Ranges> all_;        // by process
  std::vector<std::byte> beside_;  // likewise
  std::vector<std::shared_ptr<const am::link::Registration>> registrations_;
  std::uint32_t step_ = 0;  // the rounds of this call
  StartedAccesses started_;
  bool works_ = true;
};

}  // namespace splitc::detail
