#pragma once

#include "splitc/compat/collectives.h"
#include "splitc/compat/lvalue.h"

// Collective operations on the value of an lvalue, as in all_reduce_to_all_add(*p): it is read
// first.

namespace splitc::compat {

#define SPLITC_OF_VALUE(name)       \
  template <class P>                \
  auto name(const lvalue<P>& x) {   \
    return splitc::name(x.value()); \
  }
SPLITC_OF_VALUE(all_reduce_to_all_add)
SPLITC_OF_VALUE(all_reduce_to_all_mul)
SPLITC_OF_VALUE(all_reduce_to_all_min)
SPLITC_OF_VALUE(all_reduce_to_all_max)
SPLITC_OF_VALUE(all_reduce_to_all_and)
SPLITC_OF_VALUE(all_reduce_to_all_or)
SPLITC_OF_VALUE(all_reduce_to_all_xor)
SPLITC_OF_VALUE(all_reduce_to_all_dadd)
SPLITC_OF_VALUE(all_reduce_to_all_dmin)
SPLITC_OF_VALUE(all_reduce_to_all_dmax)
SPLITC_OF_VALUE(all_reduce_to_one_add)
SPLITC_OF_VALUE(all_reduce_to_one_mul)
SPLITC_OF_VALUE(all_reduce_to_one_min)
SPLITC_OF_VALUE(all_reduce_to_one_max)
SPLITC_OF_VALUE(all_reduce_to_one_and)
SPLITC_OF_VALUE(all_reduce_to_one_or)
SPLITC_OF_VALUE(all_reduce_to_one_xor)
SPLITC_OF_VALUE(all_reduce_to_one_dadd)
SPLITC_OF_VALUE(all_reduce_to_one_dmin)
SPLITC_OF_VALUE(all_reduce_to_one_dmax)
SPLITC_OF_VALUE(all_scan_add)
SPLITC_OF_VALUE(all_scan_mul)
SPLITC_OF_VALUE(all_scan_min)
SPLITC_OF_VALUE(all_scan_max)
SPLITC_OF_VALUE(all_scan_and)
SPLITC_OF_VALUE(all_scan_or)
SPLITC_OF_VALUE(all_scan_xor)
SPLITC_OF_VALUE(all_bcast)
SPLITC_OF_VALUE(all_bcast_i)
SPLITC_OF_VALUE(all_bcast_d)
#undef SPLITC_OF_VALUE

}  // namespace splitc::compat
