#pragma once

#include <cstdint>
#include <type_traits>

#include "splitc/array/my_range.h"
#include "splitc/start/run.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"  // declares functions whose names are macros below

// Split-C's macros: the processes, on_one, on_proc, the loops over what a process owns, and
// splitc_main. Include it from .cc files only.

// NOLINTBEGIN: the names are Split-C's
#define MYPROC (static_cast<int>(::splitc::my_proc()))
#define PROCS (static_cast<int>(::splitc::procs()))
#define PROCSLOG (::splitc::procs_log2().value_or(-1))  // negative: no whole number

// Before a statement or a block.
#define on_one if (::splitc::my_proc() == 0)
#define on_proc(p) if (::splitc::my_proc() == static_cast<std::uint32_t>(p))

// The loop variables are declared before, as C had it then.
#define for_my_1d(i, n) for ((i) = MYPROC; (i) < (n); ::splitc::compat::next_of_my_1d((i), (n)))
#define for_my_2d(i, j, n, m)                                                   \
  for (::splitc::compat::first_of_my_2d((i), (j), (m)); (i) < (n) && (j) < (m); \
       ::splitc::compat::next_of_my_2d((i), (j), (m)))

// Declares the function, makes a main() that runs it, and leaves its body to follow.
#define splitc_main(...)                                                 \
  splitc_main_of_program(__VA_ARGS__);                                   \
  int main(int argc, char** argv) {                                      \
    return ::splitc::run(argc, argv, [](::splitc::Args args) {           \
      return ::splitc::compat::call_main(&splitc_main_of_program, args); \
    });                                                                  \
  }                                                                      \
  ::splitc::compat::result_of<decltype(splitc_main_of_program)> splitc_main_of_program(__VA_ARGS__)
// NOLINTEND

namespace splitc::compat {

// Collective: allocates the spread arrays that were defined outside functions (blocks.h).
void allocate_static_arrays();

template <class F>
struct main_signature;
template <class R>
struct main_signature<R()> {
  using result = R;
  static R call(R (*body)(), Args) { return body(); }
};
template <class R>
struct main_signature<R(int, char**)> {
  using result = R;
  static R call(R (*body)(int, char**), Args args) { return body(args.argc(), args.argv()); }
};
template <class F>
using result_of = typename main_signature<F>::result;
template <class F>
auto call_main(F* body, Args args) {
  allocate_static_arrays();
  return main_signature<F>::call(body, args);
}

// The steps stop at the bound: beyond it there may be no number of type I.
template <class I>
void next_of_my_1d(I& i, std::type_identity_t<I> n) noexcept {
  const bool last = static_cast<std::uint64_t>(n - i) <= procs();
  i = last ? n : static_cast<I>(i + static_cast<I>(procs()));
}
template <class I>
void first_of_my_2d(I& i, I& j, std::type_identity_t<I> columns) noexcept {
  i = columns > 0 ? static_cast<I>(my_proc()) / columns : 0;
  j = columns > 0 ? static_cast<I>(my_proc()) % columns : 0;
}
template <class I>
void next_of_my_2d(I& i, I& j, std::type_identity_t<I> columns) noexcept {
  const auto all = static_cast<std::uint64_t>(columns);
  const std::uint64_t next = static_cast<std::uint64_t>(j) + procs();
  i += static_cast<I>(next / all);
  j = static_cast<I>(next % all);
}

}  // namespace splitc::compat
