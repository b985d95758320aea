#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "splitc/collective/barrier.h"
#include "splitc/rpc/rpc.h"

namespace splitc {

namespace detail {

// The objects of this process, by a number that is the same in all, as all make them in the same
// order. Thread rule: a thread of the program.
std::uint32_t add_dist_object(void* object);
void* dist_object_at(std::uint32_t number);
void end_dist_object(std::uint32_t number) noexcept;

}  // namespace detail

// One T of each process: that of this one is *d, and those of others are reached by functions, or
// read by fetch().
//
//   dist_object<std::unordered_map<Key, Value>> table;
//   rpc(owner(key), [](auto& map, Key k, Value v) { map[k] = v; }, table, key, value).wait();
//
// Construction and destruction are collective, each a barrier: so the T of every process exists as
// long as any process may ask for it. While an exception propagates the destructor does not wait:
// calls still in flight then end the job with a sentence. It is neither copied nor moved. The T may
// be of any type; it is in memory of its process, not in the segment. Thread rule: the world's
// thread.
template <class T>
class dist_object {
 public:
  // Makes this process's T of `args`.
  template <class... Args>
  explicit dist_object(Args&&... args) : value_(std::forward<Args>(args)...) {
    detail::meet("dist_object");
  }
  ~dist_object() { detail::end_dist_object(number_); }
  dist_object(const dist_object&) = delete;
  dist_object& operator=(const dist_object&) = delete;

  T& operator*() noexcept { return value_; }
  template <std::same_as<T> U>
  operator U() const = delete;  // write *object
  T* operator->() noexcept { return __builtin_addressof(value_); }
  const T& operator*() const noexcept { return value_; }
  const T* operator->() const noexcept { return __builtin_addressof(value_); }
  // That of process `proc`, as rpc() returns it; for a T that may be
  // the result of such a call.
  auto fetch(std::uint32_t proc) const {
    return rpc(
        proc, [](T& there) { return there; }, *this);
  }

 private:
  friend struct detail::Argument<dist_object>;

  T value_;
  const std::uint32_t number_ =
      detail::add_dist_object(const_cast<std::remove_const_t<T>*>(__builtin_addressof(value_)));
};

template <class T>
struct detail::Argument<dist_object<T>> {
  using Seen = T&;
  static constexpr std::size_t kBytes = sizeof(std::uint32_t);
  static constexpr std::size_t kAlignment = alignof(std::uint32_t);
  template <class Sink>
  static void pack(Sink& sink, const dist_object<T>& object) noexcept {
    sink.add(&object.number_, sizeof object.number_, alignof(std::uint32_t));
  }
  template <class From>
  static T& take(From& from) {
    return *static_cast<T*>(dist_object_at(Argument<std::uint32_t>::take(from)));
  }
  static std::uint32_t number(const dist_object<T>& object) noexcept { return object.number_; }
  static T& view(const dist_object<T>& object) noexcept {
    return *static_cast<T*>(dist_object_at(object.number_));
  }
};

}  // namespace splitc
