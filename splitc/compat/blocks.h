#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "splitc/compat/lvalue.h"
#include "splitc/compat/pointer.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/steps.h"

namespace splitc::compat {

// Lengths of dimensions, the leftmost first.
template <class... N>
std::array<std::size_t, sizeof...(N)> dims(N... n) {
  return {static_cast<std::size_t>(n)...};
}

namespace detail {
// Elements in the dimensions from number `first` up to `last`.
template <std::size_t kN>
std::ptrdiff_t elements(const std::array<std::size_t, kN>& dims, std::size_t first,
                        std::size_t last = kN) noexcept {
  std::size_t product = 1;
  for (std::size_t d = first; d < last; ++d) product *= dims[d];
  return static_cast<std::ptrdiff_t>(product);
}
template <std::size_t kN>
std::array<std::size_t, kN - 1> without_first(const std::array<std::size_t, kN>& dims) noexcept {
  std::array<std::size_t, kN - 1> rest;
  for (std::size_t d = 1; d < kN; ++d) rest[d - 1] = dims[d];
  return rest;
}
}  // namespace detail

// `T (*p)[n]` with any n: a pointer to rows of n elements in memory of this process, such as the
// rows of a tile.
template <class T>
class rows : public splitc::detail::Steps<rows<T>> {
 public:
  rows() = default;
  explicit rows(std::size_t columns) noexcept : columns_(columns) {}
  rows(T* first, std::size_t columns) noexcept : first_(first), columns_(columns) {}
  // Any pointer, as C takes it: `T (*)[n]` of a length that only runs know has no name in C++.
  rows(void* first) noexcept : first_(static_cast<T*>(first)) {}
  template <std::size_t kN>
  rows(T (*first)[kN]) noexcept : first_(*first), columns_(kN) {}
  // What a parameter declares, whatever its argument is.
  void set_dims(std::size_t columns) noexcept { columns_ = columns; }
  // The rows keep their length where they have one.
  rows(const rows& other) = default;
  rows& operator=(const rows& other) noexcept {
    if (columns_ == 0) columns_ = other.columns_;
    first_ = other.first_;
    return *this;
  }

  T* operator[](std::ptrdiff_t row) const noexcept {
    return first_ + row * static_cast<std::ptrdiff_t>(columns_);
  }
  T* operator*() const noexcept { return first_; }
  // sizeof(p[i]).
  std::size_t row_bytes() const noexcept { return columns_ * sizeof(T); }
  // Arithmetic counts rows, all of it: by operator T*() it would count elements.
  friend std::ptrdiff_t operator-(const rows& a, const rows& b) noexcept {
    return (a.first_ - b.first_) / static_cast<std::ptrdiff_t>(std::max(a.columns_, b.columns_));
  }
  rows& operator+=(std::ptrdiff_t n) noexcept {
    first_ = (*this)[n];
    return *this;
  }
  operator T*() const noexcept { return first_; }
  // Converts to `T (*p)[n]` of a constant n.
  template <std::size_t kN>
  using row_of = T[kN];
  template <std::size_t kN>
  operator row_of<kN>*() const noexcept {
    return reinterpret_cast<row_of<kN>*>(first_);
  }

 private:
  T* first_ = nullptr;
  std::size_t columns_ = 0;
};

// The address of `block`, as in &A[i]: for operations on it, and casts; it has no arithmetic.
template <class T>
struct block_address {
  global_ptr<T> at;
  global_ptr<T> address() const noexcept { return at; }
  operator global<T>() const noexcept { return global<T>(at); }
  template <class U>
  explicit operator U*() const noexcept {
    return static_cast<U*>(detail::local_part(at.bits()));
  }
};

// What A[i] of `T A[n]::[b]` is, and X[i][j] of `T X[v][w]::[q][r]`: an array of R dimensions in
// the memory of one process, which turns into a pointer to its first element as arrays do.
template <class T, std::size_t R>
class block {
 public:
  block(global_ptr<T> first, const std::array<std::size_t, R>& dims) : first_(first), dims_(dims) {}
  // Not the default, for the reason given at lvalue: so compilers warn of printf("%s", p->name).
  block(const block& other) noexcept : first_(other.first_), dims_(other.dims_) {}
  block& operator=(const block& other) noexcept = default;

