#pragma once

// Split-C for C++20: the umbrella header, and the manual in one page.
//
// A job is a number of processes that all run the same program, each with its own memory. Part of
// it, its segment, is in a global address space: a global pointer names a process and a place
// there, and every process may read and write through it.
//
//   #include "splitc/splitc.h"
//   using namespace splitc;
//
//   int main(int argc, char** argv) {
//     return run(argc, argv, [](Args) {
//       spread_array<double> x(1000);                    // element i on process i mod procs()
//       for (std::size_t i : x.my_indices()) x[i] = 1.0 / double(i + 1);
//       double sum = 0;
//       for (double mine : x.mine()) sum += mine;
//       sum = all_reduce(sum, std::plus());
//       on_one([&] { std::printf("%g on %u processes\n", sum, procs()); });
//     });
//   }
//
// who            my_proc()  procs()  on_one(f)  on_proc(p, f)  my_1d(n)  my_2d(n, m)  get_seconds()
//                is_near(p)  args.size()  args[i], of main(): args[0] is the program's name
// memory         spread_array<T>(n)  (n, blocked)  (n, block_cyclic(b))       zero at first
//                spread_array_2d<T>(n, m, ..)
//                for_each_mine(a, f(i, x))  a.begin() .. a.end()  all_sum(a)  all_min(a)
//                all_spread_malloc<T>(n)  all_spread_free(p)  local_malloc<T>(n)  local_free(p)
//                grid<T, D>({n, m}, {.ghosts = 1, ..})  then exchange()
//                shared<T> x;  at namespace scope: x.mine()  x.on(proc)
//                SPLITC_GLOBAL T x;  an ordinary variable: x  toglobal(proc, &x)
// pointers       global_ptr<T>: p + 1 on the same process; spread_ptr<T>: p + 1 on the next
//                toproc(p)  tolocal(p)  toglobal(proc, local)
// read, write    x = *p;  *p = x;  x = p[i];  a[i] += x          waits for it
// split-phase    get(local, p)  put(p, value)      then sync()   waits for all of them
// one-way        store(p, value)                   then store_sync(bytes) where it lands,
//                                                  or all_store_sync() everywhere
// bulk           bulk_read bulk_write bulk_get bulk_put bulk_store (destination, source, bytes)
//                start_bulk_store: its source may be reused at sync()
// apart          get_strided(local, p, {.rows = n, .row_stride = m})     columns, blocks, faces
//                get_indexed(local, p, indices)  get_each(local, pointers)       lists
//                put_strided store_strided put_indexed store_indexed put_each store_each
// every step     put_channel<T>(to, from)  multicast_channel<T>(mine)
//                reduce_channel<T>(mine, result)
//                set up once; then put(), and wait(), ready() where it arrives
// atomic         fetch_and_add(p, x)  .._min  .._max  .._and  .._or  .._xor  exchange
//                start_fetch_and_add(before, p, x) .. then sync()   cmp_and_swap  test_and_set
//                atomic_add(p, x) ..  then quiesce()            no answer
//                atomic<&f>(p, args..)  atomic_get  atomic_put      any function
// functions      rpc(proc, f, args..)  rpc_at(p, f, args..)      there; gives a future
//                rpc_into(to, proc, f, args..)                   its elements, straight to `to`
//                rpc_ff(proc, f, args..)  then quiesce()         no answer
//                dist_object<T>                                  one T of each process
//                add_library(&f)                                 functions of a shared library, too
//                put_signal(p, data, word)  wait_until(word, condition)
// under way      ready()  try_wait()  wait()  result()      of handles, futures, started calls
//                x = get(p).result()   when_all(..)  when_any(..)  then(operation, f)
//                task<T> f() { .. co_await get(p) .. }           coroutines (splitc/async/task.h)
//                completion_queue<T>  add(operation, tag)  pop()   whichever ends first
//                aggregate<Update>(object, f)  send(proc, u)     many small updates in blocks
// together       barrier()  all_bcast(x)  all_reduce(x, std::plus())  all_scan(x, std::plus())
//                all_reduce(mine, result, op)  of vectors   all_gather(x)
//                all_to_all(mine, received)  all_to_all_varying(mine, counts)
// some of them   team::world()  t.split(colour, key)     then t.barrier()  t.all_reduce(x, op) ..
//
// These rules hold for every call of the library; a header mentions only what differs from them.
//
// Collective calls. Those named all_*, barrier(), quiesce(), flush_all(), split(), add_library(),
// the construction and destruction of arrays, grids, dist_objects and counters, and the
// construction of channels: every process makes them, in the same order; those of a team, every
// member of it. All others are made by one process on its own.
//
// Threads. Only the threads of the program may wait, poll, allocate, access memory of another node
// or make a collective call: the first one, which called run(), and, where run() was given
// {.threads = n}, up to n - 1 others of each process. Each waits for what it has started itself:
// sync(), handles, futures and tasks are its own (docs/threads.md). Any other thread may compute
// with pointers and layouts, and may read and write memory of processes on its own node.
//
// Handlers. A function run by rpc() or atomic(), and a callback of a channel, runs inside a call of
// the library that polls. It may access memory of processes on its node; everything that may wait
// throws Error there (sync(), which throws nothing, ends the job).
//
// Types. Global memory holds trivially copyable types only. In expressions *p, p[i] and a[i] behave
// as the elements do (splitc/access/global_ref.h).
//
// Errors. A call that cannot be done throws Error: one sentence with the rank, the call, the value,
// the cause and the remedy. An exception that leaves the program ends the whole job and prints its
// text. The checked build (docs/running.md) checks ranks, ranges, alignment, freed memory and
// matching collective calls; the release build keeps the checks that cost nothing beside the call:
// null pointers, processes that do not exist, indices of spread arrays, and calls that wait where
// they must not.
//
// Units. Lengths named `bytes` are bytes, `n` and `count` are elements. A process is named by its
// rank, 0 to procs() - 1.
//
// Routes. "Near" is a process of the same node, this process included: its segment is mapped here,
// and an access is a load or a store. "Far" is a process of another node: an access is an RMA
// operation or a message, and needs, with a software provider, the far process inside the library
// now and then (docs/progress.md). The calls and the memory model are the same on both routes
// (docs/memory-rules.md).
//
// Beneath it lies am/: a program that includes am/am.h as well may use splitc::world().job() and
// bundle() for endpoints, channels and zero-copy buffers of its own (splitc/world/world.h).
//
// The language is Split-C: Culler, Dusseau, Goldstein, Krishnamurthy, Lumetta, von Eicken, Yelick:
// Parallel Programming in Split-C, Supercomputing '93. splitc/compat.h has the original spellings,
// and splitcc compiles sources in the original syntax (docs/porting.md).

