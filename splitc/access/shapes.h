#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "splitc/access/shape.h"
#include "splitc/access/store.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Gets, puts and stores of many elements: what strided.h and indexed.h come to, near and far.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// --- Of other nodes, in parts of a medium message each. A get asks for
// every part by a request, which says what is in it: the owner gathers that and replies with it. A
// put gathers the parts itself, and each brings along where it goes. So the owner keeps nothing
// between two parts, the credits of the messages hold the sender back, and a get or put is complete
// when all its bytes have been answered. (A store has no answers: its bytes are counted.)

// What it takes of this process.
struct LocalShape {
  std::byte* first = nullptr;
  Shape shape;
};

// Of a process of another node.
struct FarShape {
  std::uint32_t proc;
  std::uint64_t offset;  // of its first byte in that process's segment
  Shape shape;
  std::uint32_t index_bytes;  // in messages, of each number of its list; without one 0
  std::uint64_t at = 0;       // byte of the operation's order that its first one is
};
// Of numbers up to this one.
constexpr std::uint32_t index_bytes_up_to(std::uint64_t largest) noexcept {
  return largest >> 32 == 0 ? 4 : 8;
}

// Of all shapes, one after the other, which are not empty and may be accessed. `local` has as many
// bytes. That of a get lives until the handle is done, that of a put or store, and all lists, may
// be reused on return.
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
