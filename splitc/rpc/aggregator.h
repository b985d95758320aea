#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "am/types/source_location.h"
#include "splitc/rpc/dist_object.h"
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
// process that it was sent to, in the world's thread of that process when it polls; so updates of
// one process are applied one at a time. f must be short, and may not wait, poll, or send. In which
// order updates are applied is not said.
//
// Memory: a block of 4 KiB for each process that anything is sent to, until the end. send() waits,
// polling, while 16 blocks to the same process have not been applied: that is the back-pressure.
//
// Cost, two processes, 8-byte updates: docs/rpc.md. Thread rule: the world's thread, outside
// handlers. The aggregator does not outlive its dist_object. What f throws ends the job, as of
// rpc_ff(). After YGM and Conveyors, without their routing over several hops.
template <class Update, class T, class F>
class aggregator {
  static_assert(detail::travels<Update>, "updates travel as bytes, without addresses");
  static_assert(std::is_invocable_v<const F&, T&, const Update&>, "f takes (T&, Update)");
  static_assert(detail::travels<F> || std::is_function_v<std::remove_pointer_t<F>>,
                "f is a function, or a lambda that captures trivially copyable values, by value");

 public:
  aggregator(dist_object<T>& object, F f) : object_(object), f_(f), blocks_(procs()) {}
  ~aggregator() = default;
  aggregator(const aggregator&) = delete;
  aggregator& operator=(const aggregator&) = delete;

  // Not collective. Throws Error if there is no process `proc`. Costs 1 to 2 ns, and each time a
  // block is full an rpc_ff(). In this process f is called at once.
  void send(std::uint32_t proc, const Update& update) {
    if (proc == my_proc()) return static_cast<void>(f_(*object_, update));
    if (proc >= procs()) detail::refuse_proc(proc, "aggregator::send");
    if constexpr (kInBlock == 0) {
      ship(proc, {&update, 1});
    } else {
      Block& block = blocks_[proc];
      if (block.capacity() == 0) block.reserve(kInBlock);
      if (block.size() == kInBlock) flush(block, proc);  // it was full when an exception came
      block.push_back(update);
      if (block.size() == kInBlock) flush(block, proc);
    }
  }

  // Sends what has been gathered, without waiting until it is applied.
  void flush() {
    for (std::uint32_t proc = 0; proc < procs(); ++proc) {
      if (!blocks_[proc].empty()) flush(blocks_[proc], proc);
    }
  }
  // Collective: sends them, and returns when all updates of all processes have been applied.
  void flush_all(am::SourceLocation where = am::SourceLocation::current()) {
    flush();
    quiesce(where);
  }

 private:
  using Block = std::vector<Update>;

  // How many fit in a medium message beside f and the numbers of object and elements. 0: one is
  // longer, and leaves at once.
  static constexpr std::size_t kHead = 64 + sizeof(F);
  static constexpr std::size_t kInBlock =
      kHead < am::max_medium() ? (am::max_medium() - kHead) / sizeof(Update) : 0;

  // Empty afterwards, unless an exception of a handler comes out: then the one message that a block
  // is has not been sent.
  void flush(Block& block, std::uint32_t proc) {
    ship(proc, block);
    block.clear();
  }
  void ship(std::uint32_t proc, std::span<const Update> updates) {
    rpc_ff(
        proc,
        [](T& there, const F& f, std::span<const Update> all) {
          for (const Update& update : all) f(there, update);
        },
        object_, f_, updates);
  }

  dist_object<T>& object_;
  const F f_;
  std::vector<Block> blocks_;  // by process
};

// An aggregator of updates to the T of each process, applied by f.
template <class Update, class T, class F>
aggregator<Update, T, F> aggregate(dist_object<T>& object, F f) {
  return {object, f};
}

}  // namespace splitc
