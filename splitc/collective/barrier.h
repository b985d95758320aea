#pragma once

#include "am/types/types.h"
#include "splitc/world/place.h"

namespace splitc {

// Collective: no process returns before all have called. Polls meanwhile, so handlers run.
// Split-C's barrier().
//
// Memory. Everything written before it is visible to all processes after it, and nothing written
// after it is visible before it. It completes stores between processes of one node, and no other
// split-phase operations: complete gets and puts by sync() first, and use all_store_sync() where
// stores go to other nodes. Messages of am/ may still be in flight.
//
// Cost. Two processes of one node, each with a core: 133 to 147 ns, where two flags by hand take
// 111 to 153. With a core for each of N processes: log2(N) one-way transfers of a cache line. With
// more processes than cores: one shared counter, and two turns of the scheduler each. Across nodes:
// log2(nodes) rounds of one packet for each node, between the counters of the nodes.
//
// Throws Error in a handler and outside the program's threads; checked builds also if a process
// makes another collective call, naming both. `where`, here and in all calls that may wait, is the
// place of the call: errors name it, and so does the report on a job that stands still. An
// exception of a handler comes out of it, and means that not all processes have called; let it
// leave the program.
void barrier(am::Here where = {});

// The two halves of a barrier, for work in between that needs no other process. barrier_notify()
// announces this process and does not wait. barrier_wait() returns when all processes have called
// barrier_notify(), and polls until then. Split-C has no such pair; UPC does.
//
// Collective, both: every notify is followed by one wait, and no other collective call comes
// between them, which throws Error, as do two notifies in a row and a wait without one. A process
// may meet one that calls barrier().
//
// Memory. What each process wrote before its notify is visible to all after their wait. Between the
// two halves nothing is promised.
void barrier_notify(am::Here where = {});
void barrier_wait(am::Here where = {});

namespace detail {
// barrier(), on behalf of `call`.
void meet(Call call);
}  // namespace detail

}  // namespace splitc
