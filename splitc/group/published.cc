// What a performer publishes for the members of its node.

#include <algorithm>
#include <cstring>

#include "am/route/router.h"
#include "am/types/types.h"
#include "splitc/group/groups.h"
#include "splitc/group/performer.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using Kind = MailHead::Kind;
using Bytes = NodeBoard::Item::Bytes;

// Fetches the line for this core to write, which goes on meanwhile. (Without an instruction set
// that is told to the compiler, the builtin fetches it to read. A processor that does not know the
// instruction does nothing.)
void fetch_to_write(const void* line) noexcept {
#ifdef __x86_64__
  asm volatile("prefetchw (%0)" : : "r"(line));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace

// Copies as memmove() does. glibc copies more than 2 KiB by `rep movsb`, which takes 17 times as
// long on AMD's Zen where `to` is up to 31 bytes behind `from` in their pages, as it is of two
// vectors of 64 KiB that malloc() gives one after the other: 10.7 us for 32 KiB; in parts 2.3 us,
// elsewhere 0.6.
void Performer::copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  constexpr std::size_t kPage = 4096, kPart = 1024, kFew = 2048;
  if (to == from || bytes == 0) return;
  const std::size_t behind =
      reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
  if (bytes <= kFew || behind % kPage >= 32 || behind % kPage == 0 || behind < bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  for (std::size_t at = 0; at < bytes; at += kPart) {
    std::memcpy(to + at, from + at, std::min(kPart, bytes - at));
  }
}

void Performer::publish(const Step& step) {
  NodeBoard& board = group_.board(group_.rank());
  NodeBoard::Item& item = board.item(made_.number, step.item);
  const am::schedule::Range& from = step.from;
  item.digest = made_.history;
  item.spoiler = spoiler_;
  if (from.bytes <= NodeBoard::kFew) {
    item.bytes = Bytes::kHere;
    if (from.bytes != 0) std::memcpy(item.few, at(from), from.bytes);
  } else if (group_.copied_at(step.item) != Group::kNoRoom) {
    item.bytes = Bytes::kCopied;
    const std::uint32_t copied_at = group_.copied_at(step.item);
    item.at.store(copied_at, std::memory_order_relaxed);
    std::memcpy(board.copied + copied_at, at(from), from.bytes);
  } else {
    publish_memory(step, item);
  }
  // pairs with: published(); it sees all of the above, and what this process has written before.
  item.number.store(NodeBoard::number(made_.number, step.item), std::memory_order_release);
  // Readers have the lines of later calls. (Broadcasts of 8 bytes in a row, of 2 processes: 180 ns,
  // so 80; with the line of the next call 110.)
  fetch_to_write(&board.item(made_.number + 2, step.item));
  if (stream_) go_on_streaming();
  const bool last = is_last(step.item);
  // All others wait for the last one.
  if (last || schedule_.items()[step.item].publishers == 0) wake(step.peer, last);
}

// Whether all that the readers of an item need is there. Where processes share cores, those who
// sleep are woken only then, as each waking costs a turn of the scheduler.
bool Performer::is_last(std::uint8_t item) noexcept {
  const std::uint32_t publishers = schedule_.items()[item].publishers;
  if (publishers <= 1 || !group_.is_crowded()) return publishers != 0;
  std::atomic<std::uint64_t>& arrived = group_.first_board().of(made_.number).arrived[item];
  const std::uint64_t none = NodeBoard::arrivals(made_.number, item, 0);
  std::uint64_t before = arrived.load(std::memory_order_relaxed);
  std::uint64_t count;
  do {
    count = std::max(before, none) + 1;
    // pairs with: itself, at the others; the last one sees that all have published.
  } while (!arrived.compare_exchange_weak(before, count, std::memory_order_acq_rel));
  return count == none + publishers;
}

// Those of `who`, a rank or all, who sleep until this member, or the `last` one, has done this.
void Performer::wake(std::uint32_t who, bool last) noexcept {
  am::Router& router = world().router();
  const bool crowded = group_.is_crowded();
  router.fence().light();
  const auto wake_one = [&](std::uint32_t rank) {
    shmem::Doorbell& bell = router.peer(group_.proc(rank)).header->bell;
    if (!bell.may_be_asleep()) [[likely]]
      return;
    if (crowded) {
      const std::uint32_t waits = group_.board(rank).waits_for.load(std::memory_order_relaxed);
      if (waits != group_.rank() && !(last && waits == NodeBoard::kTheLast)) return;
    }
    bell.notify_after_fence();
  };
  if (who != am::schedule::kAllMembers) {
    if (who != group_.rank()) wake_one(who);
    return;
  }
  for (const std::uint32_t rank : group_.near()) wake_one(rank);
}

// Always false. Who wakes this member looks at this before, so if it is another rank than before,
// and this process is about to sleep, it has to look once more.
bool Performer::block_on(std::uint32_t rank) noexcept {
  if (!group_.is_crowded()) return false;
  std::atomic<std::uint32_t>& waits = group_.board(group_.rank()).waits_for;
  if (waits.load(std::memory_order_relaxed) == rank) return false;
  waits.store(rank, std::memory_order_relaxed);
  world().router().self().header->bell.notify_after_fence();
  return false;
}

// Neighbours find it in this process's segment, where it is or to which it is copied if that helps
// and there is room; or the kernel does.
//
// A copy of little is faster even if it is read once, as nobody waits for its readers (all_to_all
// of 4 KiB of 4 processes on 2 cores: 11 us, and 63 by the kernel; all_gather of 1 MiB of 2: 68,
// and 100). Of one item a core copies parts while another reads those before (a broadcast of 1 MiB
// to one reader: 31 us, and 78).
void Performer::publish_memory(const Step& step, NodeBoard::Item& item) {
  constexpr std::uint64_t kLittle = 1024 * 1024;
  am::Router& router = world().router();
  const am::schedule::Range& from = step.from;
  const std::byte* bytes = at(from);
  item.bytes = Bytes::kMemory;
  const bool is_copied = !schedule_.items()[step.item].is_read_once ||
                         !Groups::of_world().kernel_reads() || from.bytes <= kLittle;
  if (is_copied && !is_in_segment(router.segment_offset(bytes), from.bytes)) {
    const std::uint64_t room = Stream::most_room(world().staging().size());
    const bool in_parts = from.bytes > 2 * Stream::kPart && from.bytes <= Stream::kLimit &&
                          room != 0 && !stream_ && schedule_.items()[step.item].publishers == 1 &&
                          !group_.is_crowded();
    const std::span<std::byte> copy = Groups::of_world().staging().reserve(
        in_parts ? std::min(room, from.bytes) : from.bytes,
        {group_.number(), made_.number, NodeBoard::have_read(made_.number, step.item)},
        group_.near_boards(step.peer));
    if (!copy.empty()) {
      item.bytes = in_parts ? Bytes::kStreamed : Bytes::kStaged;
      if (in_parts) {
        stream_ = {{step.item, step.peer, from}, copy.data(), room};
        item.at.store(0, std::memory_order_relaxed);
      } else {
        copy_bytes(copy.data(), bytes, from.bytes);
      }
      bytes = copy.data();
    }
  }
  if (item.bytes == Bytes::kMemory) large_items_[large_++] = {step.item, step.peer, from};
  // Others read the copy. This member itself may come to that when it is another's.
  const Offer offer{reinterpret_cast<std::uintptr_t>(at(from)), router.segment_offset(bytes),
                    Groups::of_world().self()};
  std::memcpy(item.few, &offer, sizeof offer);
}

bool Performer::has_read(std::uint32_t rank, std::uint8_t item,
                         std::uint64_t parts_left) const noexcept {
  // pairs with: say_read(); what it has read may be changed after it.
  return group_.board(rank).of(made_.number).read.load(std::memory_order_acquire) >=
         NodeBoard::have_read(made_.number, item, parts_left);
}

// A reader of the stream that has not read yet what lies where its next part is to be, or kNobody.
std::uint32_t Performer::late_reader() const noexcept {
  const std::uint64_t parts = stream_->room_bytes / Stream::kPart;
  if (stream_->sent < parts) return am::kNobody;
  const std::uint64_t left = Stream::parts_of(stream_->from.bytes) - (stream_->sent - parts + 1);
  const auto is_late = [&](std::uint32_t reader) {
    return reader != group_.rank() && !has_read(reader, stream_->item, left);
  };
  if (stream_->reader != am::schedule::kAllMembers) {
    return is_late(stream_->reader) ? stream_->reader : am::kNobody;
  }
  const auto late = std::ranges::find_if(group_.near(), is_late);
  return late != group_.near().end() ? *late : am::kNobody;
}

// As far as there is room.
void Performer::go_on_streaming() noexcept {
  std::atomic<std::uint32_t>& sent =
      group_.board(group_.rank()).item(made_.number, stream_->item).at;
  while (late_reader() == am::kNobody) {
    const std::uint64_t done = stream_->sent * Stream::kPart;
    copy_bytes(stream_->room + done % stream_->room_bytes, at(stream_->from) + done,
               std::min(Stream::kPart, stream_->from.bytes - done));
    sent.store(++stream_->sent, std::memory_order_release);  // pairs with: try_read_stream()
    wake(stream_->reader, false);
    if (stream_->sent == Stream::parts_of(stream_->from.bytes)) return stream_.reset();
  }
}

// Whether those who are to read what is large have done so.
bool Performer::is_read_by_all() noexcept {
  if (stream_) return false;
  for (; read_ != large_; ++read_, next_reader_ = 0) {
    const LargeItem& item = large_items_[read_];
    if (item.reader != am::schedule::kAllMembers) {
      if (item.reader != group_.rank() && !has_read(item.reader, item.item)) {
        return block_on(item.reader);
      }
      continue;
    }
    for (; next_reader_ != group_.near().size(); ++next_reader_) {
      const std::uint32_t reader = group_.near()[next_reader_];
      if (!has_read(reader, item.item)) return block_on(reader);
    }
  }
  return true;
}

// Those who could not read have asked.
void Performer::answer() {
  Mail& mail = Groups::of_world().mail();
  while (!answers_.empty()) {
    Answer& one = answers_.back();
    const std::size_t bytes = std::min<std::size_t>(Mail::kMost, one.from.bytes - one.at);
    if (!mail.try_send(group_.proc(one.peer), head(Kind::kPiece, one.number),
                       {at(one.from) + one.at, bytes}, one.at)) {
      return;
    }
    one.at += bytes;
    if (one.at == one.from.bytes) answers_.pop_back();
  }
}

void Performer::take_of_item(const MailHead& head, std::span<const std::byte> bytes,
                             std::uint64_t at) {
  const std::uint32_t item = head.number & ~kItem;
  if (head.kind == Kind::kPiece && asked_for_) {
    std::vector<std::byte>& all = asked_for_->bytes;
    if (at > all.size() || bytes.size() > all.size() - at) return;
    std::ranges::copy(bytes, all.begin() + static_cast<std::ptrdiff_t>(at));
    asked_for_->got += bytes.size();
  } else if (head.kind == Kind::kWanted) {
    PartOfItem part;
    if (bytes.size() != sizeof part) return;
    std::memcpy(&part, bytes.data(), sizeof part);
    for (std::uint32_t i = 0; i < large_; ++i) {
      const am::schedule::Range& from = large_items_[i].from;
      if (large_items_[i].item != item || part.bytes == 0 || part.offset > from.bytes ||
          part.bytes > from.bytes - part.offset) {
        continue;
      }
      answers_.push_back({head.source, head.number, from.part(part.offset, part.bytes)});
    }
  }
}

}  // namespace splitc::detail
