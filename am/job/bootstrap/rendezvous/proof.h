// How two processes show one another that they know the same secret without sending it: each sends
// a keyed hash of what was said. Hash, random numbers and comparison are libsodium's.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace am {

using Proof = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 16>;  // a random number that is used once

// The functions below throw Error when libsodium is not installed.

Nonce random_nonce();

// BLAKE2b of `text` under the key that is BLAKE2b of `secret`, which may have any length: 32 bytes
// each.
Proof proof_of(std::string_view secret, std::span<const std::byte> text);

// Whether they are equal, in a time that does not depend on where they differ.
bool same_proof(const Proof& a, const Proof& b);

}  // namespace am
