#include "splitc/channel/channel.h"

#include <string>
#include <utility>
#include <vector>

#include "splitc/channel/multicast_channel.h"
#include "splitc/collective/barrier.h"
#include "splitc/collective/collective.h"
#include "splitc/world/heap.h"
#include "splitc/world/remote.h"
#include "splitc/world/world.h"

namespace splitc::detail {

// What a receiver says to one who wants to put there.
struct ChannelAnswer {
  am::ChannelHandle handle;
  HeapSide::Block block;  // that the target begins in; at offset 0: there is none
  bool fits = false;
};

namespace {

// Throws Error unless [first of shape, last] is memory that a program may write.
void check_target(Call call, const Wish& wish) {
  if (wish.bits == 0) return;
  check_range(proc_of(wish.bits), wish.bits & kOffsetMask, wish.shape.extent(), call);
}

[[noreturn]] void refuse_target(const Wish& wish, const ChannelAnswer& answer, Call call) {
  const std::uint64_t offset = wish.bits & kOffsetMask;
  const std::uint64_t bytes = wish.shape.extent();
  const std::string fault =
      answer.block.at == 0
          ? "are freed, or were never allocated; give memory that its process has allocated"
          : overrun(answer.block, offset, bytes);
  refuse_range(proc_of(wish.bits), offset, bytes, fault, call);
}

// One element of each process to each, as part of `call`.
template <class T>
void give(const std::vector<T>& to, std::vector<T>& from, Call call) {
  const OfGroup of = of_job(GroupCall(call));
  run_plan(of, transpose_plan(of, std::span(to), std::span(from)));
}

}  // namespace

Channel::Channel(Call call, const Wish& wish, am::Function<void()> callback)
    : maker_(call),
      callback_(std::move(callback)),
      target_(wish.bits != 0 ? proc_of(wish.bits) : am::kNobody) {
  check_target(call, wish);
  // Everybody says what it wants to whom it wants it of, and gets handles back.
  std::vector<Wish> mine(procs());
  std::vector<Wish> wishes(procs());
  if (wish.bits != 0) mine[proc_of(wish.bits)] = wish;
  give(mine, wishes, call);
  std::vector<ChannelAnswer> given(procs());
  std::vector<ChannelAnswer> answers(procs());
  take(wishes, given);
  give(given, answers, call);
  if (wish.bits != 0) {
    const ChannelAnswer& answer = answers[target_];
    if (!answer.fits) refuse_target(wish, answer, call);
    out_.emplace(context().bundle, answer.handle);
  }
  meet(call);  // the receivers, who may close at once, are still there when the senders open
}

// The owner knows its blocks in every build, and also who asks for more than there is.
void Channel::take(const std::vector<Wish>& wishes, std::vector<ChannelAnswer>& answers) {
  for (std::uint32_t proc = 0; proc < procs(); ++proc) {
    const Wish& wish = wishes[proc];
    if (wish.bits == 0) continue;
    const std::uint64_t offset = wish.bits & kOffsetMask;
    const auto block = world().heap().block_of(offset);
    if (block) answers[proc].block = *block;
    const std::uint64_t bytes = wish.shape.extent();
    answers[proc].fits = bytes == 0 || (block && overrun(*block, offset, bytes).empty());
    if (!answers[proc].fits) continue;
    in_.emplace_back(context().bundle, mapped(wish.bits), wish.shape, [this] {
      ++arrived_;
      if (callback_) callback_();
    });
    senders_.push_back(proc);
    answers[proc].handle = in_.back().handle();
  }
}

void Channel::associate(const void* from, const am::Strided& shape) {
  out_->associate(static_cast<const std::byte*>(from), shape);
}

am::SendChannel& Channel::out(Call call) {
  if (!out_) refuse(call, "this process gave no target, so it sends nothing");
  return *out_;
}

void Channel::put(Call call) {
  if constexpr (am::kChecked) check_mine(call);
  am::SendChannel& sender = out(call);
  if (is_far(target_)) [[unlikely]] {
    const std::span<const std::byte> source = sender.next_source();
    check_local(source.data(), source.size(), call);
  }
  sender.put(call);
}

void Channel::wait(am::Here where) {
  check_mine({"put_channel::wait", where});
  wait_polling([this] { return arrived(); }, am::Wake::kRung,
               [&] {
                 return am::Reason{.call = {"put_channel::wait", where},
                                   .needs = "a put",
                                   .peer = senders_.size() == 1 ? senders_[0] : am::kNobody,
                                   .have = in_.size() > 1 ? arrived_ : 0,
                                   .wanted = in_.size() > 1 ? in_.size() : 0,
                                   .unit = "puts",
                                   .needs_all = true};
               });
}

void Channel::wait_reusable(am::SourceLocation where) {
  check_mine({"put_channel::wait_reusable", where});
  wait_polling([this] { return reusable(); }, am::Wake::kRung,
               [&] {
                 return am::Reason{.call = {"put_channel::wait_reusable", where},
                                   .needs = "the end of its put",
                                   .peer = target_};
               });
}

void Channel::mark(am::CheckedCall call) {
  for (am::ReceiveChannel& in : in_) in.ready_mark(call);
  arrived_ = 0;
}

void Channel::arm(am::CheckedCall call) {
  for (am::ReceiveChannel& in : in_) in.ready_poll(call);
}

Multicast::Multicast(std::span<std::byte> mine, std::uint32_t root, Call call)
    : maker_(call), root_(root) {
  if (root >= procs()) {
    refuse(call, "there is no process " + std::to_string(root) + " among " +
                     std::to_string(procs()) + "; pass the root's number");
  }
  am::ChannelHandle handle;
  if (my_proc() != root) {
    in_.emplace(context().bundle, mine, [] {});
    handle = in_->handle();
  }
  std::vector<am::ChannelHandle> handles = all_gather(handle, call.where);
  if (my_proc() == root) {
    handles.erase(handles.begin() + root);
    out_.emplace(context().bundle, handles);
    out_->associate(mine);
  }
  meet(call);  // the root waits for some of the others, who answer here
}

void Multicast::put(am::CheckedCall call) {
  const Call known = am::named(call, "multicast_channel::put");
  if constexpr (am::kChecked) maker_.check(known, "a channel");
  if (!out_) refuse(known, "this process is not the root, which alone sends");
  out_->put(call);
}

void Multicast::wait(am::Here where) {
  maker_.check({"multicast_channel::wait", where}, "a channel");
  wait_polling([this] { return arrived(); }, am::Wake::kRung,
               [&] {
                 return am::Reason{.call = {"multicast_channel::wait", where},
                                   .needs = "a put",
                                   .peer = root_,
                                   .needs_all = true};
               });
}

void Multicast::ready(am::CheckedCall call) {
  if (in_) in_->ready(call);
}

}  // namespace splitc::detail