#include "am/types/language.h"
#if SPLITPHASE_LANGUAGE

#include <cstdio>  // so that a first program needs one include

#include "splitc/access/access.h"
#include "splitc/access/bulk.h"
#include "splitc/access/indexed.h"
#include "splitc/access/split_phase.h"
#include "splitc/access/store.h"
#include "splitc/access/strided.h"
#include "splitc/array/for_each.h"
#include "splitc/array/layout.h"
#include "splitc/array/my_range.h"
#include "splitc/array/reduce_elements.h"
#include "splitc/array/spread_array.h"
#include "splitc/array/spread_array_2d.h"
#include "splitc/async/completion_queue.h"
#include "splitc/async/operation.h"
#include "splitc/async/task.h"
#include "splitc/async/when.h"
#include "splitc/channel/channel.h"
#include "splitc/channel/multicast_channel.h"
#include "splitc/channel/reduce_channel.h"
#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/collective/started.h"
#include "splitc/collective/varying.h"
#include "splitc/grid/grid.h"
#include "splitc/pointer/allocate.h"
#include "splitc/pointer/global_ptr.h"
#include "splitc/pointer/spread_ptr.h"
#include "splitc/rpc/aggregator.h"
#include "splitc/rpc/atomic.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/lookups.h"
#include "splitc/rpc/node_aggregator.h"
#include "splitc/rpc/rpc.h"
#include "splitc/rpc/signal.h"
#include "splitc/shared/shared.h"
#include "splitc/shared/statics.h"
#include "splitc/start/run.h"
#include "splitc/team/team.h"
#include "splitc/world/place.h"
#include "splitc/world/sync.h"
#include "splitc/world/world.h"

#endif
