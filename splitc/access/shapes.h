#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "am/channel/strided.h"
#include "splitc/access/store.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Gets, puts and stores of many elements: what strided.h and indexed.h come to, near and far.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// --- Which bytes an operation takes at either end of it, and copies of these.

// Numbers of 4 or 8 bytes each, which need no alignment.
struct Indices {
  const void* first = nullptr;
  std::size_t count = 0;
  bool wide = false;  // 8

  std::size_t bytes() const noexcept { return count * (wide ? 8 : 4); }
  // Calls f(index), where index(i) is number i, of its own type.
  template <class F>
  auto visit(F&& f) const {
    const auto visit_as = [&]<class Index>(Index) {
      return f([from = static_cast<const std::byte*>(first)](std::size_t i) {
        Index index;
        std::memcpy(&index, from + i * sizeof index, sizeof index);
        return index;
      });
    };
    return wide ? visit_as(std::uint64_t()) : visit_as(std::uint32_t());
  }
};

// Bytes from some first one on, in an order: the rows of an am::Strided; or, if there is a list,
// the rows that it names, which begin at multiples of `row_stride`. `rows` is 0 then, so that
// nothing is left of an empty list.
struct Shape {
  am::Strided strided;
  Indices list;

  // Elements of an array, or rows of `run` bytes at multiples of `stride`.
  static Shape listed(std::uint64_t run, std::uint64_t stride, const Indices& list) noexcept {
    return {{.run = run, .rows = 0, .row_stride = stride}, list};
  }
  static Shape contiguous(std::uint64_t bytes) noexcept {
    return {am::Strided::contiguous(bytes), {}};
  }

  bool is_listed() const noexcept { return list.count != 0; }
  bool is_contiguous() const noexcept { return !is_listed() && strided.is_contiguous(); }
  std::uint64_t bytes() const noexcept {
    return is_listed() ? strided.run * list.count : strided.bytes();
  }
  // From the first byte to behind the last; 0 if there is none. Throws Error if no 64-bit number
  // holds it.
  std::uint64_t extent(Call call) const {
    return is_listed() ? listed_extent(call) : strided.extent();
  }

  // Copies `bytes` bytes from byte `at` of the order on, from or to the shape that begins at
  // `first`.
  void gather(std::byte* to, const std::byte* first, std::uint64_t at, std::uint64_t bytes) const;
  void scatter(std::byte* first, std::uint64_t at, const std::byte* from,
               std::uint64_t bytes) const;

 private:
  std::uint64_t listed_extent(Call call) const;
};

// Copies all bytes of one shape to those of another, which has as many. If one has a list the other
// is contiguous.
void copy(std::byte* to, const Shape& to_shape, const std::byte* from, const Shape& from_shape);

// --- Of other nodes, in parts of a medium message each. A get asks for every part by a request,
// which says what is in it: the owner gathers that and replies with it. A put gathers the parts
// itself, and each brings along where it goes. So the owner keeps nothing between two parts, the
// credits of the messages hold the sender back, and a get or put is complete when all its bytes
// have been answered. (A store has no answers: its bytes are counted.)

// What it takes of this process.
struct LocalShape {
  std::byte* first = nullptr;
  Shape shape;
};

// A shape in the segment of a process of another node.
struct FarShape {
  std::uint32_t proc;
  std::uint64_t offset;  // of its first byte in that process's segment
  Shape shape;
  std::uint32_t index_bytes;  // in messages, of each number of its list; without one 0
  std::uint64_t at = 0;       // byte of the operation's order that its first one is
};
// The bytes of an index of which `largest` is the highest value.
constexpr std::uint32_t index_bytes_up_to(std::uint64_t largest) noexcept {
  return largest >> 32 == 0 ? 4 : 8;
}

// These access all shapes in turn. None is empty, all may be accessed, and `local` has as many
// bytes as they have together. The `local` of a get lives until the handle is complete; that of a
// put or store, and all lists, may be reused on return.
handle far_get(const LocalShape& local, std::span<const FarShape> from, Call call);
handle far_put(std::span<const FarShape> to, const LocalShape& local, Call call);
void far_store(std::span<const FarShape> to, const LocalShape& local, store_counter& counter,
               Call call);

// Every process does so at the same point among its handlers.
void add_shape_handlers(am::Endpoint& endpoint);

// --- Near and far.

// Elements of one process, from a global pointer on.
struct GlobalShape {
  std::uint64_t bits;
  Shape shape;
  std::size_t alignment;  // of an element
};

// The bytes of local elements, which are written if these may be; and all of a span.
template <class T>
std::byte* bytes_at(T* local) noexcept {
  return reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(local));
}
template <class T>
LocalShape local_array(std::span<T> local) noexcept {
  return {bytes_at(local.data()), Shape::contiguous(local.size_bytes())};
}

// `local` has as many bytes, and no list. That of a get lives until the handle is done, that of a
// put or store, and a list, may be reused on return. Each throws Error for bytes outside the
// segment, and, far, inside a handler.
handle get_shape(const LocalShape& local, const GlobalShape& from, Call call);
handle put_shape(const GlobalShape& to, const LocalShape& local, Call call);
void store_shape(const GlobalShape& to, const LocalShape& local, store_counter& counter, Call call);

// An element of another node, and its number in the local array.
struct FarElement {
  std::uint64_t bits;  // a global pointer
  std::uint64_t number;
};
// Gets elements of `element` bytes, of any processes of other nodes; orders the list by
// process. They have been checked by check_far().
handle get_each(std::byte* local, std::span<FarElement> from, std::size_t element, Call call);
handle put_each(std::span<FarElement> to, std::byte* local, std::size_t element, Call call);
void store_each(std::span<FarElement> to, std::byte* local, std::size_t element,
                store_counter& counter, Call call);

// Throws Error unless a call was given as many local elements as global ones.
[[noreturn]] void refuse_sizes(std::uint64_t local, std::uint64_t global, Call call);
inline void check_sizes(std::uint64_t local, std::uint64_t global, Call call) {
  if (local != global) [[unlikely]]
    refuse_sizes(local, global, call);
}

}  // namespace splitc::detail