  auto operator[](std::ptrdiff_t n) const {
    if constexpr (R == 1) {
      return lvalue<global<T>>(global<T>(first_ + n));
    } else {
      return block<T, R - 1>((*this + n).first_, detail::without_first(dims_));
    }
  }
  auto operator*() const { return (*this)[0]; }
  block operator+(std::ptrdiff_t n) const {
    return {first_ + n * detail::elements(dims_, 1), dims_};
  }
  block operator-(std::ptrdiff_t n) const { return *this + -n; }

  global_ptr<T> address() const noexcept { return first_; }
  block_address<T> operator&() const noexcept { return {first_}; }
  operator global<T>() const noexcept { return global<T>(first_); }
  detail::snapshot<T> operator->() const { return detail::snapshot<T>(first_); }
  template <class U>
  explicit operator U*() const noexcept {
    return static_cast<U*>(detail::local_part(first_.bits()));
  }
  // sizeof(A[i]).
  std::size_t bytes() const {
    return static_cast<std::size_t>(detail::elements(dims_, 0)) * sizeof(T);
  }
  // This process's part as an ordinary pointer: T*, or of two dimensions its rows.
  auto local() const noexcept requires(R <= 2) {
    T* const first = static_cast<T*>(detail::local_part(first_.bits()));
    if constexpr (R == 1) {
      return first;
    } else {
      return rows<T>(first, dims_[1]);
    }
  }

 private:
  global_ptr<T> first_;
  std::array<std::size_t, R> dims_;
};

// `T A[n]..::[b]..` as a parameter, and what such an array turns into: D dimensions of blocks of R
// dimensions each. Block number k, counted row by row, is on process k mod PROCS, behind the blocks
// with lower numbers there.
template <class T, std::size_t D, std::size_t R>
class blocks {
 public:
  using element_type = T;
  using dimensions = std::array<std::size_t, D + R>;

  blocks() = default;
  // `T (*spread p)[n]..`: a pointer to blocks, null at first.
  explicit blocks(const dimensions& dims) noexcept : dims_(dims) {}
  blocks(global_ptr<T> first, std::ptrdiff_t index, const dimensions& dims) noexcept
      : first_(first), index_(index), dims_(dims) {}
  // A parameter is made of its argument so; the function says by set_dims() what the dimensions
  // are.
  blocks(const spread<T>& p) noexcept : first_(p.address()) {}
  blocks(const spread<void>& p) noexcept : first_(p.address()) {}
  template <std::size_t D2, std::size_t R2>
  requires(D2 != D || R2 != R) blocks(const blocks<T, D2, R2>& p)
  noexcept : first_(p.address()) {}
  void set_dims(const dimensions& dims) noexcept { dims_ = dims; }
  // What was declared stays, and so do the dimensions.
  template <class P>
  requires std::constructible_from<spread<T>, P> blocks& operator=(const P& p) {
    first_ = spread<T>(p).address();
    index_ = 0;
    return *this;
  }

  auto operator[](std::ptrdiff_t n) const {
    const std::ptrdiff_t index = index_ + n * detail::elements(dims_, 1, D);
    if constexpr (D > 1) {
      return blocks<T, D - 1, R>(first_, index, detail::without_first(dims_));
    } else if constexpr (R == 0) {
      return lvalue<spread<T>>(spread<T>(at(index)));
    } else {
      return block<T, R>(at(index), detail::without_first(dims_));
    }
  }
  auto operator*() const { return (*this)[0]; }
  blocks operator+(std::ptrdiff_t n) const {
    return {first_, index_ + n * detail::elements(dims_, 1, D), dims_};
  }
  blocks operator-(std::ptrdiff_t n) const { return *this + -n; }

