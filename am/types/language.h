#pragma once

// Whether the compiler takes the language that the library is written in. If not, this says so, and
// the headers that programs include have nothing else, so that the sentence stands alone.

#if __cplusplus < 202002L
#error "Splitphase needs C++20: compile with -std=c++20"
#define SPLITPHASE_LANGUAGE 0
#elif !defined(__cpp_exceptions)
#error "Splitphase needs exceptions: compile without -fno-exceptions"
#define SPLITPHASE_LANGUAGE 0
#else
#define SPLITPHASE_LANGUAGE 1
#endif
