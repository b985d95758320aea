#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "am/observe/activity.h"
#include "am/route/router.h"
#include "am/route/staging.h"
#include "am/types/types.h"

namespace am {

class Bundle;
class FarMemory;
class FarMessages;

// What the bundles and endpoints of a process share beside the routes to its peers.
//
// Thread rule: as each says.
class Process {
 public:
  // `router` outlives it, and has its port already if it gets one.
  explicit Process(Router& router);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Router& router() const noexcept { return router_; }
  // The half of it that deals with processes of other nodes; nullptr: there are none.
  FarMessages* far_messages() const noexcept { return far_messages_.get(); }
  FarMemory* far_memory() const noexcept { return far_memory_.get(); }

  // The payloads that wait to be copied. Any thread.
  Staging& staging() noexcept { return staging_; }

  // The bundles of this process, in the order of their making. Any thread.
  void add(Bundle& bundle);
  void remove(Bundle& bundle) noexcept;
  // Calls `visit(Bundle&)` for the bundles of `thread` (Bundle::this_thread()); nullptr: of all
  // threads. It may make bundles, and end them: then the next one has taken the place of the one
  // before. A parallel bundle is not ended by other threads while it is visited.
  template <class Visit>
  void for_bundles(const void* thread, Visit&& visit) const {
    std::size_t index = 0;
    for (Pinned pinned; (pinned = next_bundle(thread, index, std::move(pinned))) != nullptr;) {
      visit(*pinned);
    }
  }
  // Without a lock: whether there may be more than one that belongs to the calling thread.
  bool several_bundles() const noexcept {
    return bundle_count_.load(std::memory_order_relaxed) > 1;
  }

  // An endpoint of this process has ended that has sent and received so many messages; and the sum
  // over all of these. Any thread.
  void retire(std::uint64_t messages) noexcept {
    retired_.fetch_add(messages, std::memory_order_relaxed);
  }
  std::uint64_t retired() const noexcept { return retired_.load(std::memory_order_relaxed); }

  // A number no other endpoint of this process has had. Any thread.
  std::uint32_t next_serial() noexcept { return serial_.fetch_add(1, std::memory_order_relaxed); }

  // All processes have passed the last barrier of the job (Job::finish()): no other needs this one
  // any more.
  void leave() noexcept { left_.store(true, std::memory_order_relaxed); }
  bool has_left() const noexcept { return left_.load(std::memory_order_relaxed); }

  // The bundles of one thread, that which made the first of them, use Router::activity() together:
  // false if `thread` (Bundle::this_thread()) is another. Whoever was lent it gives it back. Any
  // thread.
  bool lend_activity(const void* thread);
  void give_back_activity() noexcept;

  // Notes that `handler` has thrown the exception that is being handled. That is kept until the
  // next one, to be distinguished from all others. Any thread.
  void note_thrown(const Activity::Running& handler);
  // The handler that has thrown the exception that is being handled now.
  Activity::Running thrower_of_current() const;

  // What a room above keeps once per process, from its first use to the end of the job.
  class Extension {
   public:
    virtual ~Extension() = default;
    virtual void spoil() noexcept = 0;  // in a child that was forked (am/types/forked.h)
  };
  // That of am/channel, which guards it.
  Owned<Extension> channels;

 private:
  // A bundle that is visited: if it is parallel, its end waits.
  struct Unpin {
    void operator()(Bundle* bundle) const noexcept;
    bool pinned = false;
  };
  using Pinned = std::unique_ptr<Bundle, Unpin>;
  // The bundle at `index` or the first after it that belongs to `thread`, and is not `last`;
  // `index` is then its index. nullptr: there is none.
  Pinned next_bundle(const void* thread, std::size_t& index, Pinned last) const;

  void spoil() noexcept;  // in a child that was forked (am/types/forked.h)

  static inline Process* the_ = nullptr;

  Router& router_;
  Owned<FarMemory> far_memory_;
  Owned<FarMessages> far_messages_;
  Staging staging_;
  std::atomic<std::uint32_t> serial_{0};
  std::atomic<std::uint64_t> retired_{0};
  std::atomic<bool> left_{false};
  mutable std::mutex mutex_;  // guards the rest
  std::vector<Bundle*> bundles_;
  std::atomic<std::size_t> bundle_count_{0};  // read without it, too
  const void* borrower_ = nullptr;            // the thread whose bundles use the activity
  std::size_t borrowed_ = 0;                  // how many of them there are
  std::exception_ptr thrown_;
  Activity::Running thrower_;
};

}  // namespace am
