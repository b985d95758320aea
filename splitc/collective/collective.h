// collective/ is what all processes do together: barriers, broadcasts, reductions, scans, gathers.
// It may use world/. Each call is one or more rounds (round.h), which all make in the same order; a
// process in another round is an error that names both.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/collective/direct.h"
#include "splitc/collective/round.h"
#include "splitc/group/values.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"

// Broadcasts, reductions, scans, gathers and all-to-all: Split-C's all_* library. Further
// reductions by name (add, min, ...) are in splitc/collective/reduce.h, all-to-all of parts of any
// size in splitc/collective/varying.h.
//
//   all_bcast(x)                   the root's x, everywhere
//   all_reduce(x, op)              op over all values, everywhere; _to_one: on process 0
//   all_scan(x, op)                op over those of processes 0 to my_proc(); all_exscan: before it
//   all_gather(x)                  all values by process, everywhere; _to_one: on process 0
//   all_to_all(to, from)           part p of mine to process p, from everybody to everybody
//
//   const double norm = std::sqrt(all_reduce(local, [](double a, double b) { return a + b; }));
//   const int seed = all_bcast(my_proc() == 0 ? read_seed() : 0);
//   const std::vector<std::size_t> sizes = all_gather(mine.size());
//
//   all_reduce(mine, sums, std::plus())                       // vectors: element by element
//
//   std::vector<int> to(procs() * k), from(procs() * k);      // k elements for each process
//   all_to_all(to, from);                                     // from: k elements of each process
//
// Collective. All processes make the same calls in the same order, with the same root, type and
// number of bytes. No process returns before all have called, so each call is also a barrier(), and
// makes visible what a barrier() does; it completes no gets and puts, and no stores between nodes.
// All poll while they wait, so handlers run.
//
// Types and memory. T is trivially copyable, and no address. One value may have up to 16,320 bytes.
// Several elements are given as anything that holds them one behind the other, of any length
// (`elements`, splitc/world/elements.h): a span, std::array, array of C, vector or string. Where a
// call takes either, as all_bcast() does, a std::array of such T is one value, and std::span(array)
// is its elements. Arguments are read, and results written, during the call only.
//
// Cost. Little costs one barrier: each process copies its value to a board in its segment, passes
// the barrier, and reads the boards of its node; between nodes the barrier carries the values
// along, log2(nodes) messages for each node, and a process gets as many connections. "Little" is
// 256 KiB of a root; 16,320 bytes of each for a gather or a reduction, on a node of more than three
// processes 256 KiB, between nodes 256 KiB of all together; in all_to_all 16,320 bytes of all
// parts, between nodes 1 KiB of each. A segment below 16 MiB makes it less.
//
// Much costs two or three barriers, and each byte moves once, from the memory where one process has
// it to where another shall have it: by RMA, by a copy within segments, or through the kernel.
// Memory in the segment (spread arrays, local_malloc) is the fastest. Where processes cannot read
// one another's memory (no RMA, or a system that refuses it) it goes by boards, a barrier for each
// piece.
//
// Errors. Throw Error in a handler, outside the world's thread, and between barrier_notify() and
// barrier_wait(). If processes make different calls: checked builds compare all of them, and every
// process throws an Error that names two processes and both calls. Release builds compare the
// nodes, and on a node with those whose values are read; a process that misses a call leaves the
// others waiting, which the report on a job that stands still shows.

