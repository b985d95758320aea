#pragma once

// The spellings of the original Split-C, for programs that were written in it:
//
//   #include "splitc/compat.h"
//
//   int splitc_main(int argc, char** argv) {      // no main(): this makes one
//     spread_ptr<int> A(all_spread_malloc(PROCS, sizeof(int)));
//     A[MYPROC] = MYPROC;
//     barrier();
//     on_one { printf("%d\n", int(A[PROCS - 1])); }
//     all_spread_free(A);
//     return 0;
//   }
//
// What C++ cannot spell: T *global p is global_ptr<T> p; T *spread p is spread_ptr<T> p;
// T A[n]::[b] is spread_array<T> A(n, b); l := *g is get(l, g); *g := v is put(g, v); *g :- v is
// store(g, v); (T *)(A + MYPROC) is A.mine(); ((T *global)(A + i)) is A.on(i).
//
// It defines macros and opens namespace splitc: include it last, and only from .cc files.

#include "splitc/splitc.h"

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

namespace splitc {

inline int all_bcast_i(int x) { return all_bcast(x); }
inline double all_bcast_d(double x) { return all_bcast(x); }

inline double all_reduce_to_all_dadd(double x) { return all_reduce_to_all_add(x); }
inline double all_reduce_to_all_dmin(double x) { return all_reduce_to_all_min(x); }
inline double all_reduce_to_all_dmax(double x) { return all_reduce_to_all_max(x); }
inline double all_reduce_to_one_dadd(double x) { return all_reduce_to_one_add(x); }
inline double all_reduce_to_one_dmin(double x) { return all_reduce_to_one_min(x); }
inline double all_reduce_to_one_dmax(double x) { return all_reduce_to_one_max(x); }

// v[0] of every process into v[0] to v[PROCS - 1]: of all processes, or of process 0.
template <class T>
void all_concat(T* v) {
  const T mine = v[0];
  all_gather(std::span<const T>(&mine, 1), std::span<T>(v, procs()));
}
template <class T>
void all_gather(T* v) {
  const T mine = v[0];
  all_gather_to_one(std::span<const T>(&mine, 1), std::span<T>(v, procs()));
}

}  // namespace splitc

using namespace splitc;
