// am/sodium: libsodium, loaded when it is first used: only processes that meet by rendezvous and
// those that talk by datagrams need it. It uses am/types.
#pragma once

#include <sodium.h>

#include <span>

namespace am {

struct Sodium {
  decltype(&crypto_generichash) generichash;  // BLAKE2b, with a key or without
  decltype(&crypto_shorthash) shorthash;      // SipHash-2-4, with a key
  decltype(&::randombytes_buf) random_bytes;
  decltype(&sodium_memcmp) compare;  // 0: equal; the time does not depend on where they differ

  // Any thread. The library stays loaded. Throws Error when it is not installed; the sentence has
  // neither rank nor call.
  static const Sodium& get();

  // The first of the shared libraries `names` that can be loaded. Throws as get() does.
  static Sodium load(std::span<const char* const> names);
};

}  // namespace am
