#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "am/channel/reduce_channel.h"
#include "am/types/types.h"
#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/context.h"
#include "splitc/world/world.h"

// A typed channel from all processes to one; the room's other headers are channel.h, with the
// rules, and multicast_channel.h.

namespace splitc {

// The elements of all processes combined, element by element, at one of them, again and again: a
// persistent reduction. CkDirect's authors had it as future work. Op is am::Add, am::Min, am::Max
// or any other associative T(T, T). Values are combined in the order of the processes, whatever
// order they arrive in, so the bits of the result are the same each time. T is arithmetic.
//
// The rule is that of channels (splitc/channel/channel.h): each process's put comes after the
// root's ready() for its one before.
//
// Cost of a round: one put for each process, as on a put_channel; at the root, when the last has
// arrived, procs() - 1 passes over the elements, inside the poll that finds it.
//
// Neither copied nor moved. Thread rule: the thread that has made it.
template <class T, class Op = am::Add>
requires std::is_arithmetic_v<T>
class reduce_channel {
 public:
  // Collective, with the same `root` and equal sizes. `mine` is what this process sends, any memory
  // of its own. `result`, at the root as many elements of any memory, is where the combination of
  // all goes; it is ignored elsewhere. Both stay allocated while the channel exists. Takes procs()
  // times the size of `result` by local_malloc from the root's segment. Throws Error: there is no
  // such root; the root lacks that memory; sizes differ.
  reduce_channel(std::span<std::type_identity_t<const T>> mine, std::span<T> result,
                 std::uint32_t root = 0, Op op = {}, am::Here where = {})
      : maker_({"reduce_channel", where}) {
    const detail::Call call("reduce_channel", where);
    am::Bundle& bundle = detail::context().bundle;
    std::vector<am::ChannelHandle> handles(procs());
    if (my_proc() == root) {
      const std::size_t room =
          detail::product(procs(), "processes", result.size(), "elements", call);
      room_.first = local_malloc<T>(room, where);
      in_.emplace(
          bundle, result, std::span(room_.first, room), procs(), [this] { arrived_ = true; }, op);
      for (std::uint32_t proc = 0; proc < procs(); ++proc) handles[proc] = in_->handle(proc);
    }
    all_bcast(std::span(handles), root, where);
    out_.emplace(bundle, handles[my_proc()]);
    out_->associate(std::as_bytes(mine));
    detail::meet(call);  // the root, which may close at once, is there when all open
  }
  reduce_channel(const reduce_channel&) = delete;
  reduce_channel& operator=(const reduce_channel&) = delete;

  // In every process, the root as well: sends `mine`. Never waits.
  void put(am::Here where = {}) {
    const detail::Call call("reduce_channel::put", where);
    if constexpr (am::kChecked) maker_.check(call, "a channel");
    out_->put(call);
  }
  // Whether `mine` may be written again: no put of it is in flight. Does not poll.
  bool reusable() const noexcept { return out_->reusable(); }

  // At the root; elsewhere arrived() is true, and the two others do nothing.

  // Whether the puts of all have arrived and been combined since the last ready(). Does not poll.
  bool arrived() const noexcept { return !in_ || arrived_; }
  // Whether it has arrived; polls once if not.
  [[nodiscard]] bool try_wait() const {
    if (!arrived()) poll();  // tasks go on
    return arrived();
  }
  // Waits until arrived(), polling. The result is then in `result`.
  void wait(am::Here where = {}) {
    maker_.check({"reduce_channel::wait", where}, "a channel");
    detail::wait_polling([this] { return arrived(); }, am::Wake::kRung,
                         [&] {
                           return am::Reason{.call = {"reduce_channel::wait", where},
                                             .needs = "the puts of its senders",
                                             .needs_all = true};
                         });
  }
  // The next round may begin. Sends nothing: the program lets the others know.
  void ready(am::Here where = {}) {
    if (!in_) return;
    arrived_ = false;
    in_->ready({"reduce_channel::ready", where});
  }

 private:
  struct Room {
    T* first = nullptr;
    Room() = default;
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    ~Room() { local_free(first, am::SourceLocation()); }
  };

  const detail::Maker maker_;
  Room room_;  // goes last
  bool arrived_ = false;
  std::optional<am::ReduceChannel<T, Op>> in_;
  std::optional<am::SendChannel> out_;
};

}  // namespace splitc
