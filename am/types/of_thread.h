#pragma once

#include <unistd.h>

#include <utility>

namespace am {

// A T of each thread, made when that thread first asks for it. For what is large: a library that a
// running program opens (dlopen) should have few bytes that are thread-local themselves, as each
// thread has all of them.
template <class T>
class OfThread {
 public:
  // Valid until the thread ends; that of the first thread also while exit() calls functions.
  static T& get() {
    if (own_ == nullptr) [[unlikely]]
      make();
    return *own_;
  }
  // nullptr: this thread has not asked for it.
  static T* find() noexcept { return own_; }

 private:
  struct End {
    ~End() {
      if (gettid() != getpid()) delete std::exchange(own_, nullptr);
    }
  };
  static void make() {
    static thread_local const End end;
    static_cast<void>(end);
    own_ = new T();
  }

  static inline constinit thread_local T* own_ = nullptr;
};

}  // namespace am
