#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <utility>

// The handle of the program or library that contains this code, which stays loaded until then.
extern "C" [[gnu::visibility("hidden")]] void* __dso_handle;

namespace am {

// Calls function(nullptr) when the calling thread ends: what was said last first, among destructors
// of thread-local objects. May be said there, too; such an object would not be made once more.
inline void at_thread_end(void (*function)(void*)) noexcept {
  abi::__cxa_thread_atexit(function, nullptr, &__dso_handle);
}

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
  static void make() {
    own_ = new T();
    at_thread_end([](void*) {
      if (gettid() != getpid()) delete std::exchange(own_, nullptr);
    });
  }

  static inline constinit thread_local T* own_ = nullptr;
};

}  // namespace am
