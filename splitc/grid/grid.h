// grid/ is grids of cells over all processes, each with a block and copies of the cells around it.
// It may use world/, pointer/, access/ and collective/, and the channels of am/.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/access/global_ref.h"
#include "splitc/grid/grid_memory.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/world/steps.h"

namespace splitc {

// A cell, by one number for each dimension; `auto [i, j] = index` takes it apart.
template <std::size_t D>
using grid_index = std::array<std::ptrdiff_t, D>;

// The cells from `first` to before `last` in every dimension: a line, a rectangle, a cuboid. Plain
// numbers; any thread.
//
//   for (auto [i, j] : box) ...                  a range of input iterators, row by row
//   box.for_each([](auto i, auto j) { ... });    the same cells, in nested loops: faster
template <std::size_t D>
struct grid_box {
  static_assert(D >= 1 && D <= 3, "grids have one, two or three dimensions");

  grid_index<D> first{};
  grid_index<D> last{};

  // Goes over the cells; the last index changes fastest.
  class iterator : public detail::InputIterator<iterator, grid_index<D>> {
   public:
    using detail::InputIterator<iterator, grid_index<D>>::operator++;

    iterator() = default;
    iterator(const grid_box& box, const grid_index<D>& at) noexcept : box_(box), at_(at) {}
    grid_index<D> operator*() const noexcept { return at_; }
    iterator& operator++() noexcept {
      for (std::size_t d = D - 1; d > 0; --d) {
        if (++at_[d] < box_.last[d]) return *this;
        at_[d] = box_.first[d];
      }
      ++at_[0];
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }

   private:
    grid_box box_;
    grid_index<D> at_{};
  };

  iterator begin() const noexcept { return {*this, empty() ? end_index() : first}; }
  iterator end() const noexcept { return {*this, end_index()}; }

  // Cells along dimension `d`, at least 0, and of all of it.
  std::size_t length(std::size_t d) const noexcept {
    return last[d] > first[d] ? static_cast<std::size_t>(last[d] - first[d]) : 0;
  }
  std::size_t size() const noexcept {
    std::size_t cells = 1;
    for (std::size_t d = 0; d < D; ++d) cells *= length(d);
    return cells;
  }
  bool empty() const noexcept { return size() == 0; }
  bool contains(const grid_index<D>& at) const noexcept {
    for (std::size_t d = 0; d < D; ++d) {
      if (at[d] < first[d] || at[d] >= last[d]) return false;
    }
    return true;
  }
  friend bool operator==(const grid_box&, const grid_box&) = default;

  // Calls f(i), f(i, j) or f(i, j, k) for every cell, in the same order.
  template <class F>
  void for_each(F&& f) const {
    for_each_row([&](auto... outer) {
      for (std::ptrdiff_t k = first[D - 1]; k < last[D - 1]; ++k) f(outer..., k);
    });
  }
  // Calls f(), f(i) or f(i, j) for every row: all but the last index.
  template <class F>
  void for_each_row(F&& f) const {
    if constexpr (D == 1) {
      f();
    } else {
      for (std::ptrdiff_t i = first[0]; i < last[0]; ++i) {
        if constexpr (D == 2) {
          f(i);
        } else {
          for (std::ptrdiff_t j = first[1]; j < last[1]; ++j) f(i, j);
        }
      }
    }
  }

 private:
  grid_index<D> end_index() const noexcept {
    grid_index<D> end = first;
    if (end[0] < last[0]) end[0] = last[0];
    return end;
  }
};

// How a grid is cut and continued.
template <std::size_t D>
struct grid_options {
  std::size_t ghosts = 1;          // cells that each process has of its neighbours' blocks
  bool corners = false;            // also those at edges and corners, for stencils that
                                   // go in two directions at once
  std::array<bool, D> periodic{};  // by dimension: whether the ends are neighbours
  std::array<std::uint32_t, D> processes{};  // along each dimension; 0: chosen (.processes() says)
};

// A grid of cells in one, two or three dimensions over all processes. Each has one dense block of
// it, as even as can be, and around it ghost cells: copies of the cells that its neighbours have
// there. exchange() refreshes them. Zero at first, ghosts included.
//
//   grid<double, 2> u({rows, columns}), next({rows, columns});
//   u.for_each([&](auto i, auto j, double& x) { x = f(u.first(0) + i, u.first(1) + j); });
//   for (int step = 0; step < steps; ++step) {
//     u.exchange();
//     next.for_each([&](auto i, auto j, double& x) {
//       x = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
//     });
//     std::swap(u, next);
//   }
//
// Cells are named as this process sees them: u(0, 0) is the first cell of its own block,
// u(size(0) - 1, size(1) - 1) the last; with ghosts 1, u(-1, j) and u(size(0), j) are ghosts. In
// the whole grid u(i, j) is cell (first(0) + i, first(1) + j). Blocks are in memory row by row, the
// last dimension contiguous, in the segment; row(i) + j is where u(i, j) is.
//
// Overlap. What needs no ghosts may be computed while they are in flight:
//
//   u.start_exchange();
//   next.for_each(u.inner(), stencil);                       // needs no ghosts
//   u.finish_exchange();
//   for (const auto& part : u.edges()) next.for_each(part, stencil);
//
// The ghosts beyond an end of the grid that is not periodic have no neighbour. An exchange leaves
// them alone: they are the program's, for boundary values. Without .corners the ghosts that are
// beyond a block in two dimensions are left alone, too.
//
// Synchronisation. An exchange with the neighbours is all there is: no barrier, neither between two
// exchanges nor around them. Processes may be one exchange apart, and a neighbour that is ahead
// does not change ghosts in use. So the values are those of a serial program, to the last bit.
// Every process makes the same exchanges of one grid in the same order.
//
// Cost. An exchange is, for each side of the block (2 D, with corners up to 3^D - 1), one put on a
// channel (splitc/channel/channel.h): on a node one copy of the cells of that side, between nodes
// one RMA write where the cells are contiguous, else packets; and at the receiver one more copy, to
// the ghosts. Memory: the block, and twice the cells that it receives.
//
// Constructing and destroying are collective: two barriers and a read of each neighbour's answer;
// one barrier. Moving and swapping grids is not, and costs a few words. Thread rule: the thread
// that has made it, outside handlers; plain accesses to cells, any thread.
//
// Errors. The constructor throws Error, in every process, if the processes cannot be arranged so
// that each has at least `ghosts` cells along each dimension, if one lacks the memory, or if they
// ask for different grids. Checked builds refuse cells that a block does not have.
template <class T, std::size_t D>
class grid {
  static_assert(std::is_trivially_copyable_v<T>, SPLITPHASE_PLAIN_BYTES);
  static_assert(alignof(T) <= 64, "segments align grids to 64 bytes");
  static_assert(D >= 1 && D <= 3, "grids have one, two or three dimensions");

