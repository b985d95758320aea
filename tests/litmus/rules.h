// The sentences of docs/memory-rules.md that the litmus tests hold the library to, word by word.
// rules_test checks that the page has each.
#pragma once

namespace litmus::rules {

inline constexpr char kOrder[] =
    "Blocking reads and writes take effect in program order, with one exception: a later read of "
    "another object may be performed before an earlier write is visible to other processes.";
inline constexpr char kSeen[] =
    "A process that sees a write also sees everything that the writing process had written or "
    "seen before it.";
inline constexpr char kOneObject[] = "All processes see the values of one object in one order.";
inline constexpr char kSameOrder[] =
    "Two writes by different processes are seen in the same order by all other processes that "
    "read both; each writer may see its own write first.";
inline constexpr char kWhole[] =
    "Aligned objects of 1, 2, 4 or 8 bytes are read and written whole: a read returns a value "
    "that was written.";
inline constexpr char kLarge[] =
    "Larger objects may be seen half written; they are ordered like small ones.";
inline constexpr char kFence[] =
    "`sync()` is a full fence: everything before it is visible to all processes before anything "
    "after it takes effect.";
inline constexpr char kSplit[] =
    "Until `sync()`, split-phase operations take effect in any order, even on one address.";
inline constexpr char kCounted[] =
    "A process that has counted the bytes of a store sees them, and everything that the storing "
    "process had written or seen before the store.";
inline constexpr char kUncounted[] =
    "Until it is counted, a store is ordered with nothing: not with other stores, even to the "
    "same address, and not with what its process does afterwards.";
inline constexpr char kAllCounted[] =
    "After `all_store_sync()` every earlier store of every process is visible to all.";
inline constexpr char kAtomic[] =
    "Atomics are full fences, and all processes agree on one order of them.";
inline constexpr char kCall[] =
    "Functions that `atomic()` runs at one process run one after another; each sees what its "
    "caller had written or seen before the call, and what it writes is visible to the caller when"
    " the call returns.";
inline constexpr char kMessage[] =
    "A handler sees everything that the sender of its message had written or seen before sending "
    "it.";
inline constexpr char kMessageOnly[] =
    "A message completes no put and no store of its sender, and is not a fence.";
inline constexpr char kBarrier[] =
    "Everything written before a `barrier()` is visible to all processes after it, and nothing "
    "written after it is visible before it.";
inline constexpr char kBarrierStores[] =
    "It does not complete gets and puts: call `sync()` first. It completes stores between "
    "processes of one node, and no others.";

}  // namespace litmus::rules
