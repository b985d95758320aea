#pragma once

#include "am/types/source_location.h"
#include "splitc/world/place.h"

namespace splitc {

// Waits for all processes, making progress meanwhile. What each wrote or stored before is visible
// to all after it; complete own gets and puts with sync() first.
// `where`, here and in all calls that may wait, is the place of the call: errors name it, and the
// report on a job that stands still does.
void barrier(am::SourceLocation where = am::SourceLocation::current());

// The two halves of a barrier: between them this process may do work that needs no other.
// Every notify is followed by one wait; no other collective call comes between.
void barrier_notify(am::SourceLocation where = am::SourceLocation::current());
void barrier_wait(am::SourceLocation where = am::SourceLocation::current());

namespace detail {
// barrier(), on behalf of `call`.
void meet(Call call);
}  // namespace detail

}  // namespace splitc
