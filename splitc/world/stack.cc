#include "splitc/world/stack.h"

#include <pthread.h>

#include <cstddef>

namespace splitc::detail {
namespace {

Stack stack_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const bool known = pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return known ? Stack{first, first + bytes} : Stack{};
}

}  // namespace

Stack worlds_stack() {
  static pthread_t thread = pthread_self();
  static Stack stack = stack_of_this_thread();
  if (pthread_equal(thread, pthread_self()) == 0) {  // of another program in this process
    thread = pthread_self();
    stack = stack_of_this_thread();
  }
  return stack;
}

}  // namespace splitc::detail
