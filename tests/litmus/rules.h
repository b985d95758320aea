// The sentences of docs/memory-rules.md that the litmus tests hold the library to, word by word.
// rules_test checks that the page has each.
#pragma once

namespace litmus::rules {

inline constexpr char kOrder[] =
    "Blocking reads and writes take effect in the order of the program, with one exception: a "
    "later read of another object may be done while the write is not visible to others yet.";
inline constexpr char kSeen[] =
    "Who sees a write also sees everything that the writing process had written or seen before.";
inline constexpr char kOneObject[] = "All processes see the values of one object in one order.";
inline constexpr char kSameOrder[] =
    "Two writes by different processes are seen in one order by all others who read both; each "
    "writer may see its own first.";
inline constexpr char kWhole[] =
    "Aligned objects of 1, 2, 4 or 8 bytes move whole: who reads one gets a value that was "
    "written.";
inline constexpr char kLarge[] =
    "Larger ones may be seen half written, and are ordered as small ones are.";
inline constexpr char kFence[] =
    "`sync()` is a full fence: what is before it is visible to all when anything behind it is "
    "done.";
inline constexpr char kSplit[] =
    "Until the `sync()` split-phase operations happen in any order, even to one address.";
inline constexpr char kCounted[] =
    "Who has counted the bytes of a store sees them, and everything that the storing process had "
    "written or seen before the store.";
inline constexpr char kUncounted[] =
    "Until it is counted a store is ordered with nothing: not with other stores, also to one "
    "address, and not with what the process does afterwards.";
inline constexpr char kAllCounted[] =
    "After `all_store_sync()` every store of every process before it is visible to all.";
inline constexpr char kAtomic[] =
    "Atomics are full fences, and all processes agree on one order of all of them.";
inline constexpr char kCall[] =
    "Functions that `atomic()` runs at one process run one after the other; each sees what its "
    "caller had written or seen before, and what it writes is visible to the caller when the call "
    "has returned.";
inline constexpr char kMessage[] =
    "The handler of a message sees everything that its sender had written or seen before sending.";
inline constexpr char kMessageOnly[] =
    "A message completes no put and no store of its sender, and is no fence.";
inline constexpr char kBarrier[] =
    "What each process wrote before a `barrier()` is visible to all after it, and nobody sees "
    "before "
    "it what is written after it.";
inline constexpr char kBarrierStores[] =
    "It completes no gets and puts: `sync()` first. Of stores it completes those on one node.";

}  // namespace litmus::rules
