#pragma once

#include <span>

#include "splitc/collective/collective.h"
#include "splitc/compat/reductions.h"

// Collective operations under the names that Split-C had for them, for int and double. The
// contracts are those of splitc/collective.

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