namespace splitc {
namespace detail {

// What the calls below do, on bytes.
// `type` is what must agree of the elements, type_of().
void bcast_bytes(void* data, std::size_t bytes, std::uint32_t root, std::uint64_t type, Call call);
void gather_bytes(Call call, std::span<const std::byte> mine, std::byte* all, bool only_to_one,
                  std::uint64_t type);
void all_to_all_bytes(std::span<const std::byte> to, std::byte* from, std::uint64_t type,
                      Call call);
void reduce_bytes(std::span<const std::byte> mine, std::byte* result, const Combine& combine,
                  Call call);
// Throws Error if there is no such process.
void check_root(std::uint32_t root, Call call);
// Throws Error unless `got` is the size of a span of `each` elements of every process.
void check_gathered(std::size_t got, std::size_t each, Call call);
// Throws Error unless a span of `elements` has procs() equal parts.
void check_parts(std::size_t elements, Call call);

// What `proc` shows.
template <class T>
T value_of(const Round& round, std::uint32_t proc) {
  return load<T>(round.of(proc));
}
// Shows x to all, to be combined in processes that need the values of the first `last`.
template <class T>
Round show(Call call, const T& x, std::uint32_t last) {
  check_value<T>();
  Round round(call, sizeof(T), type_of<T>());
  std::memcpy(round.mine(sizeof(T)), &x, sizeof(T));
  round.gather(sizeof(T), 0, last);
  return round;
}
// op over the values of processes 0 to last - 1, in that order.
template <class T, class Op>
T combine(const Round& round, std::uint32_t last, Op& op) {
  T result = value_of<T>(round, 0);
  for (std::uint32_t proc = 1; proc < last; ++proc) {
    result = static_cast<T>(op(result, value_of<T>(round, proc)));
  }
  return result;
}
// Reductions and scans on behalf of `call`, which all processes make.
template <class T, class Op>
T to_all(Call call, const T& x, Op op) {
  return combine<T>(show(call, x, procs()), procs(), op);
}
// On process 0.
template <class T, class Op>
T to_one(Call call, const T& x, Op op) {
  const Round round = show(call, x, my_proc() == 0 ? procs() : 0);
  return my_proc() == 0 ? combine<T>(round, procs(), op) : x;
}
template <class T, class Op>
T scan(Call call, const T& x, Op op) {
  return combine<T>(show(call, x, my_proc() + 1), my_proc() + 1, op);
}
template <class T, class Op>
T exscan(Call call, const T& x, Op op, const T& identity) {
  const Round round = show(call, x, my_proc());
  return my_proc() == 0 ? identity : combine<T>(round, my_proc(), op);
}

}  // namespace detail

// --- Broadcast. `root` is the same everywhere; Error if there is no such process.

// Returns, in every process, the x that `root` passes; those of the others are ignored.
template <detail::one_value T>
[[nodiscard]] T all_bcast(const T& x, std::uint32_t root = 0,
                          am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  T result = x;
  detail::bcast_bytes(&result, sizeof(T), root, detail::type_of<T>(), {"all_bcast", where});
  return result;
}
// Copies the root's `data` to that of all others, which are as large.
template <detail::only_elements R>
void all_bcast(R&& data, std::uint32_t root = 0,
               am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<R>;
  detail::check_plain<Element>();
  detail::check_writable<R>();
  const auto all = std::as_writable_bytes(detail::span_of(data));
  detail::bcast_bytes(all.data(), all.size(), root, detail::type_of<Element>(),
                      {"all_bcast", where});
}

// --- Reductions and scans. op(T, T) -> T is any associative function, the same everywhere, that
// communicates nothing. What it throws comes out, in the processes where it was called, when the
// call has ended in all, and results are then unspecified. Values are combined in the order of the
// processes, from left to right: every process gets the same bits, also for floating-point types,
// and so does every run with as many processes. Every process that has a result combines it itself:
// procs() - 1 calls of op.

// op over the values of all processes, returned to every process.
template <class T, class Op>
T all_reduce(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all({"all_reduce", where}, x, op);
}
// The same for each element: result[i] is op over the mine[i] of all processes, everywhere. All
// spans have the same size; Error if those of this process differ. `result` may be `mine`, and
// overlaps it in no other way, or Error. Above 2
// KiB each process combines a part of the elements, and the others read its results.
template <elements R, class Op>
void all_reduce(const R& my_elements, std::span<detail::ValueOf<const R>> result, Op op,
                am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<const R>;
  detail::check_value<Element>();
  const std::span<const Element> mine = detail::span_of(my_elements);
  const detail::Call call("all_reduce", where);
  detail::check_span(result.size(), mine.size(), call);
  detail::check_apart(std::as_bytes(mine), std::as_bytes(result), mine.data() == result.data(),
                      call);
  const detail::Combine combine{&detail::combine_elements<Element, Op>, &op, sizeof(Element),
                                detail::type_of<Element>()};
  detail::reduce_bytes(std::as_bytes(mine), reinterpret_cast<std::byte*>(result.data()), combine,
                       call);
}
// The same, returned to process 0 only; the others get back what they passed.
template <class T, class Op>
T all_reduce_to_one(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one({"all_reduce_to_one", where}, x, op);
}

// Inclusive scan: op over the values of processes 0 to my_proc().
template <class T, class Op>
T all_scan(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan({"all_scan", where}, x, op);
}
// Exclusive scan: op over the values of processes 0 to my_proc() - 1; `identity` on process 0.
template <class T, class Op>
T all_exscan(const T& x, Op op, const std::type_identity_t<T>& identity,
             am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan({"all_exscan", where}, x, op, identity);
}

// --- Gathering.

// Returns the values of all processes, by process, to every process. T is not bool.
template <class T>
std::vector<T> all_gather(const T& x, am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> all(procs(), x);
  detail::gather_bytes({"all_gather", where}, std::as_bytes(std::span(&x, 1)),
                       reinterpret_cast<std::byte*>(all.data()), false, detail::type_of<T>());
  return all;
}
// The same for several elements of each: mine.size() of them, the same number everywhere, and `all`
// has exactly procs() times as many, or Error. Those of process p begin at p * mine.size(). `mine`
// may be this process's own part of `all`, and overlaps it in no other way, or Error.
template <elements R>
void all_gather(const R& my_elements, std::span<detail::ValueOf<const R>> all,
                am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<const R>;
  detail::check_plain<Element>();
  const std::span<const Element> mine = detail::span_of(my_elements);
  const detail::Call call("all_gather", where);
  detail::check_gathered(all.size(), mine.size(), call);
  detail::check_apart(std::as_bytes(mine), std::as_bytes(all),
                      mine.data() == all.data() + my_proc() * mine.size(), call);
  detail::gather_bytes(call, std::as_bytes(mine), reinterpret_cast<std::byte*>(all.data()), false,
                       detail::type_of<Element>());
}
// The same to process 0 only. The others get an empty vector; of the form with spans they may pass
// any `all`, which is left alone.
template <class T>
std::vector<T> all_gather_to_one(const T& x,
                                 am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> all(my_proc() == 0 ? procs() : 0, x);
  detail::gather_bytes({"all_gather_to_one", where}, std::as_bytes(std::span(&x, 1)),
                       reinterpret_cast<std::byte*>(all.data()), true, detail::type_of<T>());
  return all;
}
template <elements R>
void all_gather_to_one(const R& my_elements, std::span<detail::ValueOf<const R>> all,
                       am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<const R>;
  detail::check_plain<Element>();
  const std::span<const Element> mine = detail::span_of(my_elements);
  const detail::Call call("all_gather_to_one", where);
  if (my_proc() == 0) {
    detail::check_gathered(all.size(), mine.size(), call);
    detail::check_apart(std::as_bytes(mine), std::as_bytes(all), mine.data() == all.data(), call);
  }
  detail::gather_bytes(call, std::as_bytes(mine), reinterpret_cast<std::byte*>(all.data()), true,
                       detail::type_of<Element>());
}

// --- All to all. Both spans consist of procs() parts of equal size, the same everywhere; Error if
// their sizes differ or are no multiple of procs(). Part p of `to` becomes part my_proc() of `from`
// on process p. Error if the spans overlap.
template <elements R>
void all_to_all(const R& parts, std::span<detail::ValueOf<const R>> from,
                am::SourceLocation where = am::SourceLocation::current()) {
  using Element = detail::ValueOf<const R>;
  detail::check_plain<Element>();
  const std::span<const Element> to = detail::span_of(parts);
  const detail::Call call("all_to_all", where);
  detail::check_span(from.size(), to.size(), call);
  detail::check_parts(to.size(), call);
  detail::check_apart(std::as_bytes(to), std::as_bytes(from), false, call);
  detail::all_to_all_bytes(std::as_bytes(to), reinterpret_cast<std::byte*>(from.data()),
                           detail::type_of<Element>(), call);
}

}  // namespace splitc
