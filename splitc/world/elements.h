#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>  // also the concepts of ranges, which <ranges> has beside all views
#include <string_view>
#include <type_traits>

// What the calls of the library take where they take several elements, and where they take one
// value; calls that have both forms choose by this.

namespace splitc {

// Elements that lie one behind the other: a std::span of any extent, a std::array, an array of C, a
// std::vector, a std::string. They stay the caller's.
template <class R>
concept elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R>;

// Elements for calls that go on after they have returned, so that a temporary std::vector, which
// would be gone by then, is refused when compiling.
template <class R>
concept lasting_elements = elements<R> && std::ranges::borrowed_range<R>;

namespace detail {

// Whether the bytes of a T mean the same in another process, as far as that can be seen: it is no
// address, and refers to nothing by one, as std::reference_wrapper does.
template <class T>
concept refers = requires(const T& x, typename T::type& object) {
  T(object);
  { x.get() } -> std::same_as<typename T::type&>;
};
template <class T>
inline constexpr bool means_the_same =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> &&
    !std::is_array_v<T> && !refers<T>;
template <class T>
inline constexpr bool means_the_same<std::initializer_list<T>> = false;
template <class T, std::size_t kExtent>
inline constexpr bool means_the_same<std::span<T, kExtent>> = false;
template <class C>
inline constexpr bool means_the_same<std::basic_string_view<C>> = false;
template <class T>
inline constexpr bool means_the_same<std::optional<T>> =
    std::is_trivially_copyable_v<T>&& means_the_same<T>;
template <class T, std::size_t kCount>
inline constexpr bool means_the_same<std::array<T, kCount>> = means_the_same<T>;

// Several elements, which are not one value, too, as a std::array is.
template <class R>
concept only_elements = elements<R> && !means_the_same<std::remove_cvref_t<R>>;
template <class R>
concept lasting_only_elements = lasting_elements<R> && only_elements<R>;
template <class T>
concept one_value = !only_elements<T>;

// The element, const if it may not be written; and without that.
template <class R>
using ElementOf = std::remove_reference_t<std::ranges::range_reference_t<R>>;
template <class R>
using ValueOf = std::remove_const_t<ElementOf<R>>;

// The elements as a span of any length, which is what calls are made of.
template <elements R>
constexpr std::span<ElementOf<R>> span_of(R&& all) noexcept {
  return {std::ranges::data(all), std::ranges::size(all)};
}

// Refuses, when compiling, elements that a call could not write to.
template <elements R>
constexpr void check_writable() {
  static_assert(!std::is_const_v<ElementOf<R>>,
                "this call writes to the elements; they may not be const");
}
// The elements that a call writes to.
template <elements R>
constexpr auto destination_of(R&& all) noexcept {
  check_writable<R>();
  return span_of(all);
}

}  // namespace detail
}  // namespace splitc
