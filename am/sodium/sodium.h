// am/sodium: libsodium, loaded when it is first used: only processes that meet by rendezvous and
// those that talk by datagrams need it. It uses am/types.
#pragma once

#include <cstddef>
#include <span>

namespace am {

// The functions' types are those of <sodium.h>, which have not changed since its version 1.0: so
// building does not need its headers.
struct Sodium {
  static constexpr std::size_t kHashBytes = 32;  // of a hash, and of its key

  // BLAKE2b, with a key or without.
  int (*generichash)(unsigned char* out, std::size_t out_size, const unsigned char* in,
                     unsigned long long in_size, const unsigned char* key, std::size_t key_size);
  // SipHash-2-4, with a key.
  int (*shorthash)(unsigned char* out, const unsigned char* in, unsigned long long in_size,
                   const unsigned char* key);
  void (*random_bytes)(void* out, std::size_t size);
  // 0: equal; the time does not depend on where they differ.
  int (*compare)(const void* one, const void* other, std::size_t size);

  // Any thread. The library stays loaded. Throws Error when it is not installed; the sentence has
  // neither rank nor call.
  static const Sodium& get();

  // The first of the shared libraries `names` that can be loaded. Throws as get() does.
  static Sodium load(std::span<const char* const> names);
};

}  // namespace am
