#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "splitc/access/local_elements.h"
#include "splitc/access/store.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Gets, puts and stores of lists: what indexed.h comes to, near and far.

namespace am {
class Endpoint;
}

namespace splitc::detail {

// Elements of one process: number i is `indices` i elements behind a global pointer.
struct GlobalList {
  std::uint64_t bits;
  Indices indices;
  std::size_t element;    // bytes
  std::size_t alignment;  // of an element
};

// `local` has as many elements, one after the other. That of a get lives until the handle is done,
// that of a put or store, and the indices, may be reused on return. Each throws Error for bytes
// outside the segment, and, far, inside a handler.
handle get_list(std::byte* local, const GlobalList& from, Call call);
handle put_list(const GlobalList& to, const std::byte* local, Call call);
void store_list(const GlobalList& to, const std::byte* local, store_counter& counter, Call call);

// An element of another node, and its number in the local array.
struct FarElement {
  std::uint64_t bits;  // a global pointer
  std::uint64_t number;
};
// The same for elements of any processes of other nodes; orders the list by process. They have been
// checked by check_each().
void check_each(std::span<const FarElement> far, std::size_t element, Call call);
handle get_each(std::byte* local, std::span<FarElement> from, std::size_t element, Call call);
handle put_each(std::span<FarElement> to, const std::byte* local, std::size_t element, Call call);
void store_each(std::span<FarElement> to, const std::byte* local, std::size_t element,
                store_counter& counter, Call call);

void add_indexed_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
