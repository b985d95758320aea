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
// Sources in the original syntax need not be written anew: splitcc translates and compiles them
// (docs/porting.md), with types that convert as C does, which these do not.
//
// It defines macros and opens namespace splitc: include it last, and only from .cc files.

#include "am/types/language.h"
#if SPLITPHASE_LANGUAGE

#include "splitc/compat/control.h"
#include "splitc/compat/reductions.h"
#include "splitc/splitc.h"

using namespace splitc;

#endif
