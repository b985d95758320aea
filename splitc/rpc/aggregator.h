#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/forwarder.h"
#include "splitc/rpc/rpc.h"

namespace splitc {

// Sends many small updates to anywhere in blocks: what goes to one process is gathered here until a
// block is full.
//
//   dist_object<std::unordered_map<Key, long>> counts;
//   auto counter = aggregate<Key>(counts, [](auto& mine, Key k) { ++mine[k]; });
//   for (Key k : keys) counter.send(owner(k), k);
//   counter.flush_all();                              // collective: all have been applied
//
// Each update is applied once, by f(t, update), a function or lambda, where t is the T of the
// process that it was sent to, in a thread of that process that polls or, of this
// process, in send() and flush(); so updates of one process are applied one at a time. f must be
// short, and may not wait, poll, or send. In which order updates are applied is not said, and what
// has not been flushed when the aggregator ends is not applied.
//
// An update may cause others: an f of three parameters, f(t, update, forward), sends them by
// forward.send(proc, another), a forwarder<Update>&, and flush_all() ends when these, and what they
// cause, have been applied. So a graph is searched without a step that all take together:
//
//   auto visit = aggregate<Visit>(graph, [](Graph& mine, const Visit& v, forwarder<Visit>& forward)
//   {
//     if (!mine.reached(v)) return;                   // known already, by a way as short
//     for (const Edge& e : mine.edges(v)) forward.send(e.owner, {e.to, v.distance + 1});
//   });
//   if (my_proc() == 0) visit.send(owner(root), {root, 0});
//   visit.flush_all();
//
// Making and ending such an aggregator is collective, like a dist_object's. What has not been
// applied when it ends, as no flush_all() came after it, may be dropped. Each of the rounds that
// flush_all() takes, a quiesce() and an all_reduce(), goes a few steps along a chain of updates
// that leads from process to process.
//
// Memory: a block of 4 KiB for each process that anything is sent to, until the end. send() waits,
// polling, while 16 blocks to the same process have not been applied: that is the back-pressure.
// What is forwarded cannot wait: it is kept, however much it is, and sent by the polls.
//
// Cost, two processes, 8-byte updates: docs/costs.md. Thread rule: a thread of the program, outside
// handlers. The aggregator does not outlive its dist_object. What f throws ends the job, as of
// rpc_ff(); of this process it comes out of send(), flush() or flush_all(), and the other updates
// stay. After YGM and Conveyors, without their routing over several hops.
template <class Update, class T, class F>
class aggregator {
  static_assert(!detail::too_aligned<Update>, SPLITPHASE_TOO_ALIGNED);
  static_assert(detail::means_the_same<Update>, "updates travel as bytes, without addresses");
  static_assert(std::is_invocable_v<const F&, T&, const Update&> ||
                    std::is_invocable_v<const F&, T&, const Update&, forwarder<Update>&>,
                "f takes (T&, Update), or (T&, Update, forwarder<Update>&)");
  static_assert(detail::travels<F> || std::is_function_v<std::remove_pointer_t<F>>,
                "f is a function, or a lambda that captures trivially copyable values, by value");
  static_assert(!detail::captures_reference<F>, SPLITPHASE_NO_REFERENCES);

  static constexpr bool kForwards = !std::is_invocable_v<const F&, T&, const Update&>;
  using Block = detail::UpdateBlock<Update>;
  using Forwarding = std::conditional_t<kForwards, detail::Forwarding<Update, T, F>,
                                        detail::NoForwarding<Update, T, F>>;

 public:
  aggregator(dist_object<T>& object, F f) : updates_(object, f), blocks_(procs()) {}
  ~aggregator() = default;
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Not collective. Throws Error if there is no process `proc`. Also what handlers and f throw here
  // while it makes room comes out; then `update` has not been taken, and may be sent again. Error
  // in f, in a handler or in another thread: in checked builds always, else when it makes room.
  // Costs 1 to 2 ns, and each time a block is full an rpc_ff(), or, in this process, its updates.
  void send(std::uint32_t proc, const Update& update, am::Here where = {}) {
    const detail::Call call("aggregator::send", where);
    if constexpr (am::kChecked) check_caller(call);
    if (proc >= blocks_.size()) [[unlikely]]
      detail::refuse_proc(proc, call);
    if constexpr (kInBlock == 0) {
      updates_.ship(proc, {&update, 1}, where);
    } else {
      Block& block = blocks_[proc];
      if (block.is_full()) [[unlikely]]
        make_room(block, proc, call);
      block.add(update);
    }
  }

  // Sends what has been gathered, without waiting until it is applied.
  void flush(am::Here where = {}) {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!blocks_[proc].updates().empty())
        flush(blocks_[proc], proc, {"aggregator::flush", where});
    }
  }
  // Collective: sends them, and returns when all updates of all processes have been applied. Throws
  // Error if f forwards updates and another process is at another aggregator's flush_all().
  void flush_all(am::Here where = {}) {
    do {
      flush(where);
      quiesce(where);
    } while (updates_.has_caused_others(where));
  }

 private:
  static constexpr std::size_t kInBlock = detail::updates_in_block<Update, F>();

  void check_caller(detail::Call call) const {
    if (applying_) refuse_from_function(call);
    detail::check_may_wait(call);
  }
  void make_room(Block& block, std::uint32_t proc, detail::Call call) {
    if (applying_) [[unlikely]]
      refuse_from_function(call);
    if (!block.has_memory()) return block.allocate(kInBlock);
    flush(block, proc, call);
  }
  // Empty afterwards, unless an exception of a handler comes out: then the one message that a block
  // is has not been sent.
  void flush(Block& block, std::uint32_t proc, detail::Call call) {
    if (proc == my_proc()) return apply_here(block, call);
    updates_.ship(proc, block.updates(), call.where);
    block.clear();
  }

  // If f throws the updates behind stay. Meanwhile the block is not where f could add to it.
  void apply_here(Block& block, detail::Call call) {
    if (applying_) refuse_from_function(call);
    Block taken(std::move(block));
    applying_ = true;
    const am::Finally put_back([&] {
      if (taken.updates().empty()) taken.clear();
      block = std::move(taken);
      applying_ = false;
    });
    while (!taken.updates().empty()) updates_.apply(taken.take());
  }

  [[noreturn]] static void refuse_from_function(detail::Call call) {
    detail::refuse(call,
                   "called by the function that applies updates; give that a third parameter, a "
                   "forwarder<Update>&, which sends");
  }

  Forwarding updates_;         // sends and applies them
  std::vector<Block> blocks_;  // by process
  bool applying_ = false;      // to the own T
};

// An aggregator of updates to the T of each process, applied by f.
template <class Update, class T, class F>
aggregator<Update, T, F> aggregate(dist_object<T>& object, F f) {
  return {object, f};
}

}  // namespace splitc
