#include "splitc/team/exchange.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "am/core/bundle.h"
#include "am/route/activity.h"
#include "splitc/team/teams.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using How = TeamPlan::How;

constexpr std::uint64_t kComparison = 0x636f6d7061726500;  // a digest

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

std::string describe(const BoardHeader& header) {
  return std::string(header.call) + " of " + std::to_string(header.bytes) + " bytes";
}

}  // namespace

Exchange::Exchange(Group& group, const TeamCall& call, const TeamPlan& plan)
    : group_(group), call_(call), plan_(plan) {
  if (group.left) {
    refuse(call,
           "an exception has left the call of this team before this one; let what handlers throw "
           "leave the program");
  }
  begin(mixed(mixed(call.name.hash, plan.bytes), plan.kind));
  if (plan_.carried) {
    carry_own();
  } else if (plan_.how != How::kMeet) {
    expect_data();
  }
}

Exchange::~Exchange() {
  constexpr std::size_t kKept = 1024 * 1024;
  group_.box().landings = nullptr;
  if (group_.carried.capacity() > kKept) std::vector<std::byte>().swap(group_.carried);
  if (group_.packed.capacity() > kKept) std::vector<std::byte>().swap(group_.packed);
  if (stage_ != Stage::kEnded) group_.left = true;
}

// A barrier, with letters of that digest.
void Exchange::begin(std::uint64_t digest) {
  number_ = group_.begin_call();
  digest_ = digest & TeamMail::kDigest;
  round_ = 0;
  differs_ = begun_ = sent_ = false;
}

// --- The barrier

bool Exchange::meet() {
  TeamMail& mail = Teams::of_world().mail();
  for (; round_ < group_.rounds(); ++round_) {
    const std::uint32_t distance = std::uint32_t{1} << round_;
    if (!sent_) {
      if (!begun_) {
        letter_ = carries() ? letter_to(distance) : std::span<const std::byte>();
        letter_done_ = 0;
        begun_ = true;
      }
      const TeamMail::Head head{group_.number(),
                                digest_ | round_ | (differs_ ? TeamMail::kDiffers : 0), number_,
                                static_cast<std::uint32_t>(letter_.size())};
      if (!mail.try_send(group_.proc(further(distance)), head, letter_, letter_done_)) return false;
      sent_ = true;
    }
    Letter& letter = group_.box().letter(number_, round_);
    if (!letter.is_complete(number_)) return false;
    if (letter.digest != digest_ || letter.differs) {
      differs_ = true;
    } else if (carries()) {
      take(letter, distance);
    }
    letter.drop();
    begun_ = sent_ = false;
  }
  if (differs_) {  // known to all
    header_ = header();
    plan_ = {.how = How::kGather,
             .carried = true,
             .bytes = sizeof header_,
             .from = reinterpret_cast<const std::byte*>(&header_)};
    begin(kComparison);
    carry_own();
    stage_ = Stage::kComparing;
  } else {
    stage_ = Stage::kSending;
  }
  return true;
}

bool Exchange::go_on() {
  if (stage_ == Stage::kComparing) return finish_comparing();
  if (plan_.carried) {
    take_carried();
  } else if (plan_.how != How::kMeet && !send_data()) {
    return false;
  }
  stage_ = Stage::kEnded;
  return true;
}

bool Exchange::finish_comparing() {
  stage_ = Stage::kMeeting;
  const bool met = meet();
  if (met) {
    stage_ = Stage::kEnded;
    differs_ = true;
  } else {
    stage_ = Stage::kComparing;
  }
  return met;
}

// What of() gives begins with this member's.
void Exchange::carry_own() {
  const std::size_t bytes = plan_.bytes;
  if (plan_.how == How::kBroadcast) {
    if (group_.rank() == plan_.root) copy_bytes(plan_.to, plan_.from, bytes);
    return;
  }
  if (group_.carried.size() < bytes * group_.size()) group_.carried.resize(bytes * group_.size());
  std::byte* const all = group_.carried.data();
  if (plan_.how != How::kTranspose) return copy_bytes(all, plan_.from, bytes);
  for (std::uint32_t i = 0; i < group_.size(); ++i) {
    copy_bytes(all + i * bytes, plan_.from + further(i) * bytes, bytes);
  }
}

