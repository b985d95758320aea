#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "am/collective/choice.h"
#include "am/types/types.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"

// What a collective call of some processes is to the library: its name, what it moves, and from
// where to where.

namespace splitc::detail {

// A name of a call, with a number made of it when compiling.
struct CallName {
  consteval CallName(const char* name) : text(name), hash(hash_of(name)) {}
  // A name that is known at run time.
  explicit constexpr CallName(Call call) noexcept : text(call.name), hash(hash_of(call.name)) {}

  static constexpr std::uint64_t hash_of(const char* name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (; *name != '\0'; ++name) {
      hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3;
    }
    return hash;
  }
  const char* text;
  std::uint64_t hash;
};
// A call of the program to a group.
struct GroupCall {
  GroupCall(CallName called, const am::SourceLocation& here) noexcept : name(called), where(here) {}
  explicit GroupCall(Call call) noexcept : name(call), where(call.where) {}
  operator Call() const noexcept { return {name.text, where}; }
  CallName name;
  am::SourceLocation where;
};

// Combines elements by an operation of the program. Nothing is aligned.
struct Combine {
  // `to` becomes `to` op `from`, element by element; or, `before`, `from` op `to`.
  void (*run)(void* op, std::byte* to, const std::byte* from, std::size_t count, bool before);
  void* op;
  std::size_t element;  // bytes
  std::uint64_t kind;   // of element

  void operator()(std::byte* to, const std::byte* from, std::size_t count) const {
    run(op, to, from, count, false);
  }
};

// What a call does. Memory is the caller's until it has ended.
struct GroupPlan {
  bool is_a_barrier() const noexcept {
    return schedule == nullptr && am::schedule::is_a_barrier(call.operation);
  }
  // Whether each member needs something of all others.
  bool needs_all() const noexcept {
    return call.bytes != 0 && am::schedule::is_a_barrier(call.operation);
  }

  am::schedule::Call call;
  std::uint64_t kind = 0;  // what else must agree at all members: type and root
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  const Combine* combine = nullptr;
  const am::schedule::Schedule* schedule = nullptr;  // nullptr: the one that is chosen for `call`
  // Bytes that errors name, instead of those of `call`; they must agree, too.
  std::uint64_t about = 0;
};

// What collective calls need to know of the types that they move and combine.

inline constexpr std::size_t kMostOfValue = 16320;  // bytes

// Refuses, when compiling, what does not mean the same elsewhere.
template <class T>
constexpr void check_value() {
  static_assert(means_the_same<T>,
                "a value travels as bytes: pass a trivially copyable one without addresses (a "
                "struct rather than a std::pair, a global pointer rather than a pointer); the "
                "elements of a container take the form of the call that has a span for the result");
  static_assert(sizeof(T) <= kMostOfValue, "too large for one value; use the form with spans");
}
// Refuses elements that are no plain bytes, when compiling.
template <class T>
constexpr void check_plain() {
  static_assert(std::is_trivially_copyable_v<T>, "collective calls copy plain bytes");
}
// What must agree of the types of elements: their size, and whether they are floating-point, signed
// or others.
template <class T>
constexpr std::uint64_t type_of() noexcept {
  return sizeof(T) << 2 | (std::is_floating_point_v<T> ? 1 : std::is_signed_v<T> ? 2 : 3);
}
template <class T>
T load(const std::byte* from) noexcept {
  alignas(T) std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  return *reinterpret_cast<const T*>(bytes);
}
template <class T>
const std::byte* bytes_of(const T& x) noexcept {
  return reinterpret_cast<const std::byte*>(&x);
}
template <class T>
std::byte* writable_bytes_of(T& x) noexcept {
  return reinterpret_cast<std::byte*>(&x);
}

// What Combine::run does.
template <class T, class Op>
void combine_elements(void* op, std::byte* to, const std::byte* from, std::size_t count,
                      bool before) {
  Op& combine = *static_cast<Op*>(op);
  // Two loops, each of which becomes one of vectors.
  if (before) {
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
      const T sum = static_cast<T>(combine(load<T>(from + at), load<T>(to + at)));
      std::memcpy(to + at, &sum, sizeof sum);
    }
  } else {
    for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
      const T sum = static_cast<T>(combine(load<T>(to + at), load<T>(from + at)));
      std::memcpy(to + at, &sum, sizeof sum);
    }
  }
}
template <class T, class Op>
Combine combine_by(Op& op) noexcept {
  check_value<T>();
  return {&combine_elements<T, Op>, &op, sizeof(T), type_of<T>()};
}

// Throws Error if the spans overlap and are not the `same`.
void check_apart(std::span<const std::byte> a, std::span<const std::byte> b, bool same, Call call);
// Throws Error unless `got`, the size of a span, is `expected`.
void check_span(std::size_t got, std::size_t expected, Call call);

}  // namespace splitc::detail
