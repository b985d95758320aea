#pragma once

#include <cstddef>
#include <cstdint>

#include "am/channel/strided.h"
#include "splitc/access/local_elements.h"
#include "splitc/access/store.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Gets, puts and stores of shapes: what strided.h comes to, near and far.

namespace am {
class Endpoint;
}

namespace splitc::detail {

class PieceSender;
class PiecesStart;

// Elements of one process, from a global pointer on.
struct GlobalShape {
  std::uint64_t bits;
  am::Strided shape;
  std::size_t alignment;  // of an element
};

// `local` has as many bytes. That of a get lives until the handle is done, that of a put or store
// may be reused on return. Each throws Error for bytes outside the segment, and, far, inside a
// handler.
handle get_shape(const LocalElements& local, const GlobalShape& from, Call call);
handle put_shape(const GlobalShape& to, const LocalElements& local, Call call);
void store_shape(const GlobalShape& to, const LocalElements& local, store_counter& counter,
                 Call call);

// Pieces of one shape of another node, each with a message of its own. `to` and `at`: byte of the
// order of `local` that byte 0 of the shape is.
struct FarShape {
  std::uint32_t proc;
  std::uint64_t offset;
  am::Strided shape;
};
void send_get_pieces(PiecesStart& start, const FarShape& from, std::uint64_t at, Call call);
void send_put_pieces(PiecesStart& start, const FarShape& to, const LocalElements& local,
                     std::uint64_t at, Call call);
void send_store_pieces(PieceSender& sender, const FarShape& to, const LocalElements& local,
                       std::uint64_t at, store_counter& counter, Call call);

// Throws Error unless the `bytes` from `bits` on, of which an operation moves `moved`, may be
// accessed from here: see GlobalShape.
void check_extent(std::uint64_t bits, std::uint64_t bytes, std::uint64_t moved,
                  std::size_t alignment, Call call);

void add_strided_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
