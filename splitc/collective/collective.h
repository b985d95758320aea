// collective/ is what all processes do together: barriers, broadcasts, reductions, scans, gathers.
// Each is a call of the group of all of them (splitc/group).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
#include "splitc/group/calls.h"
#include "splitc/group/plan.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"
#include "splitc/world/refused.h"

// Broadcasts, reductions, scans, gathers and all-to-all: Split-C's all_* library. All-to-all
// of parts of any size is in splitc/collective/varying.h, Split-C's names of reductions (add, min,
// ...) in splitc/compat.h.
//
//   all_bcast(x)                   the root's x, everywhere
//   all_reduce(x, op)              op over all values, everywhere; _to_one: on process 0
//   all_scan(x, op)                op over those of processes 0 to my_proc(); all_exscan: before it
//   all_gather(x)                  all values by process, everywhere; _to_one: on process 0
//   all_to_all(mine, received)     part p of mine to process p, from everybody to everybody
//
//   const double norm = std::sqrt(all_reduce(local, std::plus()));
//   const int seed = all_bcast(my_proc() == 0 ? read_seed() : 0);
//   const std::vector<std::size_t> sizes = all_gather(mine.size());
//
//   all_reduce(mine, sums, std::plus())                       // vectors: element by element
//
//   std::vector<int> mine(procs() * k), received(procs() * k);  // k elements for each process
//   all_to_all(mine, received);                                 // received: k of each process
//
// Collective. All processes make the same calls in the same order, with the same root, type and
// number of bytes. All poll while they wait, so handlers run.
//
// No process waits without need. The root of all_bcast() returns when its bytes are published or in
// flight, and so does a process that only contributes to a call _to_one; a scan waits for the
// processes before this one. A process may be 64 such calls ahead of another; the next is a
// barrier() first. In all_reduce(), all_gather() and all_to_all() every process needs something of
// every other, so no process returns before all have called, and each makes visible what a
// barrier() does. A program that needs this of the other calls adds a barrier(). No call completes
// gets and puts, or stores between nodes.
//
// Types and memory. T is trivially copyable, and no address. One value may have up to 16,320 bytes.
// Several elements are given as anything that holds them one behind the other, of any length
// (`elements`, splitc/world/elements.h): a span, std::array, array of C, vector or string. Where a
// call takes either, as all_bcast() does, a std::array of such T is one value, and std::span(array)
// is its elements. Arguments are read, and results written, during the call only.
//
// Cost. On a node each process writes what it gives to its board in its segment, a cache line for
// up to 40 bytes, and the processes that need it read it there: no messages. More than 8 KiB are
// read where they lie: in the segment (spread arrays, local_malloc), in a copy there of up to 128
// KiB, or through the kernel; each byte moves once or twice. Between nodes the first of each node
// sends messages for all of it, log2(nodes) of them one after the other, and the network writes
// what is large directly to its destination. docs/collectives.md has the algorithms and figures.
//
// Errors. Throw Error in a handler, outside the program's threads, and between barrier_notify() and
// barrier_wait(). If processes make different calls, those that cannot get what their call needs
// throw an Error that names two processes and both calls, also in release builds: at once where
// they find what others have published or sent, or after 10 ms of waiting; the others throw in one
// of their next two calls. (In release builds barrier() compares nothing itself: a process in it
// stays there while others make another call, until they call barrier(), too.) A process that makes
// none leaves the others waiting, which the report on a job that stands still shows.

