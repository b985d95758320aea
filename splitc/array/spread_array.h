// array/ is arrays over all processes: layouts, which are arithmetic only, the memory laid out by
// them, and ranges over it. It may use world/, pointer/, access/ and collective/. Every index has
// one owner, which any process computes without communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "splitc/access/global_ref.h"
#include "splitc/array/global_iterator.h"
#include "splitc/array/layout.h"
#include "splitc/array/owned_range.h"
#include "splitc/pointer/allocate.h"

namespace splitc {
namespace detail {
// Throws Error unless i < n. In release builds, too: its cost is lost beside the divisions that
// find the owner of an element.
[[noreturn]] void refuse_index(std::size_t i, std::size_t n, Call call);
inline void check_index(std::size_t i, std::size_t n, Call call) {
  if (i >= n) [[unlikely]]
    refuse_index(i, n, call);
}
// Throws Error unless an array of blocks of `block` elements is cyclic.
void check_cyclic(std::size_t block, Call call);
// Checks in checked builds only, where the index is all there is to compute with.
inline void check_local_index(std::size_t i, std::size_t n, Call call) {
  if constexpr (am::kChecked) check_index(i, n, call);
}
inline void check_local_proc(std::uint32_t proc, Call call) {
  if constexpr (am::kChecked) {
    if (proc >= procs()) refuse_proc(proc, call);
  }
}
}  // namespace detail

// A one-dimensional array over all processes: Split-C's spread arrays. Zero at first.
//
//   spread_array<double> a(n);                       element i on process i mod procs()
//   spread_array<double> b(n, blocked);              one contiguous part each
//   spread_array<double> c(n, block_cyclic(8));      blocks of 8, assigned in turn
//   spread_array<int> d(procs(), t);                 T D[PROCS]::[t]: a block of t for each
//
//   a[i] = 2 * a[j];   get(x, a[i]);   fetch_and_add(a[i], 1);   for (double& x : a.mine()) ...
//
// The process that owns each of 10 elements, with 3 processes:
//
//   index                0  1  2  3  4  5  6  7  8  9     elements of process 0
//   cyclic               0  1  2  0  1  2  0  1  2  0     0 3 6 9
//   blocked              0  0  0  0  1  1  1  1  2  2     0 1 2 3
//   block_cyclic(2)      0  0  1  1  2  2  0  0  1  1     0 1 6 7
//
// The elements of a process are contiguous in its memory, in this order. So there are three ways to
// go over an array, from the dearest to the cheapest:
//
//   for (std::size_t i = 0; i < a.size(); ++i) sum += a[i];     // every element, wherever it is
//
//   for (std::size_t i : a.my_indices()) a[i] = f(i);           // the own ones, by their index
//
//   std::span<double> mine = a.mine();                          // the own ones, as plain memory
//   for (double& x : mine) x *= 2;
//
// and those of another process are fetched in one piece:
//
//   std::vector<double> copy(a.size_on(p));
//   bulk_get(copy, a.on(p));
//   sync();
//
// An array does not synchronise anything: between the writes of one process and the reads of
// another there is a barrier(). A step of a relaxation on a blocked array, whose ends the
// neighbours write into a second array of procs() blocks of 2:
//
//   spread_array<double> x(n, blocked), ghosts(procs(), 2);
//   const std::uint32_t right = (my_proc() + 1) % procs();
//   const std::uint32_t left = (my_proc() + procs() - 1) % procs();
//   put(ghosts.on(right), x.mine().back());
//   put(ghosts.on(left) + 1, x.mine().front());
//   sync();
//   barrier();
//   relax(x.mine(), ghosts.mine()[0], ghosts.mine()[1]);
//
// Lifetime. Construction and destruction are collective, with the same arguments everywhere; so
// arrays are destroyed in the same order in all processes, as they are at the end of a scope. The
// array owns its memory, out of every process's segment. Destruction begins with a barrier, so what
// processes have completed before it may still use the array; complete gets and puts by sync(), and
// stores by all_store_sync(), before. While an exception propagates the destructor does nothing and
// the memory stays allocated, since the other processes may never reach this call.
//
// Moving an array is local, and leaves one without elements and memory, which may be destroyed or
// assigned to. It cannot be copied.
//
// Costs. Construction: a barrier, and one load or far read of each process's answer. a[i]: a check
// of the index and a few integer divisions that find the owner, then the access itself
// (splitc/access/access.h); mine() and on() are what inner loops use.
//
// Threads and handlers. A thread of the program, outside handlers, constructs and destroys. Any
// thread and handlers may use the rest, which communicates nothing by itself.
//
// Errors. The constructors throw Error, in every process, if one lacks the memory or if they ask
// for different sizes, and if a number of bytes is beyond 64 bits. a[i] throws Error, in every
// build, unless i < size().
template <class T>
class spread_array {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  static_assert(alignof(T) <= detail::kBlockAlign, "segments align arrays to 64 bytes");

 public:
  using value_type = T;

