#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "am/far/small_accesses.h"
#include "am/link/link.h"
#include "am/observe/observers.h"
#include "am/types/function.h"
#include "am/types/link_stats.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

class Bundle;
class FarMemory;
class Port;

// Get, put and store for programs, which wait for room and run handlers meanwhile, over FarMemory:
// one-sided access to the segments of processes on other nodes. PlainRequests (plain_requests.h)
// is another way to do the same.
//
// Offsets are bytes from the start of that process's segment; the caller has checked them against
// its size. A process on this node is reached through Router::peer() instead.
//
// Thread rule: the bundle's. A handler may call count() only, as the others may wait: Error.
class RemoteMemory {
 public:
  // Called inside poll() for each get, put and start_store() that is complete, with its ticket; or
  // by the call that starts it, if it is complete at once.
  using Done = void (*)(std::uint32_t ticket);
  static constexpr std::size_t kCopied = 64;  // puts of that many bytes are copied before return

  // At most one for each bundle.
  RemoteMemory(Bundle& bundle, Done done);
  virtual ~RemoteMemory() = default;
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  // A get or put: link::RmaAccess::kRead or kWrite. Waits, polling, while no more operations can be
  // in flight, as do the stores below. The destination of a get must live until it is done, and so
  // must the source of a put of more than kCopied bytes, unchanged. Done means that the bytes are
  // here or, of a put, visible there to every process. Aligned objects of 1, 2, 4 or 8 bytes arrive
  // in one piece.
  virtual void start(const link::RmaAccess& access, std::uint32_t ticket, const Call& call);
  void get(Rank rank, std::uint64_t offset, std::span<std::byte> to, std::uint32_t ticket,
           const Call& call) {
    start(link::RmaAccess::read(rank, link::RemoteKey::in_segment(offset), to), ticket, call);
  }
  void put(Rank rank, std::uint64_t offset, std::span<const std::byte> from, std::uint32_t ticket,
           const Call& call) {
    start(link::RmaAccess::write(rank, link::RemoteKey::in_segment(offset), from), ticket, call);
  }

  // Whether processes can read memory outside the segments of others, as follows.
  bool can_expose() const noexcept;
  // Lets others read `memory`, wherever it is, by key(), until what is returned ends. Throws Error:
  // no such thing here; too much would be pinned.
  std::shared_ptr<const link::Registration> expose(std::span<const std::byte> memory);

  // A put to memory that `rank` exposes, or of its segment, without waiting; needs can_expose().
  // False: there is no room now. When `done` is called, perhaps before return and by any thread
  // that polls, `from` may be reused, and messages that are sent from then on arrive behind the
  // bytes.
  [[nodiscard]] bool try_put(Rank rank, const link::RemoteKey& at, std::span<const std::byte> from,
                             link::Completion& done);
  // Whether messages arrive behind the bytes of such a put already when they are sent after it has
  // begun.
  bool puts_before_messages(std::size_t bytes) const noexcept;

  // A get or put of at most kSmall bytes of a segment that joins others in flight: returns their
  // ticket, which is done when all of them are. std::nullopt: there are none; start one.
  static constexpr std::size_t kSmall = SmallAccesses::kMost;
  std::optional<std::uint32_t> try_join(const link::RmaAccess& access);

  // One way: `from` may be reused on return, and no completion is reported. At the target the bytes
  // are written, and then their number is added to the 64-bit word at offset `counter` of the
  // segment there, by a thread of that process. No order is kept between stores. `sent`
  // is incremented by the bytes that will be counted so: at once when they are sent, so
  // that it is right also where a handler throws while this waits for `from`.
  virtual void store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                     std::uint64_t counter, const Call& call, std::uint64_t& sent);
  // A store of at most kSmall bytes that joins those which were made just before. False: it cannot;
  // store() it.
  [[nodiscard]] bool try_append(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                                std::uint64_t counter);
  // Starts a store(), and does not wait for `from`. True: that lives unchanged until done. False:
  // it may be reused, and the ticket is not used.
  [[nodiscard]] bool start_store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                                 std::uint64_t counter, std::uint32_t ticket, const Call& call,
                                 std::uint64_t& sent);
  // While one lives with `yes`, requests to other nodes that this process makes are followed by
  // others to the same process: they share a frame with these, as far as that goes, and so do their
  // answers.
  class MoreToCome {
   public:
    MoreToCome(RemoteMemory& memory, bool yes) : memory_(memory), yes_(yes) {
      if (yes) memory.set_more_to_come(true);
    }
    ~MoreToCome() {
      if (yes_) memory_.set_more_to_come(false);
    }
    MoreToCome(const MoreToCome&) = delete;
    MoreToCome& operator=(const MoreToCome&) = delete;

   private:
    RemoteMemory& memory_;
    const bool yes_;
  };

  // Counts as a store that has come: `bytes` have been written here, for another node, and are
  // added to the word at offset `counter` of this process's segment. Handlers may call it.
  void count(std::uint64_t counter, std::uint64_t bytes);
  // Only in a job with far processes.
  const LearningStats& learning() const noexcept;

 protected:
  // Whether all is done by requests, and nothing by FarMemory.
  virtual bool by_requests() const noexcept { return false; }
  // Throws Error if the program may not reach the memory of `rank` by this, or not now.
  void check(Rank rank, Call call) const;
  // Throws Error: this process has no counter of stores at that offset.
  [[noreturn]] void refuse_counter(std::uint64_t counter) const;
  void done(std::uint32_t ticket) const { done_(ticket); }

 private:
  struct Operation : link::Completion {
    RemoteMemory* owner = nullptr;
    std::uint32_t ticket = 0;
    std::array<std::byte, kCopied> copy;  // what a small put writes
  };
  struct Target;  // of a call that may wait

  bool writes_store(Rank rank, std::size_t bytes);
  Operation& take(std::uint32_t ticket);
  static void finished(link::Completion& completion);
  template <class Try>
  void until(const Target& target, const Try& try_start);
  template <class Try>
  void start_until(const Target& target, Operation& operation, const Try& try_start);
  void wait_for_room(const Target& target, FunctionRef<bool()> is_started);
  [[noreturn]] void refuse(Rank rank, Call call) const;
  void set_more_to_come(bool yes) noexcept;

  // Constant after construction.
  Bundle& bundle_;
  FarMemory* const memory_;  // nullptr: no processes on other nodes
  Port* const port_;
  link::Home* const home_;  // of the bundle; nullptr as memory_ is
  const Done done_;
  // Owned by the bundle's thread.
  ObjectPool<Operation> operations_;
};

}  // namespace am
