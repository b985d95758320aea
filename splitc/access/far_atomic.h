#pragma once

#include <cstdint>

#include "splitc/access/word_op.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"

// Atomics on words of other nodes: a request to the owner, which does it with the processor's own
// instruction. So the same word may be changed from its node and from others at the same time,
// which an atomic of the network hardware would not allow.

namespace am {
class Endpoint;
}

namespace splitc::detail {

struct FarAtomic {
  AtomicOp op;
  WordType type;
  std::uint64_t bits;  // a global pointer to the word
  std::uint64_t a;     // see AtomicOp
  std::uint64_t b;
};
// Waits for the old value. Throws Error inside a handler.
std::uint64_t change_far_atomically(const FarAtomic& change, Call call);
// The old value will be in `before`, a word of that type, unless it is nullptr.
handle start_far_atomic(const FarAtomic& change, void* before, Call call);

// Every process does so at the same point among its handlers, whatever program it runs: the index
// of a handler is all that travels.
void add_atomic_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
