#pragma once

namespace am {

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
