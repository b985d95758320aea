#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "am/core/bundle.h"
#include "am/core/endpoint.h"
#include "am/core/poller.h"
#include "am/types/function.h"
#include "am/types/types.h"
#include "splitc/collective/collective.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/rpc.h"
#include "splitc/world/place.h"
#include "splitc/world/world.h"

namespace splitc {
namespace detail {

// Updates for one process that are sent together. Memory is allocated at first use, with the
// capacity given then. An Update travels as bytes (pack.h).
template <class Update>
class UpdateBlock {
 public:
  UpdateBlock() = default;
  UpdateBlock(UpdateBlock&& other) noexcept { *this = std::move(other); }
  UpdateBlock& operator=(UpdateBlock&& other) noexcept {
    memory_ = std::move(other.memory_);
    first_ = std::exchange(other.first_, nullptr);
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    return *this;
  }
  ~UpdateBlock() = default;

  // Whether nothing more fits; true also while there is no memory.
  bool is_full() const noexcept { return next_ == end_; }
  bool has_memory() const noexcept { return memory_ != nullptr; }
  void allocate(std::size_t capacity) {
    memory_ = am::Owned<std::byte[]>(new std::byte[capacity * sizeof(Update)]);
    first_ = next_ = reinterpret_cast<Update*>(memory_.get());
    end_ = first_ + capacity;
  }
  // Not if it is full.
  void add(const Update& update) noexcept { ::new (static_cast<void*>(next_++)) Update(update); }

  std::span<const Update> updates() const noexcept { return {first_, next_}; }
  void clear() noexcept { first_ = next_ = reinterpret_cast<Update*>(memory_.get()); }
  // Takes off the oldest one, whose memory stays. So an update whose function throws is not applied
  // again.
  const Update& take() noexcept { return *first_++; }

 private:
  am::Owned<std::byte[]> memory_;
  Update* first_ = nullptr;
  Update* next_ = nullptr;
  Update* end_ = nullptr;
};

}  // namespace detail

// By which the function of an aggregator (splitc/rpc/aggregator.h) sends the updates that an update
// causes. They are kept until a poll of this process finds room to send them, or, of this process,
// applies them; meanwhile they take memory.
//
// Thread rule: in that function only.
template <class Update>
class forwarder : private am::Poller {
 public:
  forwarder(const forwarder&) = delete;
  forwarder& operator=(const forwarder&) = delete;

  // Throws Error if there is no process `proc`. Costs a few ns.
  void send(std::uint32_t proc, const Update& update, am::Here where = {}) {
    if (proc >= waiting_.size()) [[unlikely]] {
      if (stopped_) return;
      detail::refuse_proc(proc, {"forwarder::send", where});
    }
    Waiting& waiting = waiting_[proc] ? *waiting_[proc] : make_waiting(proc);
    if (waiting.blocks.empty() || waiting.blocks.back().is_full()) {
      waiting.blocks.emplace_back().allocate(in_block_);
      list(waiting, proc);
    }
    waiting.blocks.back().add(update);
    ++activity_;
  }

 protected:
  using Block = detail::UpdateBlock<Update>;

  explicit forwarder(std::size_t in_block) : in_block_(in_block), waiting_(procs()) {
    if (detail::is_threaded()) {
      detail::refuse("aggregator",
                     "its function forwards updates, which programs of several threads may not: it "
                     "would do so in several of them at once; let it send none, or run without "
                     ".threads");
    }
  }
  ~forwarder() override { stop(); }

  // Drops what waits, and from now on what is sent.
  void stop() noexcept {
    stopped_ = true;
    waiting_.clear();
    listed_.clear();
    if (std::exchange(is_polled_, false)) bundle().remove(*this);
  }
  // What has been sent here or has left since the last call, and what is still to leave. Before
  // that, applies the own updates that these cause, and sends as much as there is room for.
  std::uint64_t take_activity() {
    while (!listed_.empty() && can_go_on_) bundle().poll();
    return std::exchange(activity_, 0) + listed_.size();
  }

 private:
  struct Waiting {
    std::deque<Block> blocks;
    bool is_listed = false;
  };

  // False: there is no room now.
  virtual bool try_ship(std::uint32_t proc, std::span<const Update> updates) = 0;
  virtual void apply(const Update& update) = 0;

  static am::Bundle& bundle() { return detail::context().bundle; }

  Waiting& make_waiting(std::uint32_t proc) {
    return *(waiting_[proc] = am::Owned<Waiting>(new Waiting()));
  }
  void list(Waiting& waiting, std::uint32_t proc) {
    if (std::exchange(waiting.is_listed, true)) return;
    listed_.push_back(proc);
    can_go_on_ = true;
    if (!std::exchange(is_polled_, true)) bundle().add(*this);
  }

  // Each process once: one that finds no room is not to hold up the others, nor what is forwarded
  // while this goes on.
  int poll() override {
    int done = 0;
    for (std::size_t left = listed_.size(); left > 0; --left) {
      const std::uint32_t proc = listed_.front();
      Waiting& waiting = *waiting_[proc];
      listed_.pop_front();
      waiting.is_listed = false;
      const am::Finally relist([&] {  // what is left comes in the next poll
        if (!waiting.blocks.empty()) list(waiting, proc);
      });
      done += proc == my_proc() ? apply_some(waiting) : ship_some(waiting, proc);
    }
    can_go_on_ = done != 0;
    if (listed_.empty() && std::exchange(is_polled_, false)) bundle().remove(*this);
    return done;
  }
  bool has_work() noexcept override { return can_go_on_; }

