#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "am/channel/reduce_channel.h"
#include "am/types/source_location.h"
#include "splitc/collective/collective.h"
#include "splitc/pointer/allocate.h"
#include "splitc/world/world.h"

namespace splitc {

// Everybody's elements combined at one process (splitc/channel/channel.h), in the order of the
// processes, by am::Add, am::Min, am::Max or any other associative function. T is arithmetic.
//
// Thread rule: the world's thread.
template <class T, class Op = am::Add>
requires std::is_arithmetic_v<T>
class reduce_channel {
 public:
  // Collective, with equal sizes. `mine` is what this process sends, any memory of its own;
  // `result`, any memory of the root, is where the sum of all goes, and ignored elsewhere. Takes
  // procs() times the size of the root's segment.
  reduce_channel(std::span<std::type_identity_t<const T>> mine, std::span<T> result,
                 std::uint32_t root = 0, Op op = {}) {
    std::vector<am::ChannelHandle> handles(procs());
    if (my_proc() == root) {
      const std::size_t room =
          detail::product(procs(), "processes", result.size(), "elements", "reduce_channel");
      room_.reset(local_malloc<T>(room));
      in_.emplace(
          world().bundle(), result, std::span(room_.get(), room), procs(),
          [this] { arrived_ = true; }, op);
      for (std::uint32_t proc = 0; proc < procs(); ++proc) handles[proc] = in_->handle(proc);
    }
    all_bcast(std::span(handles), root);
    out_.emplace(world().bundle(), handles[my_proc()]);
    out_->associate(std::as_bytes(mine));
  }
  reduce_channel(const reduce_channel&) = delete;
  reduce_channel& operator=(const reduce_channel&) = delete;

  // By everybody, the root as well, after the root's ready() for the last one.
  void put() { out_->put(); }
  // All puts so far have left the source, which may be written again.
  bool reusable() const noexcept { return out_->reusable(); }

  // By the root; the others wait for nothing.
  bool arrived() const noexcept { return !in_ || arrived_; }  // everybody's, since the last ready()
  void wait(am::SourceLocation where = am::SourceLocation::current()) {
    world().bundle().wait_until([this] { return arrived(); }, am::Wake::kRung,
                                [&] {
                                  return am::Reason{.call = "reduce_channel::wait",
                                                    .where = where,
                                                    .needs = "the puts of its senders"};
                                });
  }
  void ready() {
    if (!in_) return;
    arrived_ = false;
    in_->ready();
  }

 private:
  struct Free {
    void operator()(T* room) const { local_free(room); }
  };

  std::unique_ptr<T, Free> room_;  // goes last
  bool arrived_ = false;
  std::optional<am::ReduceChannel<T, Op>> in_;
  std::optional<am::SendChannel> out_;
};

}  // namespace splitc
