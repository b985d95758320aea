#pragma once

#include <cstdint>

#include "splitc/world/place.h"

// Atomics on words of other nodes: a request to the owner, which does it with the processor's own
// instruction. So the same word may be changed from its node and from others at the same time,
// which an atomic of the network hardware would not allow.

namespace am {
class Endpoint;
}

namespace splitc::detail {

enum class AtomicOp : std::uint32_t {
  kAdd,             // a
  kExchange,        // a
  kCompareAndSwap,  // a for b
};

// Does it to the word of 4 or 8 bytes at global pointer `bits`, and waits for the old value. Throws
// Error inside a handler.
std::uint64_t change_far_atomically(AtomicOp op, std::uint64_t bits, std::uint32_t bytes,
                                    std::uint64_t a, std::uint64_t b, Call call);

// Every process does so at the same point among its handlers, whatever program it runs: the index
// of a handler is all that travels.
void add_atomic_handlers(am::Endpoint& endpoint);

}  // namespace splitc::detail
