#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

// How the function, the arguments and the result of a remote call travel: as bytes one after the
// other, each at its alignment, counted from a beginning that has kPackAlignment.

namespace splitc::detail {

inline constexpr std::size_t kPackAlignment = 16;
inline constexpr std::size_t kMaxShortResult = 56;  // bytes: 64 of a message, less the ticket

constexpr std::size_t aligned(std::size_t at, std::size_t alignment) noexcept {
  return (at + alignment - 1) / alignment * alignment;
}

// Whether a T means the same in another process, as far as that can be seen: it is no address, and
// refers to nothing by one.
template <class T>
inline constexpr bool travels =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
    !std::is_array_v<T> && alignof(T) <= kPackAlignment;
template <class T>
inline constexpr bool travels<std::reference_wrapper<T>> = false;
template <class T>
inline constexpr bool travels<std::initializer_list<T>> = false;
template <class T, std::size_t kExtent>
inline constexpr bool travels<std::span<T, kExtent>> = false;
template <class C>
inline constexpr bool travels<std::basic_string_view<C>> = false;
template <class T>
inline constexpr bool travels<std::optional<T>> = std::is_trivially_copyable_v<T>&& travels<T>;
template <class T, std::size_t kCount>
inline constexpr bool travels<std::array<T, kCount>> = travels<T>;

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
// Finds them again.
struct Unpacker {
  const std::byte* from;
  std::size_t bytes = 0;
  const std::byte* take(std::size_t n, std::size_t alignment) noexcept {
    const std::size_t at = aligned(bytes, alignment);
    bytes = at + n;
    return from + at;
  }
};

// The T that these bytes are. Not std::bit_cast: for g++ 12 a lambda that captures a constant is
// trivially copyable until somebody asks whether it can be assigned, as std::tuple does.
template <class T>
T of_bytes(const std::byte* from) noexcept {
  alignas(T) std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  return *reinterpret_cast<const T*>(bytes.data());
}

// Argument<T>: what pack(sink, value) adds, and what the function sees: made by take(unpacker), or,
// in the process that calls, by view(value).
template <class T>
struct Argument {
  static_assert(travels<T>,
                "arguments travel as bytes: pass trivially copyable values (a struct rather than a "
                "std::pair), containers as std::span(container), and global pointers, as addresses "
                "mean nothing in another process");
  using Seen = T;

  template <class Sink>
  static constexpr void pack(Sink& sink, const T& value) noexcept {
    sink.add(&value, sizeof value, alignof(T));
  }
  static T take(Unpacker& from) noexcept { return of_bytes<T>(from.take(sizeof(T), alignof(T))); }
  static T view(const T& value) noexcept { return value; }
};

// Elements of contiguous memory, which the function sees where they have arrived.
template <class T>
struct Elements {
  static_assert(travels<T>, "the elements travel as bytes, and addresses mean nothing there");

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

// Results: nothing, values, and vectors of values. Short ones are the arguments of a reply.
template <class T>
struct ResultOf {
  static_assert(
      travels<T>,
      "a result travels as bytes: return a trivially copyable value without addresses, or "
      "a std::vector of such; what a span refers to would be gone");
  static constexpr bool is_long = sizeof(T) > kMaxShortResult;
  static constexpr std::size_t short_bytes = is_long ? 0 : sizeof(T);
  static std::span<const std::byte> bytes(const T& value) noexcept {
    return std::as_bytes(std::span<const T, 1>(&value, 1));
  }
  static T make(std::span<const std::byte> from) noexcept { return of_bytes<T>(from.data()); }
};
template <class T>
struct ResultOf<std::vector<T>> {
  static_assert(travels<T> && !std::is_same_v<T, bool>, "the elements travel as bytes");
  static constexpr bool is_long = true;
  static constexpr std::size_t short_bytes = 0;
  static std::span<const std::byte> bytes(const std::vector<T>& value) noexcept {
    return std::as_bytes(std::span(value));
  }
  static std::vector<T> make(std::span<const std::byte> from) {
    std::vector<T> made(from.size() / sizeof(T));
    if (!made.empty()) std::memcpy(made.data(), from.data(), from.size());
    return made;
  }
};
template <>
struct ResultOf<void> {
  static constexpr bool is_long = false;
  static constexpr std::size_t short_bytes = 0;
};

// A result as bytes, where the function leaves it, and where its caller finds it.
struct RpcValue {
  RpcValue() noexcept {}  // the short ones are written before they are read

  template <class T>
  void keep(const T& result) {
    const auto from = ResultOf<T>::bytes(result);
    if constexpr (ResultOf<T>::is_long) {
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

}  // namespace splitc::detail
