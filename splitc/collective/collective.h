// collective/ is what all processes do together: barriers, broadcasts, reductions, scans, gathers.
// It may use world/. Each call is one or more rounds (round.h), which all make in the same order; a
// process in another round is an error that names both.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/collective/round.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"

// Calls that all processes make together, in the same order, with arguments of the same size. A
// process that makes another call instead gets an Error that names both.
//
// Each works as a barrier in so far as no process leaves it before all have entered it. None
// completes gets and puts: call sync() first. Thread rule: the world's thread.

namespace splitc {
namespace detail {

void bcast_bytes(void* data, std::size_t bytes, std::uint32_t root, Call call);
void gather_bytes(Call call, std::span<const std::byte> mine, std::byte* all, bool only_to_one);
void all_to_all_bytes(std::span<const std::byte> to, std::byte* from, Call call);
// Throws Error unless `got` is `expected`, the size of a span.
void check_span(std::size_t got, std::size_t expected, Call call);
// The same for a span that has room for `each` elements of every process.
void check_gathered(std::size_t got, std::size_t each, Call call);
// Throws Error unless a span of `elements` has procs() equal parts.
void check_parts(std::size_t elements, Call call);

template <class T>
constexpr void check_value() {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
  static_assert(sizeof(T) <= Board::kBytes, "too large for one value; use the form with spans");
}
template <class T>
std::uint64_t kind_of() noexcept {
  return std::is_floating_point_v<T> ? 1 : std::is_signed_v<T> ? 2 : 3;
}
template <class T>
T value_of(const Round& round, std::uint32_t proc) {
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, round.of(proc), sizeof(T));
  return *reinterpret_cast<const T*>(bytes);
}
// Shows x to all.
template <class T>
Round show(Call call, const T& x) {
  check_value<T>();
  Round round(call, sizeof(T), kind_of<T>());
  std::memcpy(round.mine(), &x, sizeof(T));
  round.meet();
  return round;
}
// op over the values of processes 0 to last - 1, in that order.
template <class T, class Op>
T combine(Round& round, std::uint32_t last, Op& op) {
  round.look(0, last, 0, sizeof(T));
  T result = value_of<T>(round, 0);
  for (std::uint32_t proc = 1; proc < last; ++proc) {
    result = static_cast<T>(op(result, value_of<T>(round, proc)));
  }
  return result;
}
template <class T, class Op>
T to_all(Call call, const T& x, Op op) {
  Round round = show(call, x);
  return combine<T>(round, procs(), op);
}
template <class T, class Op>
T to_one(Call call, const T& x, Op op) {
  Round round = show(call, x);
  return my_proc() == 0 ? combine<T>(round, procs(), op) : x;
}
template <class T, class Op>
T scan(Call call, const T& x, Op op) {
  Round round = show(call, x);
  return combine<T>(round, my_proc() + 1, op);
}
template <class T, class Op>
T exscan(Call call, const T& x, Op op, const T& identity) {
  Round round = show(call, x);
  return my_proc() == 0 ? identity : combine<T>(round, my_proc(), op);
}

}  // namespace detail

// --- Broadcast: what `root` passes, to all. T is trivially copyable.
template <class T>
T all_bcast(T x, std::uint32_t root = 0, am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  detail::bcast_bytes(&x, sizeof(T), root, {"all_bcast", where});
  return x;
}
template <class T>
void all_bcast(std::span<T> data, std::uint32_t root = 0,
               am::SourceLocation where = am::SourceLocation::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
  detail::bcast_bytes(data.data(), data.size_bytes(), root, {"all_bcast", where});
}

// --- Reductions. Values are combined in the order of the processes, so all get the same bits.
// to_all: everybody gets the result. to_one: process 0 does, the others get back what they passed.
// op(T, T) -> T is any associative function; T is trivially copyable. splitc/collective/reduce.h
// has add, min...
template <class T, class Op>
T all_reduce(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_all({"all_reduce", where}, x, op);
}
template <class T, class Op>
T all_reduce_to_one(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::to_one({"all_reduce_to_one", where}, x, op);
}

// --- Scans. all_scan: op over the values of processes 0 to my_proc(), inclusive. all_exscan: of
// those before this one; `identity` on process 0.
template <class T, class Op>
T all_scan(const T& x, Op op, am::SourceLocation where = am::SourceLocation::current()) {
  return detail::scan({"all_scan", where}, x, op);
}
template <class T, class Op>
T all_exscan(const T& x, Op op, const std::type_identity_t<T>& identity,
             am::SourceLocation where = am::SourceLocation::current()) {
  return detail::exscan({"all_exscan", where}, x, op, identity);
}

// --- Gathering. Everybody's value, by process; T is trivially copyable. With spans each gives
// mine.size() elements, the same number everywhere, and `all` has room for those of all.
template <class T>
std::vector<T> all_gather(const T& x, am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> all(procs(), x);
  detail::gather_bytes({"all_gather", where}, std::as_bytes(std::span(&x, 1)),
                       reinterpret_cast<std::byte*>(all.data()), false);
  return all;
}
template <class T>
void all_gather(std::span<T> mine, std::span<std::remove_const_t<T>> all,
                am::SourceLocation where = am::SourceLocation::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
  detail::check_gathered(all.size(), mine.size(), {"all_gather", where});
  detail::gather_bytes({"all_gather", where}, std::as_bytes(mine),
                       reinterpret_cast<std::byte*>(all.data()), false);
}
// The same to process 0 only; the others get an empty vector, or leave `all` alone.
template <class T>
std::vector<T> all_gather_to_one(const T& x,
                                 am::SourceLocation where = am::SourceLocation::current()) {
  detail::check_value<T>();
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements; gather chars");
  std::vector<T> all(my_proc() == 0 ? procs() : 0, x);
  detail::gather_bytes({"all_gather_to_one", where}, std::as_bytes(std::span(&x, 1)),
                       reinterpret_cast<std::byte*>(all.data()), true);
  return all;
}
template <class T>
void all_gather_to_one(std::span<T> mine, std::span<std::remove_const_t<T>> all,
                       am::SourceLocation where = am::SourceLocation::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
  if (my_proc() == 0) detail::check_gathered(all.size(), mine.size(), {"all_gather_to_one", where});
  detail::gather_bytes({"all_gather_to_one", where}, std::as_bytes(mine),
                       reinterpret_cast<std::byte*>(all.data()), true);
}

// --- All to all: both spans are procs() parts of equal size. Part p of `to` becomes part my_proc()
// of `from` on process p. They do not overlap.
template <class T>
void all_to_all(std::span<T> to, std::span<std::remove_const_t<T>> from,
                am::SourceLocation where = am::SourceLocation::current()) {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
  detail::check_span(from.size(), to.size(), {"all_to_all", where});
  detail::check_parts(to.size(), {"all_to_all", where});
  detail::all_to_all_bytes(std::as_bytes(to), reinterpret_cast<std::byte*>(from.data()),
                           {"all_to_all", where});
}

}  // namespace splitc
