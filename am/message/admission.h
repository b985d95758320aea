#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "am/message/handler.h"
#include "am/types/types.h"
#include "shmem/flag.h"
#include "shmem/mailbox_layout.h"

// Whether a long message may be written into another endpoint's segment. Its sender decides, before
// it writes a byte, by what the receiving endpoint has published; and what was admitted is never
// refused later. So a message that is refused has changed nothing. (A segment that others do not
// map is written by its own process alone, which decides once more when it handles the message.)

namespace am {

// The memory that one endpoint opens to Long messages: part of its process's segment, where the
// senders write, or memory elsewhere, to which the process itself copies what they have sent.
struct Extent {
  std::uint64_t offset = 0;  // from the start of the process's segment; or kElsewhere
  std::uint64_t bytes = 0;

  // In place of an offset, and the highest bit of what is an offset plus kElsewhere.
  static constexpr std::uint64_t kElsewhere = std::uint64_t{1} << 63;
  // The bytes of an extent that covers all memory, every address that a process can have. With this
  // bound the highest bit of an offset is free to distinguish the two kinds.
  static constexpr std::uint64_t kMostElsewhere = kElsewhere - 1;
  static constexpr bool is_elsewhere(std::uint64_t at) noexcept { return (at & kElsewhere) != 0; }

  // Whether it is all memory, where nothing may go to any address, also to one that no process has.
  constexpr bool is_all_memory() const noexcept { return bytes == kMostElsewhere; }
  // Whether [at, at + count) lies inside; at is relative to the extent.
  bool holds(std::uint64_t at, std::uint64_t count) const noexcept {
    return at <= bytes && count <= bytes - at;
  }
};

inline constexpr bool tag_admits(Tag own, Tag message) noexcept {
  return own == kTagAll || (own == message && own != kTagNone);
}

// A long message that is to be admitted.
struct LongRequest {
  bool operator==(const LongRequest&) const = default;

  HandlerIndex handler;
  Shape shape;  // of the handler it takes
  std::uint64_t offset;
  std::uint64_t bytes;
};

// kDelivered: it may be written, at `at` of the process's segment; or sent to be copied, if that is
// elsewhere.
struct Verdict {
  Status status;
  std::uint64_t at;
};

// Why a handler does not take a message that is for one of another shape. `shape` is its own.
inline constexpr Status mismatch(Shape shape) noexcept {
  return shape == kNoShape ? Status::kBadHandler : Status::kBadArguments;
}

// Whether [offset, offset + bytes) lies inside `extent`: kDelivered, or why not. Every check of a
// place in a segment comes here: of senders by judge(), of receivers that copy, and of gets.
inline Status check_place(const Extent& extent, std::uint64_t offset,
                          std::uint64_t bytes) noexcept {
  const bool empty = extent.bytes == 0 && bytes != 0;
  if (empty || offset > extent.bytes) return Status::kBadSegmentOffset;
  return extent.holds(offset, bytes) ? Status::kDelivered : Status::kBadLength;
}

// The same check for a segment of this process, anywhere in its memory, for code that writes there
// itself.
inline Status check_place(std::span<const std::byte> segment, std::uint64_t offset,
                          std::uint64_t bytes) noexcept {
  const Extent extent{0, std::min<std::uint64_t>(segment.size(), Extent::kMostElsewhere)};
  if (bytes == 0 && extent.is_all_memory()) return Status::kDelivered;
  return check_place(extent, offset, bytes);
}

// These bytes of `segment`, in which check_place() has found them. By numbers: a segment may begin
// at the null address, from which no pointer may be stepped.
inline std::span<std::byte> bytes_at(std::span<std::byte> segment, std::uint64_t offset,
                                     std::uint64_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(segment.data());
  return {reinterpret_cast<std::byte*>(begin + offset), bytes};
}

// What decides, once the tag does not forbid it. `shape` is that of the handler there.
inline Verdict judge(const LongRequest& message, Shape shape, const Extent& extent) noexcept {
  if (!takes(shape, message.shape)) return {mismatch(shape), 0};
  const Status status = check_place(extent, message.offset, message.bytes);
  if (status == Status::kDelivered) return {status, extent.offset + message.offset};
  if (message.bytes == 0 && extent.is_all_memory()) {  // of an address in the upper half
    return {Status::kDelivered, Extent::kElsewhere};
  }
  return {status, 0};
}

// The state of an endpoint as others read it through shared memory: endpoints that send it requests
// read it in its mailbox, endpoints that it sends requests to in their own. One writer, any
// readers. All zero admits nothing. Plain words, so that it can be copied into any shared bytes.
class PublishedAdmission {
 public:
  // By the owner.
  void set_tag(Tag tag) noexcept {
    lock_.write([&] { store(tag_, tag); });
  }
  void set_extent(const Extent& extent) noexcept {
    lock_.write([&] {
      store(offset_, extent.offset);
      store(bytes_, extent.bytes);
    });
  }
  void set_shape(HandlerIndex handler, Shape shape) noexcept {
    lock_.write([&] { store(shapes_[handler], encoded(shape)); });
  }
  // Replies to the requests in these slots are refused, as the tag is another now.
  void set_retagged(const std::uint64_t (&slots)[shmem::kLanes]) noexcept {
    lock_.write([&] {
      for (std::uint32_t lane = 0; lane < shmem::kLanes; ++lane)
        store(retagged_[lane], slots[lane]);
    });
  }
  // The endpoint has ended.
  void set_gone() noexcept {
    lock_.write([&] { store(gone_, std::uint64_t{1}); });
  }

