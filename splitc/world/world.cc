#include "splitc/world/world.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "am/channel/channel.h"
#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/far/plain_requests.h"
#include "am/core/far/remote_memory.h"
#include "am/job/config/config.h"
#include "am/job/job.h"
#include "am/route/router.h"
#include "am/types/clock.h"
#include "am/types/forked.h"
#include "am/types/types.h"
#include "splitc/world/heap.h"

namespace splitc {
namespace {

constexpr std::uint64_t kEdgeBytes = 64;  // a line of its own

constexpr std::uint64_t edge_behind(std::uint32_t storers) noexcept {
  return StoreLines::bytes(storers);
}
constexpr std::uint64_t staging_behind(std::uint32_t storers) noexcept {
  return edge_behind(storers) + kEdgeBytes;
}
constexpr std::uint64_t boards_behind(std::uint64_t segment_bytes, std::uint32_t storers) noexcept {
  return staging_behind(storers) + staging_bytes(segment_bytes);
}
static_assert(sizeof(HeapEdge) <= kEdgeBytes);
static_assert(sizeof(NodeBoard) % 64 == 0 && sizeof(StoreLine) % 64 == 0,
              "everything begins on a cache line");

// Its segment is mapped where its process's pointers begin. It does not happen to segments of 2 MiB
// and more, which lie behind a header in memory that is aligned to huge pages.
[[noreturn]] void refuse_base(am::Rank me, am::Rank rank) {
  throw Error("rank " + std::to_string(me) + ": run: the system has mapped the segment of rank " +
              std::to_string(rank) +
              " to an address that global pointers cannot use; start the job again");
}

// Whether somebody wants to know of accesses within the node.
bool watches(const am::Config& config) noexcept {
  return config.watch_near &&
         (config.statistics != am::StatisticsForm::kNone || !config.trace.empty());
}

// Of address space, mostly (SparseTable).
am::SparseTable<std::byte*> no_bases(am::Rank me, std::size_t written = 0) {
  try {
    return {detail::kBases, written};
  } catch (const std::bad_alloc&) {
    constexpr std::size_t kBytes = detail::kBases * sizeof(std::byte*);
    throw Error("rank " + std::to_string(me) + ": run: there is no room for a table of " +
                std::to_string(kBytes) +
                " bytes of address space; raise its limit (ulimit -v), or take a smaller "
                "SPLITC_SEGMENT");
  }
}

am::SparseTable<std::byte*> all_bases(const am::Router& router) {
  am::SparseTable<std::byte*> bases = no_bases(router.rank(), std::size_t{router.size()} + 1);
  for (const am::Rank rank : router.near_ranks()) {
    const auto segment = reinterpret_cast<std::uintptr_t>(router.peer(rank).segment);
    const std::uint64_t bits = detail::bits_of(rank, 0);
    auto* const base = reinterpret_cast<std::byte*>(segment - bits);
    if (base == detail::far_base()) refuse_base(router.rank(), rank);
    bases[bits >> detail::kOffsetBits] = base;
  }
  return bases;
}

am::Config with_ledger(am::Config config, std::uint32_t threads) {
  config.threads = threads;
  config.books_bytes = Ledger::bytes(config.segment_bytes);
  config.segment_bytes += config.books_bytes;
  return config;
}

std::unique_ptr<am::RemoteMemory> make_remote(am::Way way, am::Job& job, am::Bundle& bundle,
                                              am::Endpoint& endpoint) {
  if (job.router().port() == nullptr) return nullptr;
  if (way == am::Way::kMessages) {
    return std::make_unique<am::PlainRequests>(endpoint, bundle, &detail::finish_ticket);
  }
  return std::make_unique<am::RemoteMemory>(bundle, &detail::finish_ticket);
}

}  // namespace

std::uint64_t World::runtime_bytes(std::uint64_t segment_bytes, std::uint32_t storers) noexcept {
  return boards_behind(segment_bytes, storers) + node_boards(segment_bytes) * sizeof(NodeBoard);
}

std::uint32_t World::storers() const noexcept {
  return router_.options().most_near * contexts_.threads();
}

std::uint64_t World::heap_bytes(std::uint64_t segment_bytes, std::uint32_t rank,
                                std::uint32_t storers) {
  const std::uint64_t runtime = runtime_bytes(segment_bytes, storers);
  if (segment_bytes > runtime) return segment_bytes - runtime;
  throw Error("rank " + std::to_string(rank) + ": run: a segment of " +
              std::to_string(segment_bytes) + " bytes is too small for the " +
              std::to_string(runtime) + " that the library needs for " + std::to_string(storers) +
              " processes and threads on a node; set SPLITC_SEGMENT higher");
}

// Several threads of each process send to it, and its world's endpoint, which sends long results.
am::Endpoint::Options service_options(const am::Router& router, std::uint32_t threads) {
  constexpr std::uint32_t kMost = 1024;  // inboxes
  am::Endpoint::Options options{.translations = std::max(256u, router.size())};
  if (threads == 1) return options;
  const std::uint32_t near = router.options().most_near;
  if (near * (threads + 2) > kMost) {
    throw Error("rank " + std::to_string(router.rank()) + ": run: .threads is " +
                std::to_string(threads) + ", and a node has " + std::to_string(near) +
                " processes; with so many of them " + std::to_string(kMost / near - 2) +
                " threads of each can use the address space");
  }
  options.inboxes = router.options().near * (threads + 2);
  return options;
}

struct World::Parts {
  Parts(const am::Config& config, std::uint32_t threads)
      : job(config),
        bundle(job, threads > 1 ? am::Access::kParallel : am::Access::kSequential),
        endpoint(bundle, service_options(job.router(), threads)) {}

