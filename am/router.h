#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "am/activity.h"
#include "am/types.h"
#include "shmem/arrivals.h"
#include "shmem/doorbell.h"
#include "shmem/fence.h"
#include "shmem/flag.h"
#include "shmem/region.h"

namespace am {

class Bundle;
class ChannelSeats;
class Port;
struct Channels;

// The beginning of every process's region; behind it lies the segment. All zero at first.
struct RegionHeader {
  static constexpr std::size_t kBytes = 4096 + sizeof(shmem::ArrivalBoard);
  static constexpr int kRounds = 24;  // ranks have 24 bits in a global pointer

  shmem::Doorbell bell;           // rung by neighbours who have something for this process
  shmem::Flag rounds[kRounds];    // am/barrier.h
  shmem::SharedCounter arrivals;  // ... of rank 0 only
  shmem::Flag released;           // ... of rank 0 only
  shmem::SharedCounter more[2];   // ... of rank 0 only; of barriers with even and odd numbers
  Activity activity;              // unless the launcher has a place for it
  shmem::ArrivalBoard puts;       // on channels
};
static_assert(sizeof(RegionHeader) == RegionHeader::kBytes);

// The route to one process. On this node ("near"): its segment is mapped here, its doorbell can be
// rung. On another ("far"): both are null, and Router::port() leads there.
struct Peer {
  std::byte* segment = nullptr;
  RegionHeader* header = nullptr;
};

// What a process knows of its job once it has started: who it is, how each peer is reached, and how
// to wait. Filled once by am::Job; constant afterwards, so any thread may read it.
class Router {
 public:
  struct Options {
    Rank rank = 0;
    std::uint32_t size = 1;
    std::uint64_t segment_bytes = 0;  // of every process
    bool kernel_fence = false;        // every process of the job is enrolled; see shmem::Fence
    bool oversubscribed = false;      // more processes than cores on this machine
    std::uint32_t near = 1;           // processes of this node, this one included
    std::vector<Rank> leaders = {0};  // the lowest rank of every node
    std::uint32_t node = 0;           // which of these is this process's
    WaitPolicy wait = WaitPolicy::kAuto;
    // Ends the whole job after printing the sentence. Does not return.
    std::function<void(int exit_code, const std::string& sentence)> abort;
    Activity* activity = nullptr;  // of this process, where the launcher reads it
    // If no launcher does: called by whoever waits for long, about every second.
    std::function<void()> watch;
  };

  // Takes this process's own region: RegionHeader::kBytes + segment_bytes long.
  Router(Options options, shmem::Region own);
  ~Router();

  // Adds the region of another process of this node.
  void add_neighbour(Rank rank, shmem::Region region);
  // All processes that are not neighbours are reached through `port`.
  void add_port(std::unique_ptr<Port> port);

  Rank rank() const noexcept { return options_.rank; }
  std::uint32_t size() const noexcept { return options_.size; }
  const Options& options() const noexcept { return options_; }
  shmem::Fence fence() const noexcept { return shmem::Fence(options_.kernel_fence); }

  const Peer& peer(Rank rank) const noexcept { return peers_[rank]; }
  bool is_near(Rank rank) const noexcept { return peers_[rank].segment != nullptr; }
  // The way to the processes of other nodes; nullptr if there are none.
  Port* port() const noexcept { return port_.get(); }
  bool far_peers() const noexcept { return port_ != nullptr; }
  // Wakes `rank`, which is near, if it sleeps; call it after writing what it may be waiting for.
  void notify(Rank rank) const noexcept { peers_[rank].header->bell.notify(fence()); }
  const Peer& self() const noexcept { return peers_[options_.rank]; }

  // This process's segment: what Long messages and global pointers address.
  std::byte* segment() const noexcept { return self().segment; }
  std::uint64_t segment_bytes() const noexcept { return options_.segment_bytes; }
  // The offset of `address` in this process's segment, or segment_bytes() if it is not in it.
  std::uint64_t segment_offset(const void* address) const noexcept;

  // The line that this process and `rank` of this node share for telling each other of puts; not if
  // it is the same, or there are too many processes.
  std::optional<shmem::ArrivalPair> arrival_pair(Rank rank) const;

  // Those of the one bundle that has channels; nullptr: none.
  Channels* channels() const noexcept { return channels_; }
  void set_channels(Channels* channels) noexcept { channels_ = channels; }
  // By these; made at the first use.
  ChannelSeats& channel_seats();

  // The bundles of this process, in the order of their making. Any thread.
  void add(Bundle& bundle);
  void remove(Bundle& bundle) noexcept;
  // The `index`-th of all bundles or the first after it that belongs to `thread`
  // (Bundle::this_thread()), or to any if that is nullptr; `index` is then its index. nullptr:
  // there is none.
  Bundle* find_bundle(const void* thread, std::size_t& index) const;
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

  // All processes have met for the last time (Job::finish()): nobody expects anything any more.
  void leave() noexcept { left_ = true; }
  bool has_left() const noexcept { return left_; }

  // What this process is doing, for others to read.
  Activity& activity() const noexcept {
    return options_.activity != nullptr ? *options_.activity : self().header->activity;
  }
  // The bundles of one thread, that which made the first of them, use it together: false if
  // `thread` (Bundle::this_thread()) is another. Whoever was lent it gives it back. Any thread.
  bool lend_activity(const void* thread);
  void give_back_activity() noexcept;

  // `handler` has thrown the exception that is being handled. It is kept until the next one, so
  // that it can be told from all others. Any thread.
  void note_thrown(const Activity::Running& handler);
  // The handler that has thrown the exception that is being handled now.
  Activity::Running thrower_of_current() const;

  // A number no other endpoint of this process has had. Any thread.
  std::uint32_t next_serial() noexcept { return serial_.fetch_add(1, std::memory_order_relaxed); }

  // Prints "rank R: <sentence>" and ends the whole job.
  [[noreturn]] void fatal(const std::string& sentence) const;

 private:
  Options options_;
  std::vector<shmem::Region> regions_;     // of this node; they keep what peers_ points to
  std::vector<Peer> peers_;                // by rank
  std::vector<std::uint32_t> near_index_;  // by rank: neighbours with a lower one
  std::unique_ptr<Port> port_;             // closed before the regions go
  std::atomic<std::uint32_t> serial_{0};
  std::atomic<std::uint64_t> retired_{0};
  Channels* channels_ = nullptr;
  std::unique_ptr<ChannelSeats> channel_seats_;
  bool left_ = false;
  mutable std::mutex bundles_mutex_;  // guards the rest
  std::vector<Bundle*> bundles_;
  std::atomic<std::size_t> bundle_count_{0};  // read without it, too
  const void* borrower_ = nullptr;            // the thread whose bundles use the activity
  std::size_t borrowed_ = 0;                  // how many of them there are
  std::exception_ptr thrown_;
  Activity::Running thrower_;
};

}  // namespace am
