#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "am/core/bundle.h"
#include "am/core/poller.h"
#include "am/far/learned_stores.h"
#include "am/far/small_accesses.h"
#include "am/link/link.h"
#include "am/types/object_pool.h"
#include "am/types/types.h"

namespace am {

// A call of the program that may wait, for the report on a job that stands still; as in Reason.
struct CallSite {
  const char* call;
  SourceLocation where = {};
  const void* caller = nullptr;
};

// One-sided access to the segments of processes on other nodes. PlainRequests
// (plain_requests.h) is another way to do the same.
//
// Offsets are bytes from the start of that process's segment; the caller has checked them against
// its size. A process on this node is reached through Router::peer() instead.
//
// Thread rule: the bundle's. A handler may call count() only, as the others may wait: Error.
class RemoteMemory {
 public:
  // Called inside poll() for each get, put and start_store() that is complete, with its ticket.
  using Done = void (*)(std::uint32_t ticket);
  static constexpr std::size_t kCopied = 64;  // puts of that many bytes are copied before return

  // At most one per job, in one bundle. `learned` is Job::learned_stores().
  RemoteMemory(Bundle& bundle, LearnedStores* learned, Done done);
  virtual ~RemoteMemory();
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;

  // Each of these waits, polling, while no more operations can be under way.

  // `to` must live until done. Aligned objects of 1, 2, 4 or 8 bytes arrive in one piece.
  virtual void get(Rank rank, std::uint64_t offset, std::span<std::byte> to, std::uint32_t ticket,
                   const CallSite& site);

  // Whether processes can read memory outside the segments of others, as follows.
  virtual bool can_expose() const noexcept;
  // Lets others read `memory`, wherever it is, by key(), until what is returned ends. Throws Error:
  // no such thing here; too much would be pinned.
  std::shared_ptr<const link::Registration> expose(std::span<const std::byte> memory);
  // From memory that `rank` exposes, at `at` or further bytes.
  void get(Rank rank, const link::RemoteKey& at, std::span<std::byte> to, std::uint32_t ticket,
           const CallSite& site);

  // A get or put of at most kSmall bytes that joins others which are under way: returns their
  // ticket, which is done when all of them are. std::nullopt: there are none; start one.
  static constexpr std::size_t kSmall = SmallAccesses::kMost;
  std::optional<std::uint32_t> try_join_get(Rank rank, std::uint64_t offset,
                                            std::span<std::byte> to);
  std::optional<std::uint32_t> try_join_put(Rank rank, std::uint64_t offset,
                                            std::span<const std::byte> from);

  // More than kCopied bytes must live unchanged until done. Done means visible at the target, to
  // everybody.
  virtual void put(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                   std::uint32_t ticket, const CallSite& site);

  // One way: `from` may be reused on return, and no completion is reported. At the target the bytes
  // are written, and then their number is added to the 64-bit word at offset `counter` of the
  // segment there, by a thread of that process. No order is kept between stores. `sent`
  // is incremented by the bytes that will be counted so: at once when they are sent, so
  // that it is right also where a handler throws while this waits for `from`.
  virtual void store(Rank rank, std::uint64_t offset, std::span<const std::byte> from,
                     std::uint64_t counter, const CallSite& site, std::uint64_t& sent);
  // The same, but does not wait for `from`. True: that lives unchanged until done. False: it may be
  // reused, and the ticket is not used. A store so started is not given a channel if it repeats.
  [[nodiscard]] virtual bool start_store(Rank rank, std::uint64_t offset,
                                         std::span<const std::byte> from, std::uint64_t counter,
                                         std::uint32_t ticket, const CallSite& site,
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

  // As when a store has come: `bytes` have been written here, for another node, and are added to
  // the word at offset `counter` of this process's segment. Handlers may call it.
  void count(std::uint64_t counter, std::uint64_t bytes);
  // Of a job with far processes.
  const LearningStats& learning() const noexcept { return learned_->stats(); }

 protected:
  // Throws Error if the program may not reach the memory of `rank` by this, or not now.
  FarMemory& far(Rank rank, const char* call) const;
  void done(std::uint32_t ticket) const { done_(ticket); }

 private:
  // Sets a flag that is waited for.
  struct Released : link::Completion {
    bool yes = false;
  };
  struct Operation : link::Completion {
    RemoteMemory* owner = nullptr;
    std::uint32_t ticket = 0;
    std::array<std::byte, kCopied> copy;  // what a small put writes
  };

  // The stores whose sources are still in use. Part of every poll while there are some.
  class StartedStores final : public Poller {
   public:
    StartedStores(Bundle& bundle, Done done) noexcept : bundle_(bundle), done_(done) {}
    ~StartedStores() override;
    struct Store {
      bool released = false;
      std::uint32_t ticket = 0;
    };
    Store& take();
    // Keeps `store` until it is released. False: it is.
    bool keep(Store& store, std::uint32_t ticket);
    int poll() override;
    bool has_work() noexcept override;

   private:
    Bundle& bundle_;
    const Done done_;
    ObjectPool<Store> pool_;
    std::vector<Store*> stores_;  // in use
  };

  void set_more_to_come(bool yes) noexcept;
  struct Access;  // what waits
  template <class Condition>
  void wait_until(const Access& access, const char* needs, Condition&& condition);
  [[noreturn]] void refuse(Rank rank, const char* call) const;
  struct Put {
    std::uint64_t offset;
    std::span<const std::byte> from;
    std::uint64_t word;  // where its bytes are counted
  };
  void store_by_packets(FarMemory& memory, const Put& put, const Access& access,
                        std::uint64_t& sent);
  void store_much(FarMemory& memory, const Put& put, const Access& access, std::uint64_t& sent);
  void store_learned(const Put& put, const Access& access, std::uint64_t& sent);
  template <class Try>
  std::optional<std::uint32_t> joined(Try&& try_join);
  Operation& take(std::uint32_t ticket);
  template <class Start>
  void start_get(Rank rank, std::span<std::byte> to, std::uint32_t ticket, const CallSite& site,
                 const Start& start);
  template <class Try>
  void wait_for_room(Operation& operation, const Access& access, Try&& try_start);
  static void finished(link::Completion& completion);

  Bundle& bundle_;
  LearnedStores* const learned_;
  const Done done_;
  // Owned by the bundle's thread.
  ObjectPool<Operation> operations_;
  StartedStores started_;
};

}  // namespace am