  // `n` elements, laid out as `how` says. Collective.
  explicit spread_array(std::size_t n, layout how = cyclic, am::Here where = {})
      : map_(n, how.block(n, procs()), procs()),
        offset_(detail::all_allocate(
            detail::local_bytes(map_.capacity(), sizeof(T), {"spread_array", where}),
            {"spread_array", where}, n)) {}
  // `blocks` blocks of `block` elements, block k on process k mod procs(): Split-C's
  // T A[blocks]::[block]. Collective.
  spread_array(std::size_t blocks, std::size_t block, am::Here where = {})
      : spread_array(detail::product(blocks, "blocks", block, "elements", {"spread_array", where}),
                     block_cyclic(block), where) {}
  // Collective, unless moved from.
  ~spread_array() {
    if (offset_ != 0) detail::all_free_at_end(offset_, "the end of a spread_array");
  }
  spread_array(const spread_array&) = delete;  // pass a const spread_array<T>&, or std::move(a)
  // Takes the memory over from `other`. Not collective.
  spread_array(spread_array&& other) noexcept
      : map_(std::exchange(other.map_, {})), offset_(std::exchange(other.offset_, 0)) {}
  // Collective if this array owns memory, which it gives back.
  spread_array& operator=(spread_array&& other) noexcept {
    std::swap(map_, other.map_);
    std::swap(offset_, other.offset_);
    spread_array old(std::move(other));
    return *this;
  }

  // Elements of the whole array, and of one block of its layout.
  std::size_t size() const noexcept { return map_.size(); }
  std::size_t block() const noexcept { return map_.block(); }

  // Element i, to be read or written by any process (splitc/access/global_ref.h).
  global_ref<T> operator[](detail::Index i) const {
    return global_ref<T>(pointer(static_cast<std::size_t>(i.value), i.where), 0, i.where);
  }
  // The pointer to element i. Its arithmetic stays on that process: pointer(i) + 1 is the element
  // that lies behind it there, which need not be i + 1.
  global_ptr<T> pointer(std::size_t i, am::Here where = {}) const {
    detail::check_index(i, size(), {"spread_array", where});
    return {map_.owner(i), offset_ + map_.local(i) * sizeof(T)};
  }

  // Index i is at position local(i) among the elements of process owner(i); the inverse is
  // global(proc, l). Arithmetic; i is not checked.
  std::uint32_t owner(std::size_t i) const noexcept { return map_.owner(i); }
  std::size_t local(std::size_t i) const noexcept { return map_.local(i); }
  std::size_t global(std::uint32_t proc, std::size_t l) const noexcept {
    return map_.global(proc, l);
  }

  // The elements of process `proc`, which are contiguous: the pointer to the first, and how many
  // there are, maybe none. For bulk operations. Checked builds throw Error if there is no `proc`.
  global_ptr<T> on(std::uint32_t proc, am::Here where = {}) const {
    detail::check_local_proc(proc, {"spread_array::on", where});
    return {proc, offset_};
  }
  std::size_t size_on(std::uint32_t proc) const noexcept { return map_.size_on(proc); }
  // This process's elements as ordinary memory, valid while the array lives: what on(my_proc())
  // points to, without the cost of a global pointer.
  std::span<T> mine() const noexcept {
    return {reinterpret_cast<T*>(detail::mapped(my_proc(), offset_)), map_.size_on(my_proc())};
  }
  // The global index of each element of mine(), in the same order: a range, to be used in a loop
  // without the cost of global() for each.
  owned_indices my_indices() const noexcept { return {map_, my_proc()}; }
  // The two together: pairs (index, reference to the element). A loop with them is convenient;
  // for_each_mine() (splitc/array/for_each.h) is as fast as a loop over mine().
  owned_elements<T> my_elements() const noexcept { return {my_indices(), mine().data()}; }

  // All elements in the order of their indices, wherever they are, for algorithms of std::ranges
  // (splitc/array/global_iterator.h). The iterators stay valid while the memory lives, also when
  // the array moves.
  using iterator = global_iterator<T, distribution>;
  iterator begin() const noexcept { return {map_, offset_, 0}; }
  iterator end() const noexcept { return {map_, offset_, size()}; }
  // Where the elements begin in each segment, in bytes.
  std::uint64_t offset() const noexcept { return offset_; }
  // Which process owns which element, for that arithmetic without the array.
  const distribution& map() const noexcept { return map_; }

  // Where Split-C's name of an array is a pointer: a + i, and spread_ptr<T> p = a. Throw Error
  // unless the layout is cyclic, as such a pointer goes from process to process.
  friend spread_ptr<T> operator+(const spread_array& a, detail::Index i) {
    detail::check_cyclic(a.block(), {"spread_array", i.where});
    return a.begin_spread() + i.value;
  }
  operator spread_ptr<T>() const { return *this + 0; }
  // A spread pointer to the first element of process 0; null after a move. Its arithmetic goes
  // through the array in order if the layout is cyclic, and only then.
  spread_ptr<T> begin_spread() const noexcept {
    return offset_ == 0 ? spread_ptr<T>() : spread_ptr<T>(0, offset_);
  }

 private:
  distribution map_;
  std::uint64_t offset_;  // in every segment; 0 after a move
};

}  // namespace splitc
