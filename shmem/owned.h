#pragma once

#include <cstddef>

namespace shmem {

// An object that its holder owns, and deletes at its end: std::unique_ptr, without a deleter and
// without <memory>. Compilers need 6 ms for each type of std::unique_ptr and a twentieth of that
// for each of these, and programs that include the library come upon dozens. A std::unique_ptr
// converts to one.
template <class T>
class Owned {
 public:
  constexpr Owned() noexcept = default;
  constexpr Owned(std::nullptr_t) noexcept {}
  explicit Owned(T* object) noexcept : object_(object) {}
  Owned(Owned&& other) noexcept : object_(other.release()) {}
  // From a std::unique_ptr, or an Owned, whose pointer converts to T*, of an object: not of an
  // array.
  template <class Other>
  requires requires(Other& other, T*& object) {
    object = other.release();
    *other;
  }
  Owned(Other&& other) noexcept : object_(other.release()) {}
  // To a std::unique_ptr, likewise.
  template <class Other>
  requires requires(Other& other, T* object) {
    typename Other::deleter_type;
    other.reset(object);
    *other;
  }
  operator Other() && noexcept { return Other(release()); }
  ~Owned() {
    static_assert(sizeof(T) > 0, "T is known where what owns it is made or ends");
    delete object_;
  }
  Owned& operator=(Owned&& other) noexcept {
    reset(other.release());
    return *this;
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Owned& owned, std::nullptr_t) noexcept {
    return owned.object_ == nullptr;
  }

  // The object is the caller's from now on.
  [[nodiscard]] T* release() noexcept {
    T* const object = object_;
    object_ = nullptr;
    return object;
  }
  // Owns `object` from now on; what it owned ends.
  void reset(T* object = nullptr) noexcept {
    static_assert(sizeof(T) > 0, "T is known where what owns it ends");
    T* const former = object_;
    object_ = object;
    delete former;
  }

 private:
  T* object_ = nullptr;
};

// An array that is owned.
template <class T>
class Owned<T[]> {
 public:
  constexpr Owned() noexcept = default;
  constexpr Owned(std::nullptr_t) noexcept {}
  explicit Owned(T* first) noexcept : first_(first) {}
  Owned(Owned&& other) noexcept : first_(other.release()) {}
  template <class Other>
  requires requires(Other& other, T*& first) {
    first = other.release();
    other[0];
  }
  Owned(Other&& other) noexcept : first_(other.release()) {}
  ~Owned() { delete[] first_; }
  Owned& operator=(Owned&& other) noexcept {
    reset(other.release());
    return *this;
  }

  T* get() const noexcept { return first_; }
  T& operator[](std::size_t i) const noexcept { return first_[i]; }
  explicit operator bool() const noexcept { return first_ != nullptr; }
  friend bool operator==(const Owned& owned, std::nullptr_t) noexcept {
    return owned.first_ == nullptr;
  }

  [[nodiscard]] T* release() noexcept {
    T* const first = first_;
    first_ = nullptr;
    return first;
  }
  void reset(T* first = nullptr) noexcept {
    T* const former = first_;
    first_ = first;
    delete[] former;
  }

 private:
  T* first_ = nullptr;
};

}  // namespace shmem
