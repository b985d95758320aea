// am/route: how each process of the job is reached. A neighbour by memory that both map (router.h),
// all others by the one port of this process at the network (port.h). It uses am/link, am/types and
// shmem, and knows no room above: these register at the port for the packets that are theirs.
// Constant once the job has started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "am/observe/activity.h"
#include "am/route/deaths.h"
#include "am/table/sparse_table.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "shmem/arrival_board.h"
#include "shmem/doorbell.h"
#include "shmem/flag.h"
#include "shmem/region.h"

namespace am {

class Port;
class Rings;

// The beginning of every process's region; behind it lies the segment. All zero at first.
struct RegionHeader {
  static constexpr std::size_t kBytes = 4096 + sizeof(shmem::ArrivalBoard);
  static constexpr int kRounds = 24;  // ranks have 24 bits in a global pointer

  // That of the region whose segment begins there.
  static RegionHeader& of(std::byte* segment) noexcept {
    return *reinterpret_cast<RegionHeader*>(segment - kBytes);
  }

  shmem::Doorbell bell;           // rung by neighbours that have something for this process
  shmem::Flag rounds[kRounds];    // am/collective/barrier.h
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

// What a process knows of its job once it has started: its rank, the route to each peer, and how to
// wait. Filled once by am::Job; constant afterwards, so any thread may use it.
class Router {
 public:
  struct Options {
    Rank rank = 0;
    std::uint32_t size = 1;
    std::uint64_t segment_bytes = 0;  // of every process
    bool kernel_fence = false;        // every process of the job is enrolled; see shmem::Fence
    bool oversubscribed = false;      // more processes than cores on this machine
    std::uint32_t near = 1;           // processes of this node, this one included
    std::uint32_t most_near = 1;      // those of the node that has most
    std::vector<Rank> leaders = {0};  // the lowest rank of every node
    std::uint32_t node = 0;           // which of these is this process's
    // By rank: which of these is its own; empty: each node has the ranks from its leader up to the
    // next leader.
    std::vector<std::uint32_t> nodes = {};
    WaitPolicy wait = WaitPolicy::kAuto;
    bool cross_memory = true;  // memory of neighbours may be reached through the kernel
    // Ends the whole job after printing the sentence. Does not return.
    Function<void(int exit_code, const std::string& sentence)> abort;
    Activity* activity = nullptr;  // of this process, where the launcher reads it
    // Called about every second by calls that wait for long, where no launcher watches the job.
    Function<void()> watch;
    bool survives = false;  // the job goes on without processes that die
  };

  // Takes this process's own region: RegionHeader::kBytes + segment_bytes long.
  Router(Options options, shmem::Region own);
  ~Router();

  // Adds the region of another process of this node.
  void add_neighbour(Rank rank, shmem::Region region);
  // Children that this process forks have zeros of their own for so much of its segment, which a
  // room above keeps its state in. (Of all its neighbours' memory, too; and of its header.)
  void hide_from_children(std::size_t bytes) {
    regions_.front().hide_from_children(RegionHeader::kBytes + bytes);
  }
  // All processes that are not neighbours are reached through `port`.
  void add_port(Owned<Port> port);

  Rank rank() const noexcept { return options_.rank; }
  std::uint32_t size() const noexcept { return options_.size; }
  const Options& options() const noexcept { return options_; }
  shmem::Fence fence() const noexcept { return shmem::Fence(options_.kernel_fence); }

