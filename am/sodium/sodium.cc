#include "am/sodium/sodium.h"

#include <dlfcn.h>

#include <string>

#include "am/types/types.h"

namespace am {
namespace {

// Debian's, then that of libsodium 1.0.19 and later. The functions used here are the same.
constexpr const char* kNames[] = {"libsodium.so.23", "libsodium.so.26"};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(
      "processes prove with libsodium that they belong to a job (at a rendezvous, and in "
      "datagrams), and it " +
      why + "; install it (Debian: libsodium23) on every machine of the job");
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) refuse(std::string("has no function ") + name + " here");
}

}  // namespace

Sodium Sodium::load(std::span<const char* const> names) {
  void* handle = nullptr;
  std::string why;
  for (const char* const name : names) {
    if (handle != nullptr) break;
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr && why.empty()) why = dlerror();
  }
  if (handle == nullptr) refuse("cannot be loaded (" + why + ")");
  Sodium library{};
  int (*init)() = nullptr;
  find(handle, "sodium_init", init);
  find(handle, "crypto_generichash", library.generichash);
  find(handle, "crypto_shorthash", library.shorthash);
  find(handle, "randombytes_buf", library.random_bytes);
  find(handle, "sodium_memcmp", library.compare);
  if (init() < 0) refuse("cannot start: the system gives it no random numbers");
  return library;
}

const Sodium& Sodium::get() {
  static const Sodium library = load(kNames);
  return library;
}

}  // namespace am
