// How two processes show one another that they know the same secret without sending it: each sends
// HMAC-SHA-256 (RFC 2104, FIPS 180-4) of what was said, under the secret. It is written out here
// because it takes a page, and a library of ciphers for one hash would be a dependency of every
// program. A weaker keyed hash of 64 bits, such as SipHash, would want a key of 128 random bits,
// which the secret, words that a person chose, is not.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace am {

using Proof = std::array<std::byte, 32>;

Proof sha256(std::span<const std::byte> text);

// HMAC-SHA-256 of `text` under `secret`, which may have any length.
Proof proof_of(std::string_view secret, std::span<const std::byte> text);

// Whether they are equal, in a time that does not depend on where they differ.
bool same_proof(const Proof& a, const Proof& b);

}  // namespace am
