// Memory of every process into which the operations of one family write, each where no other does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "splitc/splitc.h"
#include "tests/soak/round.h"

namespace soak {

// Some bytes of a field, and the key of what shall be there at the end of the round.
struct Range {
  std::uint32_t proc = 0;
  std::uint64_t offset = 0;  // in the field
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t id = 0;  // of the operation
};

// Ranges lie side by side or some bytes apart, at any address, and what lies between them is
// checked as well.
class Field {
 public:
  // Collective. `bytes` in every process.
  Field(std::string_view family, std::uint64_t bytes);
  ~Field();  // collective

  // A new round begins: no range is in use, and own memory is blank.
  void begin(const Round& round);
  // Takes a range at `proc`, in all processes alike; with fewer bytes than asked for if the field
  // is full, 0 at last.
  Range take(const Round& round, Random& random, std::uint32_t proc, std::uint64_t id,
             std::uint64_t bytes, std::uint64_t alignment = 1);
  // ... which is of the same size or none, for objects.
  std::optional<Range> take_object(const Round& round, Random& random, std::uint32_t proc,
                                   std::uint64_t id, std::uint64_t bytes, std::uint64_t alignment);
  // Nothing shall be written there: it shall still be blank at the end. By every process.
  void forbid(const Range& range);

  splitc::global_ptr<std::byte> at(const Range& range) const {
    return memory_.on(range.proc) + static_cast<std::ptrdiff_t>(range.offset);
  }
  // From the start of the segment of its process.
  std::uint64_t segment_offset(const Range& range) const { return at(range).offset(); }
  // Of this process.
  std::span<std::byte> mine(const Range& range) const {
    return {memory_.mine() + range.offset, range.bytes};
  }
  // Fills a range of this process with what its key says, which others may then read.
  void write(const Range& range) const { fill_range(range); }

  // Checks one range, or all of this process and what lies between them.
  void verify(const Round& round, const Range& range) const;
  void verify(const Round& round) const;

 private:
  void fill_range(const Range& range) const;
  void verify_blank(const Round& round, std::uint64_t id, std::uint64_t from,
                    std::uint64_t to) const;

  const std::string_view family_;
  const std::uint64_t bytes_;
  splitc::spread_ptr<std::byte> memory_;
  std::vector<std::uint64_t> used_;  // bytes, by process
  std::vector<Range> mine_;          // by offset
  std::vector<bool> forbidden_;      // of these
};

}  // namespace soak
