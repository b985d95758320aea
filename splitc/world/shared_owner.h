#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "splitc/world/place.h"

namespace splitc::detail {

// Has several owners, and ends with the last of them. A base.
//
// Thread rule: each owner is used by one thread at a time, and in a program of one thread all are.
class HasOwners {
 public:
  HasOwners() = default;
  HasOwners(const HasOwners&) = delete;
  HasOwners& operator=(const HasOwners&) = delete;

 protected:
  ~HasOwners() = default;

 private:
  template <class T>
  friend class SharedOwner;
  void add_owner() noexcept {
    if (is_threaded()) {
      std::atomic_ref(owners_).fetch_add(1, std::memory_order_relaxed);
    } else {
      ++owners_;
    }
  }
  // Whether that was the last one.
  bool take_owner() noexcept {
    if (!is_threaded()) return --owners_ == 0;
    // pairs with: itself, in other threads; the thread that deletes it sees what they have done
    // with it.
    return std::atomic_ref(owners_).fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  std::uint32_t owners_ = 0;
};

// An owner of a T that HasOwners: std::shared_ptr, without <memory> and atomic instructions.
template <class T>
class SharedOwner {
 public:
  constexpr SharedOwner() noexcept = default;
  constexpr SharedOwner(std::nullptr_t) noexcept {}
  // Owns `made`, which was made by new or is owned already.
  explicit SharedOwner(T* made) noexcept : object_(made) {
    if (object_ != nullptr) counted().add_owner();
  }
  SharedOwner(const SharedOwner& other) noexcept : SharedOwner(other.object_) {}
  SharedOwner(SharedOwner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class Derived>
  requires requires(Derived* derived, T*& base) { base = derived; }
  SharedOwner(const SharedOwner<Derived>& other) noexcept : SharedOwner(other.get()) {}
  ~SharedOwner() {
    if (object_ != nullptr && counted().take_owner()) delete object_;
  }
  SharedOwner& operator=(SharedOwner other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const SharedOwner& a, const SharedOwner& b) noexcept = default;
  friend bool operator==(const SharedOwner& a, std::nullptr_t) noexcept {
    return a.object_ == nullptr;
  }

 private:
  HasOwners& counted() const noexcept { return *object_; }

  T* object_ = nullptr;
};

}  // namespace splitc::detail
