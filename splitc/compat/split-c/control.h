#pragma once

// #include <split-c/control.h>: MYPROC, PROCS, barrier(), on_one. All of Split-C, as there are no
// smaller parts.

#include <split-c/split-c.h>