  // A request that is sent with `tag`.
  Verdict judge_request(const LongRequest& message, Tag tag) const noexcept {
    const Seen seen = read(message.handler, 0);
    if (!tag_admits(seen.tag, tag)) return {Status::kBadTag, 0};
    return judge(message, seen.shape, seen.extent);
  }
  // A reply to the request in that slot.
  Verdict judge_reply(const LongRequest& message, std::uint32_t lane,
                      std::uint32_t slot) const noexcept {
    const Seen seen = read(message.handler, lane);
    if (seen.gone) return {Status::kBadEndpoint, 0};
    if ((seen.retagged >> slot & 1) != 0) return {Status::kBadTag, 0};
    return judge(message, seen.shape, seen.extent);
  }

 private:
  struct Seen {
    Tag tag;
    Extent extent;
    Shape shape;
    std::uint64_t retagged;
    bool gone;
  };

  // So that zeroed memory says kNoShape.
  static constexpr Shape encoded(Shape shape) noexcept { return static_cast<Shape>(~shape); }

  template <class T>
  static void store(T& to, T value) noexcept {
    std::atomic_ref(to).store(value, std::memory_order_relaxed);
  }
  template <class T>
  static T load(const T& from) noexcept {
    // atomic_ref<const T> is of a later C++.
    return std::atomic_ref(const_cast<T&>(from)).load(std::memory_order_relaxed);
  }

  // Tries until what it has seen is of one moment. The first attempt usually does; so it is inline,
  // and the others are not.
  Seen read(HandlerIndex handler, std::uint32_t lane) const noexcept {
    Seen seen;
    if (!try_read(handler, lane, seen)) [[unlikely]]
      read_again(handler, lane, seen);
    return seen;
  }
  bool try_read(HandlerIndex handler, std::uint32_t lane, Seen& seen) const noexcept {
    return lock_.try_read([&] {
      seen = {load(tag_),
              {load(offset_), load(bytes_)},
              encoded(load(shapes_[handler])),
              load(retagged_[lane]),
              load(gone_) != 0};
    });
  }
  [[gnu::noinline]] void read_again(HandlerIndex handler, std::uint32_t lane,
                                    Seen& seen) const noexcept {
    while (!try_read(handler, lane, seen)) sched_yield();
  }

  shmem::SequenceLock lock_;  // of all below
  Tag tag_ = kTagNone;
  std::uint64_t offset_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t retagged_[shmem::kLanes]{};  // slots of requests, a bit each
  std::uint64_t gone_ = 0;
  // Behind what is read with each of them: all of that fits a cache line.
  Shape shapes_[kHandlers]{};
};

}  // namespace am