  am::Job job;
  am::Bundle bundle;
  am::Endpoint endpoint;
};

// The ledger is memory of the segment for am/, so that other nodes can read it, too.
World::World(const am::Config& config, std::uint32_t threads)
    : parts_(std::make_unique<Parts>(with_ledger(config, threads), threads)),
      job_(parts_->job),
      router_(job_.router()),
      bundle_(parts_->bundle),
      endpoint_(parts_->endpoint),
      contexts_(*this, threads),
      bases_(all_bases(router())),
      none_(watches(config) || threads > 1 ? no_bases(job_.rank()) : decltype(none_)()),
      heap_(std::make_unique<Heap>(router().segment(),
                                   runtime_bytes(config.segment_bytes, storers()),
                                   heap_bytes(config.segment_bytes, job_.rank(), storers()),
                                   *reinterpret_cast<HeapEdge*>(router().segment() + edge_offset()),
                                   Ledger(Ledger::bytes(config.segment_bytes) == 0
                                              ? nullptr
                                              : router().segment() + config.segment_bytes))) {
  detail::place = {.bases = watches(config) ? none_.data() : bases_.data(),
                   .mappings = bases_.data(),
                   .stores = watches(config) || threads > 1 ? none_.data() : bases_.data(),
                   .my_proc = job_.rank(),
                   .procs = job_.size(),
                   .threads = threads,
                   .segment_bytes = config.segment_bytes,
                   .far_peers = router().far_peers(),
                   .kernel_fence = router().options().kernel_fence};
  detail::running_world = this;
  if (threads == 1) {
    contexts_.begin(std::make_unique<detail::Context>(
        bundle_, endpoint_, make_remote(config.way, job_, bundle_, endpoint_)));
  } else if (config.way == am::Way::kMessages) {
    throw Error("rank " + std::to_string(job_.rank()) +
                ": run: SPLITC_WAY=messages serves programs of one thread only; unset it, or run "
                "without .threads");
  } else {
    am::share_channels(bundle_);
  }
  router_.hide_from_children(runtime_bytes(config.segment_bytes, storers()));
  am::spoil_in_children([]() noexcept {
    if (detail::running_world != nullptr) detail::running_world->spoil();
  });
}

// So that every access takes the route on which it is refused, and every other call finds that it
// is of another thread. What is outstanding stays so, and sync() comes to where it is refused.
void World::spoil() noexcept {
  if (none_.size() == 0) make_none();
  detail::place.bases = detail::place.stores = none_.data();
  detail::this_context = nullptr;
}

// A second table may be more address space than the process has left. The one there is becomes that
// without any then, and its few entries move to one for the processes that there are.
void World::make_none() noexcept {
  try {
    none_ = am::SparseTable<std::byte*>(detail::kBases, 0);
  } catch (const std::bad_alloc&) {
    am::SparseTable<std::byte*> mappings(std::size_t{router_.size()} + 1);
    for (const am::Rank rank : router_.near_ranks()) {
      const std::uint64_t index = detail::bits_of(rank, 0) >> detail::kOffsetBits;
      mappings[index] = std::exchange(bases_[index], detail::far_base());
    }
    none_ = std::exchange(bases_, std::move(mappings));
    detail::place.mappings = bases_.data();
  }
}

World::~World() {
  detail::running_world = nullptr;
  detail::place = {};
}

std::uint64_t World::edge_offset() const noexcept { return edge_behind(storers()); }

const HeapEdge& World::edge(std::uint32_t proc) const noexcept {
  return *reinterpret_cast<const HeapEdge*>(detail::mapped(proc, edge_offset()));
}

std::span<std::byte> World::staging() const noexcept {
  return {detail::mapped(detail::place.my_proc, staging_behind(storers())),
          staging_bytes(detail::place.segment_bytes)};
}

NodeBoard& World::node_board(std::uint32_t proc, std::uint32_t index) const noexcept {
  const std::uint64_t offset = boards_behind(detail::place.segment_bytes, storers());
  return reinterpret_cast<NodeBoard*>(detail::mapped(proc, offset))[index];
}

namespace detail {

void refuse_without_world() {
  throw Error(
      "no Split-C program is running: make this call inside the function given to run(), and join "
      "threads that make it before that function returns");
}

void refuse_wait(Call call) {
  refuse(
      call,
      "called by a handler, or by a function that rpc() or atomic() runs, which may not wait; let "
      "it note what is to be done, and do it after poll()");
}

void end_by(const std::exception& error) noexcept {
  world().job().abort(1, without_rank(error.what()) + world().job().thrown_by());
}

std::string without_rank(const std::string& sentence) {
  const std::string rank = "rank " + std::to_string(my_proc()) + ": ";
  return sentence.starts_with(rank) ? sentence.substr(rank.size()) : sentence;
}

}  // namespace detail

int detail::poll_bundles() {
  if (!is_threaded()) [[likely]]
    return context().bundle.poll();
  const Visit visit("poll");
  const int done = context().bundle.poll();
  return done + world().service_bundle().poll();
}

// In the bundle whose sleepers are woken by whoever has handled something in it.
void detail::wait_among_threads(am::FunctionRef<bool()> condition, am::Wake wake,
                                am::FunctionRef<am::Reason()> explain) {
  const Visit visit("wait");
  check_thread("wait");
  world().service_bundle().wait_with_siblings(condition, explain, wake);
}

namespace {

// Where processes share cores, every second poll in a row that finds nothing gives up the core:
// what this process waits for is made by one that has none. Measured on 2 cores, all_reduce of
// 64 KiB beside as long a computation: 8 processes on a node 376 to 105 us, over TCP 2,600 to 620.
constexpr std::uint32_t kVainPolls = 2;

void after_vain_poll() noexcept {
  static thread_local std::uint32_t in_vain = 0;
  if (++in_vain % kVainPolls == 0 && world().router().options().oversubscribed) sched_yield();
}

}  // namespace

[[gnu::noinline]] int poll() {
  if constexpr (am::kChecked) {
    detail::check_thread("poll");
    detail::check_frames_below(__builtin_frame_address(0));
  }
  std::optional<detail::Visit> visit;  // to the end: all of this needs the world
  if (detail::is_threaded()) [[unlikely]]
    visit.emplace("poll");
  const int done = detail::poll_bundles();
  if (done == 0) after_vain_poll();
  if (!detail::can_run_ready()) return done;
  return done + detail::run_ready();  // tasks go on
}

namespace {

// Of several threads each would have to hear of what any of them may handle.
void check_only_thread(const char* call) {
  detail::check_thread(call);
  if (!detail::is_threaded()) return;
  detail::refuse(call,
                 "run() was told of several threads, whose waits are the library's; wait with "
                 "wait_until(), or leave .threads of run() at 1");
}

}  // namespace

int event_fd() {
  check_only_thread("event_fd");
  return world().bundle().event_fd();
}

bool arm() {
  check_only_thread("arm");
  return !detail::can_run_ready() && world().bundle().arm();
}

double get_seconds() noexcept { return 1e-9 * static_cast<double>(am::now_ns()); }

}  // namespace splitc
