#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/types.h"
#include "splitc/world/elements.h"
#include "splitc/world/place.h"

// How the function, the arguments and the result of a remote call travel: as bytes one after the
// other, each at its alignment, counted from a beginning that has kPackAlignment.

namespace splitc::detail {

inline constexpr std::size_t kPackAlignment = 16;
inline constexpr std::size_t kMaxShortResult = 56;  // bytes: 64 of a message, less the ticket

constexpr std::size_t aligned(std::size_t at, std::size_t alignment) noexcept {
  return (at + alignment - 1) / alignment * alignment;
}

// Whether a T may be an argument or an element of one, and whether only its alignment forbids that.
template <class T>
inline constexpr bool travels = means_the_same<T> && alignof(T) <= kPackAlignment;
template <class T>
inline constexpr bool too_aligned = means_the_same<T> && alignof(T) > kPackAlignment;
#define SPLITPHASE_TOO_ALIGNED \
  "what travels is aligned to 16 bytes at most: copy its members to a struct without alignas"

// Counts bytes.
struct Measure {
  std::size_t bytes = 0;
  constexpr void add(const void*, std::size_t n, std::size_t alignment) noexcept {
    bytes = aligned(bytes, alignment) + n;
  }
};
// Writes them.
struct Packer {
  std::byte* to;
  std::size_t bytes = 0;
  void add(const void* from, std::size_t n, std::size_t alignment) noexcept {
    bytes = aligned(bytes, alignment);
    if (n != 0) std::memcpy(to + bytes, from, n);
    bytes += n;
  }
};

// The T that these bytes are. Not std::bit_cast: for g++ 12 a lambda that captures a constant is
// trivially copyable until the program asks whether it can be assigned, as std::tuple does.
template <class T>
T of_bytes(const std::byte* from) noexcept {
  alignas(T) std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  return *reinterpret_cast<const T*>(bytes.data());
}

// Finds them again.
struct Unpacker {
  const std::byte* from;
  std::size_t bytes = 0;
  const std::byte* take(std::size_t n, std::size_t alignment) noexcept {
    const std::size_t at = aligned(bytes, alignment);
    bytes = at + n;
    return from + at;
  }
  template <class T>
  T value() noexcept {
    return of_bytes<T>(take(sizeof(T), alignof(T)));
  }
};

// Argument<T>: what pack(sink, value) adds, and what the function sees: made by take(unpacker), or,
// in the process that calls, by view(value). If all values of T take as many bytes, these are
// kBytes, at kAlignment.
template <class T>
struct Argument {
  static constexpr bool kRefused = !travels<T>;  // by check_call()
  static constexpr bool kTooAligned = too_aligned<T>;
  using Seen = T;
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kAlignment = alignof(T);

  template <class Sink>
  static constexpr void pack(Sink& sink, const T& value) noexcept {
    sink.add(&value, sizeof value, alignof(T));
  }
  template <class From>
  static T take(From& from) noexcept {
    return from.template value<T>();
  }
  static T view(const T& value) noexcept { return value; }
};

// Elements of contiguous memory, which the function sees where they have arrived.
template <class T>
struct Elements {
  static_assert(!too_aligned<T>, SPLITPHASE_TOO_ALIGNED);
  static_assert(means_the_same<T>,
                "the elements travel as bytes, and addresses mean nothing there");