  global_ptr<T> address() const { return at(index_); }
  // sizeof of the whole array, or of X[i]; 0 where the first dimension is not known.
  std::size_t bytes() const {
    return static_cast<std::size_t>(detail::elements(dims_, 0)) * sizeof(T);
  }
  blocks operator&() const noexcept { return *this; }
  operator spread<T>() const { return spread<T>(address()); }
  operator spread<void>() const { return spread<T>(address()); }
  operator global<T>() const { return global<T>(address()); }
  template <class U>
  explicit operator U*() const {
    return static_cast<U*>(detail::local_part(address().bits()));
  }
  explicit operator bool() const noexcept { return static_cast<bool>(first_); }
  friend bool operator==(const blocks& a, std::nullptr_t) noexcept { return !a.first_; }

 private:
  global_ptr<T> at(std::ptrdiff_t index) const {
    if (!first_) return first_;
    const auto count = static_cast<std::ptrdiff_t>(procs());
    const std::ptrdiff_t from_zero = static_cast<std::ptrdiff_t>(first_.proc()) + index;
    std::ptrdiff_t proc = from_zero % count;
    if (proc < 0) proc += count;
    const std::ptrdiff_t slot = (from_zero - proc) / count;
    return global_ptr<T>(static_cast<std::uint32_t>(proc), first_.offset()) +
           slot * detail::elements(dims_, D);
  }

  global_ptr<T> first_;       // block 0
  std::ptrdiff_t index_ = 0;  // of the block that this points to
  dimensions dims_{};
};

template <class T>
spread<T> operator+(const blocks<T, 1, 0>& p, std::ptrdiff_t n) {
  return spread<T>(p) + n;
}

namespace detail {
// Calls `allocate` now, or, of arrays that are constructed before the job has begun, when it does.
void allocate_in_job(std::function<void()> allocate);
}  // namespace detail
// Collective: allocates the arrays that were defined outside functions, in the order of their
// definition. The start of splitc_main() does this.
void allocate_static_arrays();

// The array that `T A[n]..::[b]..` defines. In a function its construction and destruction are
// collective; outside functions, or if it is `static`, it lives until the program ends. Zero at
// first. Throws Error as all_spread_malloc.
template <class T, std::size_t D, std::size_t R>
class spread_blocks : public blocks<T, D, R> {
 public:
  // `dims()` gives the dimensions, in the job: they may depend on PROCS.
  template <class Dims>
  explicit spread_blocks(Dims dims) {
    detail::allocate_in_job([this, dims] { allocate(dims()); });
  }
  ~spread_blocks() {
    if (offset_ != 0) splitc::detail::all_free_at_end(offset_, kCall);
  }
  spread_blocks(const spread_blocks&) = delete;
  spread_blocks& operator=(const spread_blocks&) = delete;

 private:
  static constexpr const char* kCall = "a spread array";

  void allocate(const std::array<std::size_t, D + R>& dims) {
    const auto count = static_cast<std::size_t>(detail::elements(dims, 0, D));
    const auto block_bytes = static_cast<std::size_t>(detail::elements(dims, D)) * sizeof(T);
    const std::uint64_t bytes = splitc::detail::spread_bytes(count, block_bytes, kCall);
    offset_ = splitc::detail::all_allocate(bytes, kCall, count);
    static_cast<blocks<T, D, R>&>(*this) = blocks<T, D, R>(global_ptr<T>(0, offset_), 0, dims);
  }

  std::uint64_t offset_ = 0;  // in every segment; 0 until it is allocated
};

// The local part of A[i] or X[i][j]: T*, or the rows of a tile.
template <class T, std::size_t R>
auto tolocal(const block<T, R>& b) noexcept {
  return b.local();
}
template <class T>
T* tolocal(const block_address<T>& a) noexcept {
  return static_cast<T*>(a);
}
template <class T, std::size_t D, std::size_t R>
T* tolocal(const blocks<T, D, R>& p) {
  return static_cast<T*>(p);
}

}  // namespace splitc::compat
