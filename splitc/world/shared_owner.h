#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace splitc::detail {

// Has several owners, and ends with the last of them. A base.
//
// Thread rule: its owners are used by one thread at a time.
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
  std::uint32_t owners_ = 0;
};

// An owner of a T that HasOwners: std::shared_ptr, without <memory> and atomic instructions.
template <class T>
class SharedOwner {
 public:
  constexpr SharedOwner() noexcept = default;
  constexpr SharedOwner(std::nullptr_t) noexcept {}
  // Of `made` by new, or owned already.
  explicit SharedOwner(T* made) noexcept : object_(made) {
    if (object_ != nullptr) ++owners();
  }
  SharedOwner(const SharedOwner& other) noexcept : SharedOwner(other.object_) {}
  SharedOwner(SharedOwner&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class Derived>
  requires requires(Derived* derived, T*& base) { base = derived; }
  SharedOwner(const SharedOwner<Derived>& other) noexcept : SharedOwner(other.get()) {}
  ~SharedOwner() {
    if (object_ != nullptr && --owners() == 0) delete object_;
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
  std::uint32_t& owners() const noexcept { return static_cast<HasOwners*>(object_)->owners_; }

  T* object_ = nullptr;
};

}  // namespace splitc::detail