  Peer peer(Rank rank) const noexcept {
    std::byte* const segment = segments_[rank];
    return {segment, segment == nullptr ? nullptr : &RegionHeader::of(segment)};
  }
  bool is_near(Rank rank) const noexcept { return segments_[rank] != nullptr; }
  // Whether this process is the lowest of its node.
  bool leads_node() const noexcept { return near_ranks_.front() == options_.rank; }
  // The processes of this node, itself among them, in order.
  const std::vector<Rank>& near_ranks() const noexcept { return near_ranks_; }
  // How many of them have a lower rank than `rank`, which is one. Costs a search among them.
  std::uint32_t near_index(Rank rank) const;
  // The way to the processes of other nodes; nullptr if there are none.
  Port* port() const noexcept { return port_.get(); }
  bool far_peers() const noexcept { return port_ != nullptr; }
  // Wakes `rank`, which is near, if it sleeps; call it after writing what it may be waiting for.
  void notify(Rank rank) const noexcept { RegionHeader::of(segments_[rank]).bell.notify(fence()); }
  // What a ring of this process's doorbell makes readable; made by the first call, which throws
  // Error if there can be no socket. Any thread.
  Rings& rings();
  Peer self() const noexcept { return {segment(), &RegionHeader::of(segment())}; }

  // This process's segment: what Long messages and global pointers address.
  std::byte* segment() const noexcept { return segments_[options_.rank]; }
  std::uint64_t segment_bytes() const noexcept { return options_.segment_bytes; }
  // The offset of `address` in this process's segment, or segment_bytes() if it is not in it. Any
  // thread.
  std::uint64_t segment_offset(const void* address) const noexcept;

  // Maps [offset, offset + pages.size()) of this process's segment at `pages`, too, in place of
  // what is there, which has to be whole pages of the system: its addresses are then in the
  // segment, for segment_offset(). They stay mapped when this ends. Not while another thread uses
  // this. Throws shmem::Error if the system refuses.
  void map_also(std::span<std::byte> pages, std::uint64_t offset);
  // The addresses of such pages, which go, are in the segment no more. Likewise.
  void forget_also(std::span<std::byte> pages) noexcept;
  // Replaces such pages by memory of this process alone, with the same contents; at the end of the
  // job, or in a child that was forked.
  static void make_private(std::span<std::byte> pages) noexcept { shmem::make_private(pages); }

  // The cache line by which this process and `rank`, of the same node, notify each other of puts.
  // std::nullopt: `rank` is this process, or the node has too many processes. Costs a search among
  // the processes of the node.
  std::optional<shmem::ArrivalPair> arrival_pair(Rank rank) const;

  // What this process is doing, for others to read.
  Activity& activity() const noexcept {
    return options_.activity != nullptr ? *options_.activity : self().header->activity;
  }
  // The deaths, in a job that goes on without its dead; nullptr: a death ends the job.
  const Deaths* deaths() const noexcept { return deaths_ ? &*deaths_ : nullptr; }
  bool is_dead(Rank rank) const noexcept { return deaths_ && deaths_->has(rank); }
  // `rank`, whose process was `pid`, has died. Only if the job goes on without it.
  void note_death(Rank rank, pid_t pid);
  // Gives back the memory of the segment of `rank`, which is near and has died. False: the system
  // does not.
  bool discard_segment(Rank rank) const noexcept;
  // Throws PeerDied if a process has died, for a `call` that needs all.
  void need_all(Call call) const;

  // Prints "rank R: <sentence>" and ends the whole job.
  [[noreturn]] void fatal(const std::string& sentence) const;
  // Throws the Error of `call` that says `what` (refusal_text).
  [[noreturn]] void refuse(Call call, const std::string& what) const;

 private:
  Options options_;
  std::vector<shmem::Region> regions_;  // of this node
  SparseTable<std::byte*> segments_;    // by rank, in regions_; nullptr: it is far
  // What else is mapped to this process's segment, and where in it.
  struct Also {
    std::span<std::byte> pages;
    std::uint64_t offset;
  };
  std::vector<Also> also_;
  std::vector<Rank> near_ranks_;
  std::optional<Deaths> deaths_;
  std::mutex rings_mutex_;  // while rings_ is made
  Owned<Rings> rings_;      // nullptr: not requested yet
  Owned<Port> port_;        // closed before all that
};

}  // namespace am
