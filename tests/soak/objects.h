// Objects of several sizes, for operations that are templates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/soak/content.h"

namespace soak {

template <std::size_t kBytes, std::size_t kAlignment>
struct alignas(kAlignment) Object {
  std::byte bytes[kBytes];
};

// What the content of `key` begins with.
template <class T>
T object_of(std::uint64_t key) noexcept {
  T object;
  fill(std::as_writable_bytes(std::span(&object, 1)), key);
  return object;
}

inline constexpr std::uint32_t kObjectTypes = 8;

// Calls f.operator()<T>() for object type number `type`.
template <class F>
decltype(auto) with_object(std::uint32_t type, F&& f) {
  switch (type) {
    case 0: return f.template operator()<Object<1, 1>>();
    case 1: return f.template operator()<Object<2, 2>>();
    case 2: return f.template operator()<Object<4, 4>>();
    case 3: return f.template operator()<Object<8, 8>>();
    case 4: return f.template operator()<Object<3, 1>>();
    case 5: return f.template operator()<Object<16, 8>>();
    case 6: return f.template operator()<Object<40, 8>>();
    default: return f.template operator()<Object<100, 4>>();
  }
}

struct ObjectSize {
  std::uint64_t bytes;
  std::uint64_t alignment;
};
inline ObjectSize object_size(std::uint32_t type) {
  return with_object(type, []<class T>() { return ObjectSize{sizeof(T), alignof(T)}; });
}

}  // namespace soak
