#include "tests/soak/field.h"

#include <algorithm>
#include <string>

#include "tests/soak/content.h"

namespace soak {
namespace {

constexpr std::uint64_t kBlank = 0x626c616e6b;  // the key of what nobody has written to
constexpr std::uint64_t kMargin = 64;           // bytes behind the last range that are checked

constexpr std::uint64_t rounded_up(std::uint64_t n, std::uint64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace

Field::Field(std::string_view family, std::uint64_t bytes)
    : family_(family),
      bytes_(rounded_up(bytes, 64) + kMargin),
      memory_(splitc::all_spread_malloc<std::byte>(splitc::procs() * bytes_)),
      used_(splitc::procs(), bytes_ - kMargin) {}

Field::~Field() { splitc::all_spread_free(memory_); }

void Field::begin(const Round& round) {
  fill({memory_.mine(), used_[round.me()] + kMargin}, kBlank);
  std::ranges::fill(used_, 0);
  mine_.clear();
  forbidden_.clear();
}

Range Field::take(const Round& round, Random& random, std::uint32_t proc, std::uint64_t id,
                  std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t& used = used_[proc];
  const std::uint64_t room = bytes_ - kMargin - used;
  const std::uint64_t gap = random.one_in(3) ? random.below(std::uint64_t{40}) : 0;
  const std::uint64_t offset = std::min(rounded_up(used + gap, alignment), used + room);
  const Range range{proc, offset, std::min(bytes, used + room - offset), round.key(family_, id),
                    id};
  used = offset + range.bytes;
  if (proc == round.me()) {
    mine_.push_back(range);
    forbidden_.push_back(false);
  }
  return range;
}

std::optional<Range> Field::take_object(const Round& round, Random& random, std::uint32_t proc,
                                        std::uint64_t id, std::uint64_t bytes,
                                        std::uint64_t alignment) {
  if (used_[proc] + bytes + alignment + kMargin > bytes_ - kMargin) return std::nullopt;
  return take(round, random, proc, id, bytes, alignment);
}

void Field::forbid(const Range& range) {
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    if (mine_[i].id == range.id && mine_[i].offset == range.offset &&
        range.proc == splitc::my_proc())
      forbidden_[i] = true;
  }
}

void Field::fill_range(const Range& range) const { fill(mine(range), range.key); }

void Field::verify(const Round& round, const Range& range) const {
  round.expect(difference(mine(range), range.key), family_, range.id,
               std::to_string(range.bytes) + " bytes at " + std::to_string(segment_offset(range)) +
                   " of this process's segment");
}

void Field::verify_blank(const Round& round, std::uint64_t id, std::uint64_t from,
                         std::uint64_t to) const {
  round.expect(difference({memory_.mine() + from, to - from}, kBlank, from), family_, id,
               "bytes that nobody was to write, at " + std::to_string(memory_.offset() + from) +
                   " of this process's segment, before or in the range of this number");
}

void Field::verify(const Round& round) const {
  std::uint64_t checked = 0;
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    const Range& range = mine_[i];
    const std::uint64_t end = range.offset + range.bytes;
    verify_blank(round, range.id, checked, forbidden_[i] ? end : range.offset);
    if (!forbidden_[i]) verify(round, range);
    checked = end;
  }
  verify_blank(round, mine_.empty() ? 0 : mine_.back().id, checked, checked + kMargin);
}

}  // namespace soak
