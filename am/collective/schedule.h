#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// What one member of a team does in a collective call: a list of sends, receives and local steps,
// written before the call begins, so that starting it, progressing it in a poll and testing it need
// no knowledge of the algorithm. (LibNBC's schedules: Hoefler, Lumsdaine, Rehm, "Implementation and
// performance analysis of non-blocking collective operations for MPI", SC 2007.)
//
// Pure data, of one thread at a time. Making one costs an allocation or two, and no communication.

namespace am::schedule {

// Where bytes of a step lie, at the member itself.
enum class Buffer : std::uint8_t {
  kInput,    // what the member gives; nothing is written to it
  kOutput,   // what it gets; may be its input where both have one size
  kScratch,  // for the duration of the call: Schedule::scratch_bytes()
};

struct Range {
  Buffer buffer = Buffer::kInput;
  std::uint64_t offset = 0;  // bytes
  std::uint64_t bytes = 0;

  Range part(std::uint64_t from, std::uint64_t size) const noexcept {
    return {buffer, offset + from, size};
  }
  bool operator==(const Range&) const = default;
};

inline Range input(std::uint64_t offset, std::uint64_t bytes) noexcept {
  return {Buffer::kInput, offset, bytes};
}
inline Range output(std::uint64_t offset, std::uint64_t bytes) noexcept {
  return {Buffer::kOutput, offset, bytes};
}

inline constexpr std::uint32_t kAllMembers = ~std::uint32_t{0};

struct Step {
  enum class Kind : std::uint8_t {
    kSend,           // `from` to `peer`
    kReceive,        // what `peer` sends to `to`
    kPublish,        // `from` for `peer` of the same node, or for all of them, to be read
    kRead,           // what `peer` of the same node has published to `to`
    kCombineRead,    // to = to op what it has published
    kCopy,           // `from` to `to`
    kCombineBefore,  // to = from op to
    kCombineBehind,  // to = to op from
  };
  bool is_message() const noexcept { return kind <= Kind::kReceive; }
  bool is_read() const noexcept { return kind == Kind::kRead || kind == Kind::kCombineRead; }
  bool is_local() const noexcept { return kind >= Kind::kCopy; }

  Kind kind;
  std::uint8_t item;   // of what is published or read: Schedule::new_item()
  std::uint32_t peer;  // a member, or of a publish kAllMembers
  Range from;          // of a read: only the offset in what has been published, and the bytes
  Range to;
};

// The steps come in rounds. The sends, receives and reads of a round are all begun at once; what
// they send stays unchanged, and what they receive is not read, until all have ended. Then its
// local steps are done, in their order, and then the next round begins. What one member sends
// another arrives in the order of its sends.
//
// An item is published at the beginning of its round, and may be read until the call ends. One of
// at most kCopied bytes is copied then; of others the member changes only parts that no other has
// yet to read. Every member for which it is published reads it, perhaps zero bytes. The reads of a
// round are of one item, and in order.
class Schedule {
 public:
  static constexpr std::uint64_t kCopied = 8192;

  std::size_t rounds() const noexcept { return ends_.size(); }
  std::span<const Step> round(std::size_t number) const noexcept {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::span(steps_).subspan(begin, ends_[number] - begin);
  }
  std::uint64_t scratch_bytes() const noexcept { return scratch_; }

  struct Item {
    std::uint64_t most;  // bytes that any member publishes of it
    // Members, all of which a reader needs; 0: it may need some of them. Of a single one other
    // members read all that it publishes, and do not combine it.
    std::uint32_t publishers;
    // Each byte is moved, by one reader, and the call is a barrier: its publisher waits anyway, so
    // that a large copy from which it could be read would be of no use.
    bool is_read_once = false;

    bool operator==(const Item&) const = default;
  };
  std::span<const Item> items() const noexcept { return items_; }

