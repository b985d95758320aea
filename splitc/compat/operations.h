#pragma once

#include <cstddef>

#include "am/types/types.h"
#include "splitc/access/bulk.h"
#include "splitc/compat/blocks.h"
#include "splitc/compat/lvalue.h"
#include "splitc/compat/pointer.h"
#include "splitc/rpc/atomic.h"
#include "splitc/world/world.h"

// Split-C's library on the pointers of this room: any of global<T>, spread<T>, A[i] of an array in
// blocks, an lvalue that holds a pointer, and a local pointer into this process's segment. The
// contracts are those of the functions with the same names in splitc/access.

namespace splitc::compat {

namespace detail {
template <addressed X>
auto native(const X& x) {
  return x.address();
}
template <class T>
global_ptr<T> native(T* local) {
  return splitc::toglobal(local);
}
template <class P>
auto native(const lvalue<P>& p) {
  return native(p.value());
}
}  // namespace detail

// What names memory that operations can go to.
template <class X>
concept names_memory = requires(const X& x) {
  detail::native(x);
};

template <names_memory From>
void bulk_read(void* local, const From& from, std::size_t bytes, am::Here where = {}) {
  splitc::bulk_read(local, detail::native(from), bytes, where);
}
template <names_memory To>
void bulk_write(const To& to, const void* local, std::size_t bytes, am::Here where = {}) {
  splitc::bulk_write(detail::native(to), local, bytes, where);
}
template <names_memory From>
void bulk_get(void* local, const From& from, std::size_t bytes, am::Here where = {}) {
  splitc::bulk_get(local, detail::native(from), bytes, where);
}
template <names_memory To>
void bulk_put(const To& to, const void* local, std::size_t bytes, am::Here where = {}) {
  splitc::bulk_put(detail::native(to), local, bytes, where);
}
template <names_memory To>
void bulk_store(const To& to, const void* local, std::size_t bytes, am::Here where = {}) {
  splitc::bulk_store(detail::native(to), local, bytes, store_counter::default_counter(), where);
}
// A bulk_store whose caller leaves `local` unchanged until the bytes have been counted. Here
// the same operation, which asks for less: it makes no copy that this could leave out (near, the
// caller writes to the target; far, above 4 KiB, the network reads `local`), and programs of
// Split-C have no call by which they would wait for the source alone.
template <names_memory To>
void bulk_store_nocopy(const To& to, const void* local, std::size_t bytes, am::Here where = {}) {
  compat::bulk_store(to, local, bytes, where);
}

// Atomics make progress first where some processes are on other nodes, as every communication of
// Split-C did: a process that spins on a lock of its own node has to serve the far process that is
// about to release it. (In handlers, which may not poll, and in other threads they do not.)
inline void make_progress() {
  if (!splitc::detail::has_far_peers() || splitc::detail::this_context == nullptr) return;
  if (!am::Bundle::handling()) splitc::detail::poll_bundles();
}

template <names_memory P>
auto fetch_and_add(const P& p, auto x, am::Here where = {}) {
  make_progress();
  return splitc::fetch_and_add(detail::native(p), x, where);
}
template <names_memory P>
auto exchange(const P& p, auto x, am::Here where = {}) {
  make_progress();
  return splitc::exchange(detail::native(p), x, where);
}
template <names_memory P>
auto cmp_and_swap(const P& p, auto expected, auto desired, am::Here where = {}) {
  make_progress();
  return splitc::cmp_and_swap(detail::native(p), expected, desired, where);
}
template <names_memory P>
auto test_and_set(const P& p, am::Here where = {}) {
  make_progress();
  return splitc::test_and_set(detail::native(p), where);
}

namespace detail {
// A function of C, whose first argument is a pointer, as splitc::atomic() runs functions.
template <auto kFunction, class Function = decltype(kFunction)>
struct by_reference;
template <auto kFunction, class R, class T, class... A>
struct by_reference<kFunction, R (*)(T*, A...)> {
  static R call(T& object, A... arguments) { return kFunction(&object, arguments...); }
};
}  // namespace detail

// atomic(function, p, arguments..), which splitc2cc writes atomic<&function>(p, arguments..): runs
// function(local part of p, arguments..) in the process of p.
template <auto kFunction, names_memory P>
auto atomic(const P& p, const auto&... arguments) {
  return splitc::atomic<&detail::by_reference<kFunction>::call>(detail::native(p), arguments...);
}

// Runs the handlers of what has arrived for this process, and serves other nodes: for loops that
// only read memory until another process changes it.
inline void splitc_poll() { poll(); }  // tasks go on

// Collective: element i of `count`, of `bytes` bytes, on process i mod PROCS; zero at first. Never
// NULL: where the memory is not there the job ends with a sentence that says how much there is.
inline spread<void> all_spread_malloc(std::size_t count, std::size_t bytes, am::Here where = {}) {
  return spread<void>(splitc::all_spread_malloc(count, bytes, where));
}
// Collective: gives it back.
template <addressed P>
void all_spread_free(const P& p, am::Here where = {}) {
  const auto first = p.address();
  if (first) splitc::all_spread_free(spread_ptr<char>(first.proc(), first.offset()), where);
}

// malloc() and its like of translated programs: the memory is in this process's segment, so that it
// has global addresses, as all memory had. If the segment is full, or before splitc_main(), it is
// the C library's, which has none. Each is otherwise as the function of C; free and realloc take
// memory of the C library, too. A thread of the program, handlers included; the C library's own
// free() and realloc() may not be given memory of the segment.
//
// The segment goes with the job. In a handler of atexit(), which runs after it, free of such memory
// does nothing, and realloc gives NULL.

void* c_malloc(std::size_t bytes) noexcept;
void* c_calloc(std::size_t count, std::size_t bytes) noexcept;
void* c_realloc(void* p, std::size_t bytes) noexcept;
void c_free(void* p) noexcept;

}  // namespace splitc::compat