// Of a transposition: the parts that have this distance to go, among others.
template <class Each>
void Exchange::for_each_part(std::uint32_t distance, Each each) const {
  for (std::uint32_t i = distance; i < group_.size(); ++i) {
    if ((i & distance) != 0) each(group_.carried.data() + i * plan_.bytes);
  }
}

std::span<const std::byte> Exchange::letter_to(std::uint32_t distance) {
  const std::size_t bytes = plan_.bytes;
  switch (plan_.how) {
    case How::kBroadcast: {
      const std::uint32_t rank = from_root();
      const bool gives = rank < distance && rank + distance < group_.size();
      return {plan_.to, gives ? bytes : 0};
    }
    case How::kTranspose:
      group_.packed.clear();
      for_each_part(distance, [&](const std::byte* part) {
        group_.packed.insert(group_.packed.end(), part, part + bytes);
      });
      return group_.packed;
    default: return {group_.carried.data(), std::min(distance, group_.size() - distance) * bytes};
  }
}

void Exchange::take(Letter& letter, std::uint32_t distance) {
  const std::byte* from = letter.bytes.data();
  const std::size_t bytes = plan_.bytes;
  switch (plan_.how) {
    case How::kBroadcast: copy_bytes(plan_.to, from, letter.length); break;
    case How::kTranspose:
      for_each_part(distance, [&](std::byte* part) {
        copy_bytes(part, from, bytes);
        from += bytes;
      });
      break;
    default: copy_bytes(group_.carried.data() + distance * bytes, from, letter.length);
  }
}

void Exchange::take_carried() {
  if (plan_.how == How::kReduce) return combine_carried();
  if (plan_.how == How::kBroadcast || plan_.to == nullptr) return;
  if (plan_.only_to_one && group_.rank() != 0) return;
  for (std::uint32_t rank = 0; rank < group_.size(); ++rank) {
    copy_bytes(plan_.to + rank * plan_.bytes, of(rank), plan_.bytes);
  }
}

void Exchange::combine_carried() {
  copy_bytes(plan_.to, of(0), plan_.bytes);
  try {
    for (std::uint32_t rank = 1; rank < group_.size() && plan_.bytes != 0; ++rank) {
      (*plan_.combine)(plan_.to, of(rank), plan_.bytes / plan_.combine->element);
    }
  } catch (...) {
    thrown_ = std::current_exception();
  }
}

// --- Waiting and errors

std::uint32_t Exchange::missing() const noexcept {
  if (round_ >= group_.rounds()) return group_.proc(further(group_.size() - 1));
  return group_.proc(further(group_.size() - (std::uint32_t{1} << round_)));
}

void Exchange::wait() {
  world().bundle().wait_with_siblings([this] { return advance(); },
                                      [this] {
                                        return am::Reason{.call = call_.name.text,
                                                          .where = call_.where,
                                                          .needs = "a message",
                                                          .peer = missing(),
                                                          .needs_all = true};
                                      });
}

BoardHeader Exchange::header() const noexcept {
  BoardHeader header{};
  header.bytes = plan_.bytes;
  header.kind = plan_.kind;
  std::strncpy(header.call, call_.name.text, sizeof header.call - 1);
  return header;
}

void Exchange::check() {
  if (thrown_) std::rethrow_exception(thrown_);
  if (!differs_) [[likely]]
    return;
  for (std::uint32_t rank = 0; rank < group_.size(); ++rank) {
    BoardHeader theirs;
    std::memcpy(&theirs, of(rank), sizeof theirs);
    if (std::memcmp(&theirs, &header_, sizeof theirs) == 0) continue;
    const bool same = describe(theirs) == describe(header_);
    refuse(call_, "rank " + std::to_string(group_.proc(rank)) + " called " + describe(theirs) +
                      " while this process called " + describe(header_) +
                      (same ? ", with another root, length or type" : "") +
                      "; all members of a team must make the same calls of it in the same order");
  }
  refuse(call_, "another member of the team is in another call of it");
}

}  // namespace splitc::detail