  // For algorithms. No bytes: there is no such step, at either end.
  void send(std::uint32_t peer, const Range& from) { add(Step::Kind::kSend, peer, from, {}); }
  void receive(std::uint32_t peer, const Range& to) { add(Step::Kind::kReceive, peer, {}, to); }
  void copy(const Range& from, const Range& to) { add(Step::Kind::kCopy, 0, from, to); }
  void combine_before(const Range& from, const Range& to) {
    add(Step::Kind::kCombineBefore, 0, from, to);
  }
  void combine_behind(const Range& from, const Range& to) {
    add(Step::Kind::kCombineBehind, 0, from, to);
  }
  // All members of a node make the same items, in the same order.
  std::uint8_t new_item(std::uint64_t most, std::uint32_t publishers, bool is_read_once = false) {
    items_.push_back({most, publishers, is_read_once});
    return static_cast<std::uint8_t>(items_.size() - 1);
  }
  // No bytes: only a sign.
  void publish(std::uint8_t item, std::uint32_t peer, const Range& from) {
    steps_.push_back({Step::Kind::kPublish, item, peer, from, {}});
  }
  // Reads what is at `offset` of the item of `peer`, which may be this member itself.
  void read(std::uint8_t item, std::uint32_t peer, std::uint64_t offset, const Range& to) {
    steps_.push_back({Step::Kind::kRead, item, peer, input(offset, to.bytes), to});
  }
  void combine_read(std::uint8_t item, std::uint32_t peer, std::uint64_t offset, const Range& to) {
    steps_.push_back({Step::Kind::kCombineRead, item, peer, input(offset, to.bytes), to});
  }
  // A message without bytes.
  void signal(std::uint32_t peer) { steps_.push_back({Step::Kind::kSend, 0, peer, {}, {}}); }
  void await(std::uint32_t peer) { steps_.push_back({Step::Kind::kReceive, 0, peer, {}, {}}); }
  // Ends the round, unless it is empty.
  void end_round() {
    if (steps_.size() != (ends_.empty() ? 0 : ends_.back())) ends_.push_back(steps_.size());
  }
  // Memory for the duration of the call.
  Range scratch(std::uint64_t bytes) noexcept {
    const Range taken{Buffer::kScratch, scratch_, bytes};
    scratch_ += (bytes + 15) / 16 * 16;
    return taken;
  }
  // How a schedule of some members becomes part of one of all: their numbers, and where its buffers
  // lie.
  struct Part {
    std::span<const std::uint32_t> members;  // empty: all
    Range input;
    Range output;
  };
  // All rounds of `other`, behind those of this one, which have ended.
  void append(const Schedule& other, const Part& part);

 private:
  void add(Step::Kind kind, std::uint32_t peer, const Range& from, const Range& to) {
    if ((kind == Step::Kind::kReceive ? to : from).bytes == 0) return;
    steps_.push_back({kind, 0, peer, from, to});
  }

  std::vector<Step> steps_;
  std::vector<std::size_t> ends_;  // of the rounds
  std::vector<Item> items_;
  std::uint64_t scratch_ = 0;
};

inline void Schedule::append(const Schedule& other, const Part& part) {
  const auto moved = [&](const Range& range) {
    switch (range.buffer) {
      case Buffer::kInput: return part.input.part(range.offset, range.bytes);
      case Buffer::kOutput: return part.output.part(range.offset, range.bytes);
      default: return Range{Buffer::kScratch, scratch_ + range.offset, range.bytes};
    }
  };
  const std::size_t before = steps_.size();
  const auto items = static_cast<std::uint8_t>(items_.size());
  for (const Step& step : other.steps_) {
    const bool is_all = part.members.empty() || step.peer == kAllMembers;
    steps_.push_back({step.kind, static_cast<std::uint8_t>(step.item + items),
                      is_all ? step.peer : part.members[step.peer],
                      step.is_read() ? step.from : moved(step.from), moved(step.to)});
  }
  for (const std::size_t end : other.ends_) ends_.push_back(before + end);
  items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  scratch_ += other.scratch_;
}

}  // namespace am::schedule