namespace splitc {
// --- Broadcast. `root` is the same everywhere; Error if there is no such process.

// Returns, in every process, the x that `root` passes; those of the others are ignored.
template <detail::one_value T>
[[nodiscard]] T all_bcast(const T& x, std::uint32_t root = 0, am::Here where = {}) {
  return detail::group_bcast(detail::of_job({"all_bcast", where}), x, root);
}
// Copies the root's `data` to that of all others, which are as large.
template <detail::only_elements R>
void all_bcast(R&& data, std::uint32_t root = 0, am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_bcast", where});
  detail::run_plan(of, detail::bcast_plan(of, detail::span_of(data), root));
}

// --- Reductions and scans. op(T, T) -> T is any associative function, the same everywhere, that
// communicates nothing. What it throws comes out where it was called; the other processes whose
// results that spoils get an Error that names the rank. The result has the type of the argument; so
// a sum of chars is a char. std::plus(), multiplies(), bit_and(), bit_or() and bit_xor() are such
// functions, and so are minimum() and maximum(). Values are combined in the order of the
// processes: on one node, and up to 4 KiB of all together on several, from left to right as by a
// loop; more in groups that depend on the processes, their nodes and the bytes alone. So every
// process gets the same bits, also for floating-point types, and so does every run.

// The lesser and the greater of two by <. For floating-point numbers a NaN is neither less nor
// greater than anything.
struct minimum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct maximum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

// op over the values of all processes, returned to every process.
template <class T, class Op>
T all_reduce(const T& x, Op op, am::Here where = {}) {
  return detail::to_all(detail::of_job({"all_reduce", where}), x, op);
}
// Reduces each element: result[i] is op over the mine[i] of all processes, everywhere. All
// spans have the same size; Error if those of this process differ. `result` may be `mine`, and
// overlaps it in no other way, or Error. Of more than 4 KiB each process combines a part of the
// elements, and the others read its results.
template <elements R, class Op>
void all_reduce(const R& my_elements, std::span<detail::ValueOf<const R>> result, Op op,
                am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_reduce", where});
  const detail::Combine combine = detail::combine_by<detail::ValueOf<const R>>(op);
  detail::run_plan(of, detail::reduce_plan(of, std::as_bytes(detail::span_of(my_elements)),
                                           std::as_writable_bytes(result), combine));
}
// Reduces to process 0 only; the others get back what they passed.
template <class T, class Op>
T all_reduce_to_one(const T& x, Op op, am::Here where = {}) {
  return detail::to_one(detail::of_job({"all_reduce_to_one", where}), x, op);
}

// Inclusive scan: op over the values of processes 0 to my_proc().
template <class T, class Op>
T all_scan(const T& x, Op op, am::Here where = {}) {
  return detail::scan(detail::of_job({"all_scan", where}), x, op);
}
// Exclusive scan: op over the values of processes 0 to my_proc() - 1; `identity` on process 0.
template <class T, class Op>
T all_exscan(const T& x, Op op, const std::type_identity_t<T>& identity, am::Here where = {}) {
  return detail::exscan(detail::of_job({"all_exscan", where}), x, op, T(identity));
}
void all_reduce(detail::refused<"all_reduce(x, op): op is an object, such as std::plus() or "
                                "maximum()">,
                detail::anything = {}, detail::anything = {});
void all_reduce_to_one(
    detail::refused<"all_reduce_to_one(x, op): op is an object, such as std::plus() or maximum()">,
    detail::anything = {}, detail::anything = {});
void all_scan(detail::refused<"all_scan(x, op): op is an object, such as std::plus() or maximum()">,
              detail::anything = {}, detail::anything = {});
void all_exscan(detail::refused<"all_exscan(x, op, identity): op is an object, such as "
                                "std::plus() or maximum()">,
                detail::anything = {}, detail::anything = {});

// --- Gathering.

// Returns the values of all processes, by process, to every process. T is not bool.
template <class T>
std::vector<T> all_gather(const T& x, am::Here where = {}) {
  return detail::group_gather(detail::of_job({"all_gather", where}), x, false);
}
// Gathers several elements of each: mine.size() of them, the same number everywhere, and `all`
// has exactly procs() times as many, or Error. Those of process p begin at p * mine.size(). `mine`
// may be this process's own part of `all`, and overlaps it in no other way, or Error.
template <elements R>
void all_gather(const R& my_elements, std::span<detail::ValueOf<const R>> all,
                am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_gather", where});
  detail::run_plan(of, detail::gather_plan(of, detail::span_of(my_elements), all, false));
}
// Gathers to process 0 only. The others get an empty vector; of the form with spans they may pass
// any `all`, which is left alone.
template <class T>
std::vector<T> all_gather_to_one(const T& x, am::Here where = {}) {
  return detail::group_gather(detail::of_job({"all_gather_to_one", where}), x, true);
}
template <elements R>
void all_gather_to_one(const R& my_elements, std::span<detail::ValueOf<const R>> all,
                       am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_gather_to_one", where});
  detail::run_plan(of, detail::gather_plan(of, detail::span_of(my_elements), all, true));
}

// --- All to all. Both spans consist of procs() parts of equal size, the same everywhere; Error if
// their sizes differ or are no multiple of procs(). Part p of `parts` becomes part my_proc() of
// `from` on process p. Error if the spans overlap.
template <elements R>
void all_to_all(const R& parts, std::span<detail::ValueOf<const R>> from, am::Here where = {}) {
  const detail::OfGroup of = detail::of_job({"all_to_all", where});
  detail::run_plan(of, detail::transpose_plan(of, detail::span_of(parts), from));
}

}  // namespace splitc
