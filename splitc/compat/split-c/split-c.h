#pragma once

// #include <split-c/split-c.h>: the language of the original Split-C, for programs that splitc2cc
// has translated (docs/porting.md). Only the names of Split-C's own are declared, as a program of C
// may have any other; splitc/splitc.h is the library's own interface, and splitc/compat.h the
// original spellings in it.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "splitc/compat/blocks.h"
#include "splitc/compat/control.h"
#include "splitc/compat/field.h"
#include "splitc/compat/lvalue.h"
#include "splitc/compat/operations.h"
#include "splitc/compat/pointer.h"
#include "splitc/compat/reductions.h"
#include "splitc/compat/size.h"
#include "splitc/compat/values.h"
#include "splitc/splitc.h"

// NOLINTBEGIN: the names are Split-C's
using splitc::compat::global;
using splitc::compat::spread;
using splitc::compat::toglobal;
using splitc::compat::tolocal;
using splitc::compat::toproc;

using splitc::all_store_sync;
using splitc::barrier;
using splitc::get_seconds;
using splitc::is_sync;
using splitc::reset_store_sync;
using splitc::store_sync;
using splitc::sync;

using splitc::compat::bulk_get;
using splitc::compat::bulk_put;
using splitc::compat::bulk_read;
using splitc::compat::bulk_store;
using splitc::compat::bulk_store_nocopy;
using splitc::compat::bulk_write;

using splitc::compat::all_spread_free;
using splitc::compat::all_spread_malloc;

using splitc::compat::cmp_and_swap;
using splitc::compat::exchange;
using splitc::compat::fetch_and_add;
using splitc::compat::test_and_set;

using splitc::compat::splitc_poll;

using splitc::all_bcast;
using splitc::all_bcast_d;
using splitc::all_bcast_i;
using splitc::all_concat;
using splitc::all_gather;
using splitc::all_reduce_to_all_add;
using splitc::all_reduce_to_all_and;
using splitc::all_reduce_to_all_dadd;
using splitc::all_reduce_to_all_dmax;
using splitc::all_reduce_to_all_dmin;
using splitc::all_reduce_to_all_max;
using splitc::all_reduce_to_all_min;
using splitc::all_reduce_to_all_mul;
using splitc::all_reduce_to_all_or;
using splitc::all_reduce_to_all_xor;
using splitc::all_reduce_to_one_add;
using splitc::all_reduce_to_one_and;
using splitc::all_reduce_to_one_dadd;
using splitc::all_reduce_to_one_dmax;
using splitc::all_reduce_to_one_dmin;
using splitc::all_reduce_to_one_max;
using splitc::all_reduce_to_one_min;
using splitc::all_reduce_to_one_mul;
using splitc::all_reduce_to_one_or;
using splitc::all_reduce_to_one_xor;
using splitc::all_scan_add;
using splitc::all_scan_and;
using splitc::all_scan_max;
using splitc::all_scan_min;
using splitc::all_scan_mul;
using splitc::all_scan_or;
using splitc::all_scan_xor;
// NOLINTEND