 public:
  using value_type = T;
  using index = grid_index<D>;
  using box = grid_box<D>;

  // `cells` of the whole grid along each dimension. Collective.
  explicit grid(const std::array<std::size_t, D>& cells, const grid_options<D>& how = {},
                am::Here where = {})
      : memory_(new detail::GridMemory(detail::GridRequest{cells, how.periodic, how.processes,
                                                           how.ghosts, how.corners, sizeof(T)},
                                       detail::Call("grid", where))),
        origin_(reinterpret_cast<T*>(memory_->origin())) {
    for (std::size_t d = 0; d < D; ++d) stride_[d] = memory_->mine().stride[d];
  }

  // --- What this process has. `d` is a dimension, less than D.

  // Own cells along it; and which cell of the whole grid cell 0 is.
  std::ptrdiff_t size(std::size_t d) const noexcept {
    return static_cast<std::ptrdiff_t>(memory_->mine().size[d]);
  }
  std::size_t first(std::size_t d) const noexcept { return axis(d).begin(place(d)); }
  // Cells of the whole grid, and processes, along it; and this one's place among them.
  std::size_t cells(std::size_t d) const noexcept { return axis(d).cells; }
  std::uint32_t processes(std::size_t d) const noexcept { return axis(d).parts; }
  std::uint32_t place(std::size_t d) const noexcept { return memory_->whole().place(my_proc(), d); }
  std::size_t ghosts() const noexcept { return memory_->ghosts(); }
  // The process so many blocks, -1 to 1, away along each dimension, perhaps this one; none beyond
  // an end of the grid. neighbour({-1, 0}) is the one before this in the first dimension.
  std::optional<std::uint32_t> neighbour(const std::array<int, D>& direction) const noexcept {
    const std::uint32_t proc = memory_->whole().neighbour(my_proc(), direction);
    return proc == detail::kNoProc ? std::nullopt : std::optional(proc);
  }

  // --- Cells of this block, as ordinary memory, valid while the grid lives.

  // Cell (i), (i, j) or (i, j, k), own or ghost.
  template <std::integral... I>
  requires(sizeof...(I) == D) T& at(I... i) const {
    const index cell{static_cast<std::ptrdiff_t>(i)...};
    if constexpr (am::kChecked) check(cell);
    return origin_[place_of(cell)];
  }
  template <std::integral... I>
  requires(sizeof...(I) == D) T& operator()(I... i) const { return at(i...); }
  T& operator[](const index& cell) const {
    if constexpr (am::kChecked) check(cell);
    return origin_[place_of(cell)];
  }
  // Cell 0 of a row: of all dimensions but the last, whose cells are contiguous.
  template <std::integral... I>
  requires(sizeof...(I) == D - 1) T* row(I... i) const { return &at(i..., 0); }
  // Elements from a cell to the next one along a dimension; 1 for the last.
  std::ptrdiff_t stride(std::size_t d) const noexcept { return stride_[d]; }

  // --- Parts of the block.

  box own() const noexcept { return within(0); }
  // The own cells that have no ghost within ghosts() in any direction.
  box inner() const noexcept {
    box part = own();
    for (std::size_t d = 0; d < D; ++d) std::tie(part.first[d], part.last[d]) = inner(d);
    return part;
  }
  // The others of the own cells, in boxes that have no cell in common.
  std::vector<box> edges() const;
  // The ghosts: those of each side that an exchange refreshes or would refresh if there was a
  // neighbour; without corners.
  std::vector<box> halo() const;
  // All cells, ghosts and corners included.
  box all() const noexcept { return within(static_cast<std::ptrdiff_t>(ghosts())); }