  template <class Sink>
  static void pack(Sink& sink, const T* first, std::size_t count) noexcept {
    const std::uint64_t n = count;
    sink.add(&n, sizeof n, alignof(std::uint64_t));
    sink.add(first, count * sizeof(T), alignof(T));
  }
  static std::span<const T> take(Unpacker& from) noexcept {
    const auto n = Argument<std::uint64_t>::take(from);
    return {reinterpret_cast<const T*>(from.take(n * sizeof(T), alignof(T))), n};
  }
};

template <class T, std::size_t kExtent>
struct Argument<std::span<T, kExtent>> {
  using Element = std::remove_const_t<T>;
  using Seen = std::span<const Element>;
  template <class Sink>
  static void pack(Sink& sink, std::span<T, kExtent> value) noexcept {
    Elements<Element>::pack(sink, value.data(), value.size());
  }
  static Seen take(Unpacker& from) noexcept { return Elements<Element>::take(from); }
  static Seen view(std::span<T, kExtent> value) noexcept { return value; }
};
template <class C>
struct Argument<std::basic_string_view<C>> {
  using Seen = std::basic_string_view<C>;
  template <class Sink>
  static void pack(Sink& sink, Seen value) noexcept {
    Elements<C>::pack(sink, value.data(), value.size());
  }
  static Seen take(Unpacker& from) noexcept {
    const auto all = Elements<C>::take(from);
    return {all.data(), all.size()};
  }
  static Seen view(Seen value) noexcept { return value; }
};

// Results: nothing, values, vectors and strings of values, and pairs and tuples of these. Short
// values are the arguments of a reply.
template <class T>
struct ResultOf {
  static constexpr bool kRefused = !travels<T>;  // by check_call()
  static constexpr bool kTooAligned = too_aligned<T>;
  static constexpr bool is_long = sizeof(T) > kMaxShortResult;
  static constexpr std::size_t short_bytes = is_long ? 0 : sizeof(T);
  static std::span<const std::byte> bytes(const T& value) noexcept {
    return std::as_bytes(std::span<const T, 1>(&value, 1));
  }
  static T make(std::span<const std::byte> from) noexcept { return of_bytes<T>(from.data()); }
};
template <class Many>
struct ResultOfMany {
  using T = typename Many::value_type;
  static_assert(!too_aligned<T>, SPLITPHASE_TOO_ALIGNED);
  static_assert(means_the_same<T> && !std::is_same_v<T, bool>, "the elements travel as bytes");
  static constexpr bool is_long = true;
  static constexpr std::size_t short_bytes = 0;
  static std::span<const std::byte> bytes(const Many& value) noexcept {
    return std::as_bytes(std::span(value));
  }
  static Many make(std::span<const std::byte> from) {
    Many made(from.size() / sizeof(T), T());
    if (!made.empty()) std::memcpy(made.data(), from.data(), from.size());
    return made;
  }
};
template <class T>
struct ResultOf<std::vector<T>> : ResultOfMany<std::vector<T>> {};
template <class C>
struct ResultOf<std::basic_string<C>> : ResultOfMany<std::basic_string<C>> {};
template <>
struct ResultOf<void> {
  static constexpr bool is_long = false;
  static constexpr std::size_t short_bytes = 0;
};

// What a part of a result adds, with its length before it.
template <class T, class Sink>
void pack_part(Sink& sink, const T& part) {
  const auto bytes = ResultOf<T>::bytes(part);
  Argument<std::uint64_t>::pack(sink, bytes.size());
  sink.add(bytes.data(), bytes.size(), 1);
}
template <class T>
T take_part(Unpacker& from) {
  const auto bytes = Argument<std::uint64_t>::take(from);
  return ResultOf<T>::make({from.take(bytes, 1), bytes});
}
template <class Parts, class... T>
struct ResultOfParts {
  static constexpr bool is_long = true;
  static constexpr std::size_t short_bytes = 0;
  static std::vector<std::byte> bytes(const Parts& value) {
    return std::apply(
        [](const T&... parts) {
          Measure measure;
          (pack_part(measure, parts), ...);
          std::vector<std::byte> packed(measure.bytes);
          Packer packer{packed.data()};
          (pack_part(packer, parts), ...);
          return packed;
        },
        value);
  }
  static Parts make(std::span<const std::byte> from) {
    Unpacker unpacker{from.data()};
    return Parts{take_part<T>(unpacker)...};  // braces: from left to right
  }
};
template <class A, class B>
struct ResultOf<std::pair<A, B>> : ResultOfParts<std::pair<A, B>, A, B> {};
template <class... T>
struct ResultOf<std::tuple<T...>> : ResultOfParts<std::tuple<T...>, T...> {};

// A result as bytes, where the function leaves it, and where its caller finds it.
struct RpcValue {
  RpcValue() noexcept {}  // the short ones are written before they are read

  template <class T>
  void keep(const T& result) {
    auto from = ResultOf<T>::bytes(result);
    if constexpr (std::is_same_v<decltype(from), std::vector<std::byte>>) {
      long_bytes = std::move(from);
    } else if constexpr (ResultOf<T>::is_long) {
      long_bytes.assign(from.begin(), from.end());
    } else {
      short_count = from.size();
      std::memcpy(short_bytes.data(), from.data(), from.size());
    }
  }
  template <class T>
  T get() const {
    if constexpr (ResultOf<T>::is_long) {
      return ResultOf<T>::make(long_bytes);
    } else {
      return ResultOf<T>::make(short_bytes);
    }
  }

  // Where a T may be written, which get() then returns.
  template <class T>
  T& place_of() {
    if constexpr (ResultOf<T>::is_long) {
      long_bytes.resize(sizeof(T));
      return *reinterpret_cast<T*>(long_bytes.data());
    } else {
      return *reinterpret_cast<T*>(short_bytes.data());
    }
  }

  std::size_t short_count = 0;  // of these, that the function has left
  alignas(kPackAlignment) std::array<std::byte, kMaxShortResult> short_bytes;
  std::vector<std::byte> long_bytes;
};

// What can be seen of the captures of a lambda that goes to another process.

// Bytes can be made an object when compiling unless it has a reference or a pointer in it, or a
// union. (The type is trivially copyable.)
template <class F>
concept made_of_bytes = requires {
  typename std::bool_constant<(
      static_cast<void>(__builtin_bit_cast(F, std::array<unsigned char, sizeof(F)>{})), true)>;
};

// Whether a lambda captures something by reference: then it is not of standard layout either, as
// one with a pointer, such as `this`, is. Also true of a captured object of a class with both
// unions or pointers and a mixture of private and public members, or of members of several bases.
template <class F>
inline constexpr bool captures_reference = !std::is_standard_layout_v<F> && !made_of_bytes<F>;

#define SPLITPHASE_NO_REFERENCES                                                               \
  "a lambda that captures by reference ([&], [&x]) cannot run in another process, where that " \
  "address is of something else: capture by value ([=], [x]), and let it return what is to "   \
  "come back. If it captures none: a value with base classes, or with private and public "     \
  "members, and a pointer or union in it, looks the same to the compiler; pass it as an argument"

// In checked builds: says, once for each place, if one of these words is an address of this
// process's stack. That may be meant, of a pointer that only comes back, so it is no Error.
void note_addresses(const void* captures, std::size_t bytes, std::uint32_t proc, Call call);

template <class F>
void check_captures([[maybe_unused]] const F& f, [[maybe_unused]] std::uint32_t proc,
                    [[maybe_unused]] Call call) {
  if constexpr (am::kChecked && std::is_class_v<F> && !std::is_empty_v<F>) {
    if constexpr (!made_of_bytes<F>) note_addresses(&f, sizeof f, proc, call);
  }
}

}  // namespace splitc::detail