  int ship_some(Waiting& waiting, std::uint32_t proc) {
    int done = 0;
    for (; !waiting.blocks.empty(); ++done) {
      if (!try_ship(proc, waiting.blocks.front().updates())) break;
      ++activity_;
      waiting.blocks.pop_front();
    }
    return done;
  }
  // Those that are there now, and while the function does not throw.
  int apply_some(Waiting& waiting) {
    int done = 0;
    for (std::size_t left = waiting.blocks.size(); left > 0; --left) {
      Block& block = waiting.blocks.front();
      for (std::size_t n = block.updates().size(); n > 0; --n, ++done) {
        const Update update = block.take();
        ++activity_;
        apply(update);
      }
      if (block.updates().empty()) waiting.blocks.pop_front();
    }
    return done;
  }

  const std::size_t in_block_;               // updates
  std::vector<am::Owned<Waiting>> waiting_;  // by process, once it was sent any
  std::deque<std::uint32_t> listed_;         // processes that some wait for
  std::uint64_t activity_ = 0;
  bool stopped_ = false;
  bool is_polled_ = false;  // part of the polls
  bool can_go_on_ = false;  // the last poll has done something, or something has come
};

}  // namespace splitc

// --- How the blocks of an aggregator are sent and applied, by an f that causes no other updates
// and by one that does.

namespace splitc::detail {

// How many fit in a medium message beside f and the numbers of objects and elements. 0: one is
// longer, and is sent at once.
template <class Update, class F>
constexpr std::size_t updates_in_block() noexcept {
  constexpr std::size_t kHead = 64 + sizeof(F);
  return kHead < am::max_medium() ? (am::max_medium() - kHead) / sizeof(Update) : 0;
}

template <class Update, class T, class F>
class NoForwarding {
 public:
  NoForwarding(dist_object<T>& object, F f) : object_(object), f_(f) {}

  void ship(std::uint32_t proc, std::span<const Update> updates, am::SourceLocation where) const {
    rpc_ff(
        rpc_target(proc, where),
        [](T& there, const F& f, std::span<const Update> all) {
          for (const Update& update : all) f(there, update);
        },
        object_, f_, updates);
  }
  void apply(const Update& update) const { f_(*object_, update); }
  static bool has_caused_others(am::SourceLocation) noexcept { return false; }

 private:
  dist_object<T>& object_;
  const F f_;
};

// What processes that flush a forwarding aggregator say of themselves, and what that comes to.
struct Flushed {
  std::uint64_t activity;
  std::uint32_t lowest;  // number of the aggregator
  std::uint32_t highest;

  static Flushed add(const Flushed& a, const Flushed& b) noexcept {
    return {a.activity + b.activity, a.lowest < b.lowest ? a.lowest : b.lowest,
            a.highest < b.highest ? b.highest : a.highest};
  }
};
// They are not all at the same one: then each would count the updates of its own.
[[noreturn]] void refuse_other_flush(Call call);

template <class Update, class T, class F>
class Forwarding {
  static_assert(updates_in_block<Update, F>() > 0,
                "an update that may cause others fits in a medium message");

 public:
  Forwarding(dist_object<T>& object, F f) : forwarder_(object, f, forwarder_) {}
  // First stops all sending; what is in flight still arrives, while the dist_object exists.
  ~Forwarding() { forwarder_->stop(); }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void ship(std::uint32_t proc, std::span<const Update> updates, am::SourceLocation where) const {
    const Here& here = *forwarder_;
    rpc_ff(rpc_target(proc, where), kRun, here.object, here.f, forwarder_, updates);
  }
  void apply(const Update& update) { forwarder_->apply(update); }

  // Between two such calls that give 0 in all processes, each after a quiesce(), no process has
  // sent an update or had one left, so none is in flight.
  bool has_caused_others(am::SourceLocation where) {
    const std::uint32_t number = Argument<dist_object<Here>>::number(forwarder_);
    const Flushed all =
        all_reduce(Flushed{forwarder_->take_activity(), number, number}, &Flushed::add, where);
    if (all.lowest != all.highest) refuse_other_flush({"aggregator::flush_all", where});
    return all.activity != 0;
  }

 private:
  class Here final : public forwarder<Update> {
   public:
    // `self` is where this is being made.
    Here(dist_object<T>& updated, F function, const dist_object<Here>& self)
        : forwarder<Update>(updates_in_block<Update, F>()),
          object(updated),
          f(function),
          self_(self) {}
    using forwarder<Update>::stop;
    using forwarder<Update>::take_activity;

    void apply(const Update& update) override { f(*object, update, *this); }

    dist_object<T>& object;
    const F f;

   private:
    bool try_ship(std::uint32_t proc, std::span<const Update> updates) override {
      const Call call("forwarder::send");
      return try_start_one_way(proc, call, kRun, object, f, self_, updates);
    }

    const dist_object<Here>& self_;
  };

  static constexpr auto kRun = [](T& there, const F& f, Here& here, std::span<const Update> all) {
    for (const Update& update : all) f(there, update, here);
  };

  dist_object<Here> forwarder_;
};

}  // namespace splitc::detail
