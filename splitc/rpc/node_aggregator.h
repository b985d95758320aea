#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "am/types/types.h"
#include "splitc/rpc/aggregator.h"

namespace splitc {

namespace detail {

// An update in flight to `proc`: its bytes, so that there is no gap between the two.
template <class Update>
struct Addressed {
  std::uint32_t proc;
  std::array<std::byte, sizeof(Update)> bytes;

  Addressed(std::uint32_t to, const Update& update) noexcept : proc(to) {
    std::memcpy(bytes.data(), &update, sizeof update);
  }
  Update update() const noexcept { return of_bytes<Update>(bytes.data()); }
};

// Applies those for this process; the others are for processes of its node, and are sent on. Keeps
// the bytes of f: see of_bytes() (splitc/rpc/pack.h).
template <class Update, class F>
class Deliver {
 public:
  explicit Deliver(const F& f) noexcept { std::memcpy(bytes_.data(), &f, sizeof f); }
  F function() const noexcept { return of_bytes<F>(bytes_.data()); }

  template <class T>
  requires std::is_invocable_v<const F&, T&, const Update&>
  void operator()(T& mine, const Addressed<Update>& one,
                  forwarder<Addressed<Update>>& forward) const {
    if (one.proc == my_proc()) {
      const F f = function();
      f(mine, one.update());
    } else {
      forward.send(one.proc, one);
    }
  }

 private:
  alignas(F) std::array<std::byte, sizeof(F)> bytes_;
};
// It travels as f does.
template <class Update, class F>
struct Argument<Deliver<Update, F>> {
  using Seen = Deliver<Update, F>;
  template <class Sink>
  static void pack(Sink& sink, const Seen& deliver) {
    Argument<F>::pack(sink, deliver.function());
  }
  template <class From>
  static Seen take(From& from) {
    return Seen(Argument<F>::take(from));
  }
  static Seen view(const Seen& deliver) { return deliver; }
};

// By process: the one to which this process gives updates for it. For its own node that is the
// process itself; for another node the process that has the same place there as this one here,
// modulo their number.
std::vector<std::uint32_t> receivers_by_process();

}  // namespace detail

// An aggregator (splitc/rpc/aggregator.h) that gathers by nodes: what goes to any process of
// another node is one block, which one process there takes apart; so that blocks are full, and few,
// where nodes have many processes and each sends little to each far one.
//
//   auto counter = aggregate_by_node<Key>(counts, [](auto& mine, Key k) { ++mine[k]; });
//   for (Key k : keys) counter.send(owner(k), k);
//   counter.flush_all();
//
// The contract is an aggregator's, but for these: f takes (T&, Update), and causes no other
// updates; making and ending one is collective; it ends where its updates have all been applied, by
// flush_all().
//
// Memory: a block of 4 KiB for each other node and each process of the own node that anything is
// sent to, where an aggregator has one for each process; and what has come for others of the node
// until it is sent on. Cost: 4 bytes more an update, and for all but a share of what goes to other
// nodes a second message, within the node there. On one node it is an aggregator with larger
// updates. After Conveyors (Maley and DeVinney) and YGM, with two hops.
template <class Update, class T, class F>
class node_aggregator {
  static_assert(!detail::too_aligned<Update>, SPLITPHASE_TOO_ALIGNED);
  static_assert(detail::means_the_same<Update>, "updates travel as bytes, without addresses");
  static_assert(std::is_invocable_v<const F&, T&, const Update&>, "f takes (T&, Update)");

 public:
  node_aggregator(dist_object<T>& object, F f)
      : updates_(object, Deliver(f)), receivers_(detail::receivers_by_process()) {}
  ~node_aggregator() = default;
  node_aggregator(const node_aggregator&) = delete;
  node_aggregator& operator=(const node_aggregator&) = delete;

  // The calls of an aggregator.
  void send(std::uint32_t proc, const Update& update, am::Here where = {}) {
    if (proc >= receivers_.size()) [[unlikely]]
      detail::refuse_proc(proc, {"node_aggregator::send", where});
    updates_.send(receivers_[proc], {proc, update}, where);
  }
  void flush(am::Here where = {}) { updates_.flush(where); }
  void flush_all(am::Here where = {}) { updates_.flush_all(where); }

 private:
  using Deliver = detail::Deliver<Update, F>;

  aggregator<detail::Addressed<Update>, T, Deliver> updates_;
  const std::vector<std::uint32_t> receivers_;
};

template <class Update, class T, class F>
node_aggregator<Update, T, F> aggregate_by_node(dist_object<T>& object, F f) {
  return {object, f};
}

}  // namespace splitc
