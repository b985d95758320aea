// What a call of a team moves when all have come.

#include <algorithm>
#include <exception>

#include "am/types/types.h"
#include "splitc/team/exchange.h"
#include "splitc/team/teams.h"

namespace splitc::detail {
namespace {

using How = TeamPlan::How;

}  // namespace

// Of equal parts that broadcasts and reductions make, the one that a member has to do with.
Exchange::Slice Exchange::slice_of(std::uint32_t rank) const noexcept {
  const std::size_t element = plan_.combine != nullptr ? plan_.combine->element : 1;
  const std::size_t most = (plan_.bytes / element + group_.size() - 1) / group_.size() * element;
  const std::size_t at = std::min(plan_.bytes, rank * most);
  return {at, std::min(most, plan_.bytes - at)};
}

// Before this member meets the others: they may send from then on.
void Exchange::expect_data() {
  const std::size_t others = group_.size() - 1;
  const std::size_t own = slice_of(group_.rank()).bytes;
  Landing& first = landings_[0];
  Landing& second = landings_[1];
  switch (plan_.how) {
    case How::kGather:
      first = {.base = plan_.to, .stride = plan_.bytes};
      if (!plan_.only_to_one || group_.rank() == 0) first.expected = others * plan_.bytes;
      break;
    case How::kTranspose:
      first = {.base = plan_.to, .stride = plan_.bytes, .expected = others * plan_.bytes};
      break;
    case How::kVarying:
      first = {.base = plan_.to, .begin = plan_.to_at};
      first.expected = plan_.to_at[group_.size()] -
                       (plan_.to_at[group_.rank() + 1] - plan_.to_at[group_.rank()]);
      break;
    case How::kBroadcast:
      first.base = second.base = plan_.to;
      if (group_.rank() == plan_.root) break;
      first.expected = own;
      second.expected = plan_.bytes - own;
      break;
    default: {
      const std::size_t most = slice_of(0).bytes;
      if (group_.carried.size() < most * group_.size()) group_.carried.resize(most * group_.size());
      first = {.base = group_.carried.data(), .stride = most, .expected = others * own};
      second = {.base = plan_.to, .expected = plan_.bytes - own};
    }
  }
  group_.box().open = number_;
  group_.box().landings = &landings_;
}

// What goes to `rank` in one of the steps.
std::span<const std::byte> Exchange::data_for(unsigned step, std::uint32_t rank) const noexcept {
  const std::size_t bytes = plan_.bytes;
  switch (plan_.how) {
    case How::kGather: return {plan_.from, plan_.only_to_one && rank != 0 ? 0 : bytes};
    case How::kTranspose: return {plan_.from + rank * bytes, bytes};
    case How::kVarying:
      return {plan_.from + plan_.from_at[rank], plan_.from_at[rank + 1] - plan_.from_at[rank]};
    case How::kBroadcast: {
      const bool gives = rank != plan_.root && (step == 1 || group_.rank() == plan_.root);
      const Slice slice = slice_of(step == 0 ? rank : group_.rank());
      return {plan_.to + slice.at, gives ? slice.bytes : 0};
    }
    default: {
      if (step == 1) return {group_.carried.data(), slice_of(group_.rank()).bytes};
      const Slice slice = slice_of(rank);
      return {plan_.from + slice.at, slice.bytes};
    }
  }
}

// Where that begins, beside what depends on the sender.
std::size_t Exchange::place_of_mine(unsigned step) const noexcept {
  return step == 1 ? slice_of(group_.rank()).at : 0;
}

std::size_t Exchange::longest(unsigned step) const noexcept {
  std::size_t most = 0;
  for (std::uint32_t distance = 1; distance < group_.size(); ++distance) {
    most = std::max(most, data_for(step, further(distance)).size());
  }
  return most;
}

// A piece to each, and then the next piece to each. A member that has no room just now holds up the
// others, but each of these takes what comes whatever it waits for itself.
bool Exchange::send_step(unsigned step) {
  TeamMail& mail = Teams::of_world().mail();
  for (const std::size_t end = longest(step); at_ < end; at_ += am::max_medium()) {
    for (; peer_ < group_.size(); ++peer_) {
      const std::uint32_t to = further(peer_);
      std::span<const std::byte> data = data_for(step, to);
      if (data.size() <= at_) continue;
      data = data.subspan(at_, std::min<std::size_t>(am::max_medium(), data.size() - at_));
      std::size_t place = place_of_mine(step) + at_;
      if (plan_.how == How::kBroadcast && step == 0) place += slice_of(to).at;
      if (!mail.try_send(group_.proc(to),
                         {group_.number(), place, 2 * number_ + step, group_.rank()}, data)) {
        return false;
      }
    }
    peer_ = 1;
  }
  at_ = 0;
  return true;
}

// The second step passes on what the first one has brought.
bool Exchange::send_data() {
  const bool two_steps = plan_.how == How::kBroadcast || plan_.how == How::kReduce;
  if (step_ == 0) {
    if (!send_step(0)) return false;
    step_ = 1;
  }
  if (!landings_[0].is_complete()) return false;
  if (step_ == 1) {
    move_own();
    step_ = 2;
  }
  if (step_ == 2) {
    if (two_steps && !send_step(1)) return false;
    step_ = 3;
  }
  if (!landings_[1].is_complete()) return false;
  group_.box().landings = nullptr;
  return true;
}

void Exchange::move_own() {
  const std::uint32_t rank = group_.rank();
  const std::size_t bytes = plan_.bytes;
  switch (plan_.how) {
    case How::kGather:
      if (!plan_.only_to_one || rank == 0) copy_bytes(plan_.to + rank * bytes, plan_.from, bytes);
      break;
    case How::kTranspose:
      copy_bytes(plan_.to + rank * bytes, plan_.from + rank * bytes, bytes);
      break;
    case How::kVarying: {
      const auto mine = data_for(0, rank);
      copy_bytes(plan_.to + plan_.to_at[rank], mine.data(), mine.size());
      break;
    }
    case How::kReduce: combine_slice(); break;
    default: break;
  }
}

void Exchange::combine_slice() {
  const Slice own = slice_of(group_.rank());
  const std::size_t stride = landings_[0].stride;
  std::byte* const all = group_.carried.data();
  if (own.bytes == 0) return;
  copy_bytes(all + group_.rank() * stride, plan_.from + own.at, own.bytes);
  try {
    for (std::uint32_t rank = 1; rank < group_.size(); ++rank) {
      (*plan_.combine)(all, all + rank * stride, own.bytes / plan_.combine->element);
    }
  } catch (...) {
    thrown_ = std::current_exception();
  }
  copy_bytes(plan_.to + own.at, all, own.bytes);
}

}  // namespace splitc::detail