  // Calls f(i, x), f(i, j, x) or f(i, j, k, x) for the own cells, or those of a part; x is a T&.
  // The innermost loop goes over a row with a counter, and is vectorised where f allows.
  template <class F>
  void for_each(F&& f) const {
    for_each(own(), f);
  }
  template <class F>
  void for_each(const box& part, F&& f) const {
    if (part.empty()) return;
    if constexpr (am::kChecked) {
      check(part.first);
      index end = part.last;
      for (std::ptrdiff_t& i : end) --i;
      check(end);
    }
    part.for_each_row([&](auto... outer) {
      T* const row = origin_ + place_of({outer..., 0});
      const std::ptrdiff_t last = part.last[D - 1];
      for (std::ptrdiff_t k = part.first[D - 1]; k < last; ++k) f(outer..., k, row[k]);
    });
  }

  // --- Exchanges.

  // Refreshes the ghosts: start_exchange() and finish_exchange(). Collective among neighbours.
  void exchange(am::Here where = {}) {
    memory_->halo().start({"grid::exchange", where});
    memory_->halo().finish({"grid::exchange", where});
  }
  // Sends the outermost own cells to the neighbours, and does not wait. Until finish_exchange() the
  // cells of edges() are not written, and ghosts neither read nor written. Throws Error if an
  // exchange has been started already.
  void start_exchange(am::Here where = {}) {
    memory_->halo().start({"grid::start_exchange", where});
  }
  // Waits, polling, until the cells of all neighbours are here and the own ones have left, and puts
  // them into the ghosts. Throws Error if none was started, and in a handler.
  void finish_exchange(am::Here where = {}) {
    memory_->halo().finish({"grid::finish_exchange", where});
  }
  // Whether finish_exchange() would not wait. Does not poll.
  bool exchanged() const noexcept { return memory_->halo().complete(); }

  // --- Cells of the whole grid, in any block, with the synchronisation that the program sees to.

  // The process that owns a cell, which exists; and the pointer to it, which throws Error if it
  // does not. Costs some integer divisions.
  std::uint32_t owner(const std::array<std::size_t, D>& cell) const noexcept {
    return memory_->owner(cell);
  }
  global_ptr<T> pointer(const std::array<std::size_t, D>& cell, am::Here where = {}) const {
    return global_ptr<T>::from_bits(memory_->bits_of_cell(cell, {"grid::pointer", where}));
  }

 private:
  const detail::Axis& axis(std::size_t d) const noexcept { return memory_->whole().axis(d); }
  std::ptrdiff_t place_of(const index& cell) const noexcept {
    std::ptrdiff_t place = cell[D - 1];
    for (std::size_t d = 0; d + 1 < D; ++d) place += cell[d] * stride_[d];
    return place;
  }
  void check(const index& cell) const {
    if (all().contains(cell)) [[likely]]
      return;
    detail::refuse_cell(cell, memory_->mine().size, ghosts(), "grid");
  }
  // The block with so many cells more at each side.
  box within(std::ptrdiff_t more) const noexcept {
    box part;
    for (std::size_t d = 0; d < D; ++d) {
      part.first[d] = -more;
      part.last[d] = size(d) + more;
    }
    return part;
  }
  // Where inner() begins and ends along a dimension.
  std::pair<std::ptrdiff_t, std::ptrdiff_t> inner(std::size_t d) const noexcept {
    const auto width = static_cast<std::ptrdiff_t>(ghosts());
    const std::ptrdiff_t begin = width < size(d) ? width : size(d);
    const std::ptrdiff_t end = size(d) - width;
    return {begin, begin < end ? end : begin};
  }

  am::Owned<detail::GridMemory> memory_;
  T* origin_;  // the first own cell
  index stride_{};
};

template <class T, std::size_t D>
std::vector<grid_box<D>> grid<T, D>::edges() const {
  std::vector<box> parts;
  box rest = own();  // dimension by dimension: its two sides, and then what is between them
  for (std::size_t d = 0; d < D; ++d) {
    const auto [begin, end] = inner(d);
    box low = rest, high = rest;
    low.last[d] = begin;
    high.first[d] = end;
    if (!low.empty()) parts.push_back(low);
    if (!high.empty()) parts.push_back(high);
    rest.first[d] = begin;
    rest.last[d] = end;
  }
  return parts;
}

template <class T, std::size_t D>
std::vector<grid_box<D>> grid<T, D>::halo() const {
  std::vector<box> parts;
  if (ghosts() == 0) return parts;
  for (std::size_t d = 0; d < D; ++d) {
    box low = own(), high = own();
    low.last[d] = 0;
    low.first[d] = -static_cast<std::ptrdiff_t>(ghosts());
    high.first[d] = size(d);
    high.last[d] = size(d) + static_cast<std::ptrdiff_t>(ghosts());
    parts.push_back(low);
    parts.push_back(high);
  }
  return parts;
}

}  // namespace splitc
