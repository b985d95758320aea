#include "am/job/bootstrap/rendezvous/proof.h"

#include "am/sodium/sodium.h"

namespace am {
namespace {

static_assert(sizeof(Proof) == Sodium::kHashBytes);

Proof hash(std::span<const std::byte> text, std::span<const std::byte> key) {
  const auto bytes = [](std::span<const std::byte> some) {
    return reinterpret_cast<const unsigned char*>(some.data());
  };
  Proof result;
  Sodium::get().generichash(reinterpret_cast<unsigned char*>(result.data()), result.size(),
                            bytes(text), text.size(), bytes(key), key.size());
  return result;
}

}  // namespace

Nonce random_nonce() {
  Nonce nonce;
  Sodium::get().random_bytes(nonce.data(), nonce.size());
  return nonce;
}

Proof proof_of(std::string_view secret, std::span<const std::byte> text) {
  return hash(text, hash(std::as_bytes(std::span(secret)), {}));
}

bool same_proof(const Proof& a, const Proof& b) {
  return Sodium::get().compare(a.data(), b.data(), a.size()) == 0;
}

}  // namespace am
