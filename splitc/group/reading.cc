// What a performer reads of what members of its node have published.

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/types/types.h"
#include "splitc/group/groups.h"
#include "splitc/group/performer.h"
#include "splitc/world/place.h"

namespace splitc::detail {
namespace {

using Kind = MailHead::Kind;
using Bytes = NodeBoard::Item::Bytes;
using am::schedule::Schedule;

}  // namespace

// In order; true: all of this round are read.
bool Performer::go_on_reading() {
  const auto steps = schedule_.round(round_);
  for (; next_read_ < steps.size(); ++next_read_, read_bytes_ = 0) {
    const Step& step = steps[next_read_];
    if (!step.is_read()) continue;
    if (is_counted(step.item)) {
      if (!have_all_come(step.item)) return block_on(NodeBoard::kTheLast);
      next_read_ = steps.size();
      return true;
    }
    if (!try_read(step)) {
      const bool needs_all = schedule_.items()[step.item].publishers != 0;
      return block_on(needs_all ? NodeBoard::kTheLast : step.peer);
    }
    if (reads_memory_ && (next_read_ + 1 == steps.size() || !steps[next_read_ + 1].is_read())) {
      say_read(step.item);
    }
  }
  return true;
}

// Whether it is a sign of all, where these are counted.
bool Performer::is_counted(std::uint8_t item) const noexcept {
  const Schedule::Item& one = schedule_.items()[item];
  return one.most == 0 && one.publishers > 1 && group_.is_crowded();
}

// Of such signs. Whoever has made another call finds that at the first member, if not here.
bool Performer::have_all_come(std::uint8_t item) {
  const std::uint64_t all =
      NodeBoard::arrivals(made_.number, item, schedule_.items()[item].publishers);
  // pairs with: is_last()
  if (group_.first_board().of(made_.number).arrived[item].load(std::memory_order_acquire) != all) {
    return false;
  }
  const NodeBoard::Item* const sign = published(group_.first_near(), item);
  if (sign == nullptr || is_same(sign->digest, group_.first_near())) return true;
  suspect(group_.first_near(), made_.number);
  return false;
}

bool Performer::has_news() noexcept {
  if (stream_ && late_reader() == am::kNobody) return true;
  if (round_ == schedule_.rounds()) return is_read_by_all();
  const auto steps = schedule_.round(round_);
  if (!has_begun_ || next_read_ == steps.size()) return false;
  const Step& step = steps[next_read_];
  if (!step.is_read()) return false;
  return is_counted(step.item) ? have_all_come(step.item)
                               : published(step.peer, step.item) != nullptr;
}

// nullptr: not so far.
const NodeBoard::Item* Performer::published(std::uint32_t rank,
                                            std::uint8_t number) const noexcept {
  const NodeBoard::Item& item = group_.board(rank).item(made_.number, number);
  // pairs with: publish()
  const bool is_there =
      item.number.load(std::memory_order_acquire) == NodeBoard::number(made_.number, number);
  return is_there ? &item : nullptr;
}

bool Performer::try_read(const Step& step) {
  const NodeBoard::Item* const found = published(step.peer, step.item);
  if (found == nullptr) return false;
  const NodeBoard::Item& item = *found;
  if (!is_same(item.digest, step.peer)) [[unlikely]] {
    suspect(step.peer, made_.number);
    return false;
  }
  if (spoiler_ == 0) spoiler_ = item.spoiler;
  switch (item.bytes) {
    case Bytes::kHere: use(step, item.few + step.from.offset, step.to.bytes); return true;
    case Bytes::kCopied:
      use(step,
          group_.board(step.peer).copied + item.at.load(std::memory_order_relaxed) +
              step.from.offset,
          step.to.bytes);
      return true;
    default: {
      Offer offer;
      std::memcpy(&offer, item.few, sizeof offer);
      const bool is_stream = item.bytes == Bytes::kStreamed && step.peer != group_.rank();
      if (is_stream ? !try_read_stream(step, item, offer) : !try_read_memory(step, offer)) {
        return false;
      }
      // pairs with: leave(); else what has been read may be of another call.
      std::atomic_thread_fence(std::memory_order_acquire);
      if (published(step.peer, step.item) == nullptr) [[unlikely]]
        return false;
      reads_memory_ = true;
      is_waited_for_ = is_waited_for_ || item.bytes == Bytes::kMemory;
      return true;
    }
  }
}

// The next bytes of what is read of an item stand at `from`.
void Performer::use(const Step& step, const std::byte* from, std::uint64_t bytes) noexcept {
  std::byte* const to = at(step.to) + read_bytes_;
  read_bytes_ += bytes;
  if (bytes == 0) return;
  step.kind == Step::Kind::kRead ? copy_bytes(to, from, bytes) : combine(to, from, bytes, false);
}

bool Performer::try_read_memory(const Step& step, const Offer& offer) {
  const std::uint32_t proc = group_.proc(step.peer);
  const std::uint64_t begin = step.from.offset, bytes = step.to.bytes;
  if (bytes == 0) return true;
  if (step.peer == group_.rank()) {
    use(step, reinterpret_cast<const std::byte*>(offer.address) + begin, bytes);
  } else if (is_in_segment(offer.segment_offset, begin + bytes)) {
    use(step, mapped(proc, offer.segment_offset) + begin, bytes);
  } else if (asked_for_ || !Groups::of_world().can_read(proc, offer.process)) {
    return try_ask_for_part(step);
  } else {
    try {
      read_by_kernel(step, offer);
    } catch (const am::Error&) {
      return try_ask_for_part(step);  // memory that the kernel does not copy; or it has died
    }
    return read_bytes_ == bytes;
  }
  return true;
}

// What is there of it. All of it is read, from its beginning on (am::schedule::Schedule::Item).
bool Performer::try_read_stream(const Step& step, const NodeBoard::Item& item,
                                const Offer& offer) noexcept {
  const std::byte* const room = mapped(group_.proc(step.peer), offer.segment_offset);
  const std::uint64_t all = step.to.bytes;
  const std::uint64_t room_bytes = Stream::most_room(world().staging().size());
  // pairs with: go_on_streaming()
  const std::uint64_t there =
      std::min(all, item.at.load(std::memory_order_acquire) * Stream::kPart);
  while (read_bytes_ < there) {
    use(step, room + read_bytes_ % room_bytes, std::min(Stream::kPart, all - read_bytes_));
    if (read_bytes_ == all) break;
    say_read(step.item, Stream::parts_of(all - read_bytes_));
    wake(step.peer, false);
  }
  return read_bytes_ == all;
}

// A part at a time, between which this process polls. What is combined is read to memory that stays
// in the cache.
void Performer::read_by_kernel(const Step& step, const Offer& offer) {
  constexpr std::uint64_t kMoved = std::uint64_t{16} << 20, kCombined = 64 * 1024;
  static_assert(kMostOfValue <= kCombined);  // an element
  const std::uint64_t from = offer.address + step.from.offset, all = step.to.bytes;
  if (step.kind == Step::Kind::kRead) {
    const std::uint64_t size = std::min(kMoved, all - read_bytes_);
    offer.process.read(at(step.to) + read_bytes_, from + read_bytes_, size);
    read_bytes_ += size;
    return;
  }
  const std::size_t element = plan_.combine->element;
  std::vector<std::byte> part(std::min(kCombined / element * element, all - read_bytes_));
  for (std::uint64_t done = 0; done < kMoved && read_bytes_ != all; done += part.size()) {
    part.resize(std::min<std::uint64_t>(part.size(), all - read_bytes_));
    offer.process.read(part.data(), from + read_bytes_, part.size());
    use(step, part.data(), part.size());
  }
}

// Of memory that this process cannot read.
bool Performer::try_ask_for_part(const Step& step) {
  const std::uint64_t rest = step.to.bytes - read_bytes_;
  if (!asked_for_) asked_for_ = AskedFor{.bytes = std::vector<std::byte>(rest)};
  const PartOfItem part{step.from.offset + read_bytes_, rest};
  if (!asked_for_->asked) {
    asked_for_->asked = Groups::of_world().mail().try_send(group_.proc(step.peer),
                                                           head(Kind::kWanted, kItem | step.item),
                                                           std::as_bytes(std::span(&part, 1)));
  }
  if (asked_for_->got < rest) return false;
  use(step, asked_for_->bytes.data(), rest);
  asked_for_.reset();
  return true;
}

// What is large of an item, but for parts of a stream, and of those before it.
void Performer::say_read(std::uint8_t item, std::uint64_t parts_left) noexcept {
  reads_memory_ = false;
  // pairs with: has_read(), Staging::is_read()
  group_.board(group_.rank())
      .of(made_.number)
      .read.store(NodeBoard::have_read(made_.number, item, parts_left), std::memory_order_release);
  if (std::exchange(is_waited_for_, false)) wake(am::schedule::kAllMembers, false);
}

}  // namespace splitc::detail
