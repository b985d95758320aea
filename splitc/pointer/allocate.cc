#include "splitc/pointer/allocate.h"

#include <exception>
#include <span>
#include <string>
#include <vector>

#include "am/job/job.h"
#include "am/types/forked.h"
#include "splitc/group/calls.h"
#include "splitc/world/heap.h"
#include "splitc/world/world.h"

namespace splitc {
namespace detail {
namespace {

void free_together(std::uint64_t offset, Call call) {
  Heap& heap = world().heap();
  heap.check_spread(offset, call);
  const OfGroup of = of_job(GroupCall(call));
  run_plan(of, {.call = {}, .kind = offset});
  heap.release_spread(offset);
}

}  // namespace

std::uint64_t local_bytes(std::size_t count, std::size_t bytes, Call call) {
  return product(count, "elements", bytes, "bytes", call);
}

std::uint64_t spread_bytes(std::size_t count, std::size_t bytes, Call call) {
  return local_bytes(count / procs() + (count % procs() != 0 ? 1 : 0), bytes, call);
}

std::uint64_t all_allocate(std::uint64_t bytes, Call call, std::uint64_t kind) {
  Heap& heap = world().heap();
  const std::uint64_t at = heap.find_spread(bytes);
  // Before the meeting: as soon as it is over others may write there.
  const Heap::Room mine = heap.prepare_spread(at, bytes);
  const OfGroup of = of_job(GroupCall(call));
  std::vector<Heap::Room> all(of.size());
  GroupPlan plan = gather_plan(of, std::span(&mine, 1), std::span(all), false);
  plan.kind = kind;
  plan.about = bytes;
  run_plan(of, plan);
  if (!mine.fits) refuse(call, heap.out_of_memory(bytes, mine));
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const Heap::Room& room = all[proc];
    if (room.fits) continue;
    heap.leave_spread();
    refuse(call, "rank " + std::to_string(proc) + " has " + heap.out_of_memory(bytes, room));
  }
  heap.take_spread(at, bytes);
  return at;
}

void all_free(std::uint32_t proc, std::uint64_t offset, Call call) {
  if (proc != 0) {
    refuse(call, "the pointer is to process " + std::to_string(proc) +
                     "; free the memory by the address of its first element, on process 0");
  }
  free_together(offset, call);
}

void at_end(am::FunctionRef<void()> call) noexcept {
  if (std::uncaught_exceptions() > 0) return;
  if (place.bases == nullptr) return;  // the world has gone, and its memory with it
  if (am::is_forked()) return;         // it is the parent's
  try {
    call();
  } catch (const std::exception& error) {  // also a handler's, and am::PeerDied
    end_by(error);
  }
}

void all_free_at_end(std::uint64_t offset, Call call) noexcept {
  at_end([=] { free_together(offset, call); });
}

void* allocate(std::uint64_t bytes, Call call) {
  return mapped(my_proc(), world().heap().allocate(bytes, call));
}

}  // namespace detail

void local_free(void* p, am::Here where) {
  const detail::Call call("local_free", where);
  if (p == nullptr) return;
  world().heap().free(detail::offset_of(p, my_proc(), call), call);
}

}  // namespace splitc
