#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/types/types.h"
#include "splitc/collective/collective.h"
#include "splitc/rpc/dist_object.h"
#include "splitc/rpc/forwarder.h"
#include "splitc/rpc/rpc.h"

// How the blocks of an aggregator are sent and applied, by an f that causes no other updates and by
// one that does.

namespace splitc::detail {

// How many fit in a medium message beside f and the numbers of objects and elements. 0: one is
// longer, and leaves at once.
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
  // First nobody sends any more; then what is on its way comes, as long as there is a dist_object.
  ~Forwarding() { forwarder_->stop(); }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void ship(std::uint32_t proc, std::span<const Update> updates, am::SourceLocation where) const {
    const Here& here = *forwarder_;
    rpc_ff(rpc_target(proc, where), kRun, here.object, here.f, forwarder_, updates);
  }
  void apply(const Update& update) { forwarder_->apply(update); }

  // Between two such calls with 0 everywhere, each after a quiesce(), nobody has sent any, nor had
  // any left: so none is on its way.
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
