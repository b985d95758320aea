// Which of the two builds of the library a program is compiled for, and a guard that it is linked
// with the same one. Included by every public header, through types.h.
#pragma once

#include "am/types/language.h"

// 1: the checked build, 0: the release build. The inline functions of the two differ, so a program
// and the library must agree; what installs the library (pkg-config, CMake, splitc++) says which it
// is. Elsewhere NDEBUG decides, as it does for assert().
#ifndef SPLITPHASE_CHECKED
#ifdef NDEBUG
#define SPLITPHASE_CHECKED 0
#else
#define SPLITPHASE_CHECKED 1
#endif
#endif

// The library defines the symbol of its own build only (types.cc), and everything that is compiled
// with these headers refers to the symbol of its build. So a mixture does not link, or not load,
// and the linker's message names the symbol, which is why it is a sentence.
#if SPLITPHASE_CHECKED
#define SPLITPHASE_BUILD \
  splitphase_a_checked_program_needs_the_checked_library__or_compile_it_with_DSPLITPHASE_CHECKED_0
#define SPLITPHASE_BUILD_REFERENCE refers_to_checked_build
#else
#define SPLITPHASE_BUILD \
  splitphase_a_release_program_needs_the_release_library__or_compile_it_with_DSPLITPHASE_CHECKED_1
#define SPLITPHASE_BUILD_REFERENCE refers_to_release_build
#endif

extern "C" const char SPLITPHASE_BUILD;

namespace am::detail {

// One word a program. Its name is another in each build, or the linker would keep one of two and
// look at no reference of the other. `used` and `retain` keep it from the compiler and from the
// linker's --gc-sections; assemblers before binutils 2.36 do not know the latter, and g++ says so.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
[[gnu::used, gnu::retain]] inline const char* const SPLITPHASE_BUILD_REFERENCE = &SPLITPHASE_BUILD;
#pragma GCC diagnostic pop

}  // namespace am::detail

#undef SPLITPHASE_BUILD_REFERENCE
