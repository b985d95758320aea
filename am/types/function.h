#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace am {

// Calls a function at the end of a scope.
template <class F>
class Finally {
 public:
  explicit Finally(F f) noexcept : f_(static_cast<F&&>(f)) {}
  ~Finally() { f_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  F f_;
};

// A function that is kept to be called later, or none: what std::function is for that, without
// <functional>, which every compilation would have to read. A parameter of type Function takes any
// function, lambda or std::function. One that is trivially copyable and at most two pointers long
// needs no memory of its own.
template <class Signature>
class Function;

template <class Result, class... Args>
class Function<Result(Args...)> {
  template <class F>
  static constexpr bool takes = !std::is_same_v<std::remove_cvref_t<F>, Function> &&
                                std::is_invocable_r_v<Result, F&, Args...>;

 public:
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}
  template <class F>
  requires takes<F> Function(F&& function) {
    using Kept = std::decay_t<F>;
    if constexpr (requires { function == nullptr; }) {
      if (function == nullptr) return;
    }
    if constexpr (is_small<Kept>) {
      ::new (static_cast<void*>(place_)) Kept(static_cast<F&&>(function));
    } else {
      *reinterpret_cast<void**>(place_) = new Kept(static_cast<F&&>(function));
    }
    does_ = &kDoes<Kept>;
  }
  Function(Function&& other) noexcept { take(other); }
  Function(const Function& other) {
    if (other.does_ != nullptr) other.does_->copy(other.place_, place_);
    does_ = other.does_;
  }
  Function& operator=(Function other) noexcept {
    drop();
    take(other);
    return *this;
  }
  ~Function() { drop(); }

  explicit operator bool() const noexcept { return does_ != nullptr; }
  friend bool operator==(const Function& f, std::nullptr_t) noexcept { return !f; }

  // Not of none.
  Result operator()(Args... args) const {
    return does_->call(place_, static_cast<Args&&>(args)...);
  }

 private:
  static constexpr std::size_t kPlace = 2 * sizeof(void*);
  template <class Kept>
  static constexpr bool is_small = std::is_trivially_copyable_v<Kept> && sizeof(Kept) <= kPlace &&
                                   alignof(Kept) <= alignof(void*);
  // What can be done with a function that is in, or referred to by, a place.
  struct Does {
    Result (*call)(const std::byte* place, Args... args);
    void (*copy)(const std::byte* from, std::byte* to);
    void (*drop)(const std::byte* place) noexcept;
  };
  template <class Kept>
  static Kept& at(const std::byte* place) noexcept {
    if constexpr (is_small<Kept>) {
      return *reinterpret_cast<Kept*>(const_cast<std::byte*>(place));
    } else {
      return *static_cast<Kept*>(*reinterpret_cast<void* const*>(place));
    }
  }
  static void copy_bytes(const std::byte* from, std::byte* to) noexcept {
    for (std::size_t i = 0; i < kPlace; ++i) to[i] = from[i];
  }
  template <class Kept>
  static constexpr Does kDoes = {
      [](const std::byte* place, Args... args) -> Result {
        return static_cast<Result>(at<Kept>(place)(static_cast<Args&&>(args)...));
      },
      [](const std::byte* from, std::byte* to) {
        if constexpr (is_small<Kept>) {
          copy_bytes(from, to);
        } else {
          *reinterpret_cast<void**>(to) = new Kept(at<Kept>(from));
        }
      },
      [](const std::byte* place) noexcept {
        if constexpr (!is_small<Kept>) delete &at<Kept>(place);
      }};

  void take(Function& other) noexcept {
    copy_bytes(other.place_, place_);
    does_ = other.does_;
    other.does_ = nullptr;
  }
  void drop() noexcept {
    if (does_ != nullptr) does_->drop(place_);
    does_ = nullptr;
  }

  alignas(void*) std::byte place_[kPlace] = {};
  const Does* does_ = nullptr;
};

// A function of the caller's, for the time of a call: what std::function is for that, without
// <functional>, a copy or memory. A parameter; what it refers to is gone afterwards.
template <class Signature>
class FunctionRef;

template <class Result, class... Args>
class FunctionRef<Result(Args...)> {
 public:
  template <class F>
  FunctionRef(const F& function) noexcept
      : function_(&function), call_([](const void* f, Args... args) -> Result {
          return (*const_cast<F*>(static_cast<const F*>(f)))(static_cast<Args&&>(args)...);
        }) {}
  FunctionRef(const FunctionRef&) noexcept = default;
  FunctionRef& operator=(const FunctionRef&) = delete;

  Result operator()(Args... args) const { return call_(function_, static_cast<Args&&>(args)...); }

 private:
  const void* function_;
  Result (*call_)(const void* function, Args... args);
};

}  // namespace am
