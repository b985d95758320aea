// Two ways of sorting the keys of all processes.
#pragma once

#include <span>

#include "examples/key_sort/exchange.h"

namespace key_sort {

// `keys` are those of this process, as many in each. Returns this process's part of the order of
// all, in memory of `room`. Collective, both.

// By digits of `digit_bits` bits, from the least significant one: for each, all keys go to where
// they are in the order by this digit, and where it is the same in the order that they had. All
// parts have the same size.
std::span<const Key> radix_sort(std::span<const Key> keys, Version version, int digit_bits,
                                Room& room);

// Splitters, taken from samples of all processes, say which process each key belongs to. Keys move
// once, and each process then sorts those that it has got.
std::span<const Key> sample_sort(std::span<const Key> keys, Version version, Room& room);

}  // namespace key_sort
