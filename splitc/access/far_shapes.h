#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "splitc/access/shape.h"
#include "splitc/access/store.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Gets, puts and stores of shapes of other nodes, in parts of a medium message each. A get asks for
// every part by a request, which says what is in it: the owner gathers that and replies with it. A
// put gathers the parts itself, and each brings along where it goes. So the owner keeps nothing
// between two parts, the credits of the messages hold the sender back, and a get or put is complete
// when all its bytes have been answered. (A store has no answers: its bytes are counted.)

namespace am {
class Endpoint;
}

namespace splitc::detail {

// Of this process.
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

}  // namespace splitc::detail
