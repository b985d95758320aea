#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>

#include "am/types/source_location.h"
#include "splitc/collective/collective.h"
#include "splitc/collective/direct.h"
#include "splitc/team/group.h"
#include "splitc/world/place.h"
#include "splitc/world/segment.h"

namespace splitc::detail {

// A name of a call, with a number made of it when compiling.
struct CallName {
  consteval CallName(const char* name) : text(name) {
    for (const char* at = name; *at != '\0'; ++at) {
      hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3;
    }
  }
  const char* text;
  std::uint64_t hash = 0xcbf29ce484222325;
};
// A call of the program to a team.
struct TeamCall {
  TeamCall(CallName called, const am::SourceLocation& here) noexcept : name(called), where(here) {}
  operator Call() const noexcept { return {name.text, where}; }
  CallName name;
  am::SourceLocation where;
};

// What a call does. Spans are the caller's until it has ended.
struct TeamPlan {
  enum class How : std::uint8_t {
    kMeet,       // nothing
    kGather,     // from: `bytes`; to: those of all, by rank
    kBroadcast,  // from, of the root, and to: `bytes`
    kTranspose,  // from, to: a part of `bytes` for, and of, each
    kVarying,    // the same with parts of any size
    kReduce,     // from, to: `bytes` of elements
  };
  How how = How::kMeet;
  bool carried = false;      // goes along with the barrier; else it is sent when all have come
  bool only_to_one = false;  // a gather
  std::uint32_t root = 0;
  std::size_t bytes = 0;
  std::uint64_t kind = 0;  // what else must agree, beside `how` and `bytes`
  const std::byte* from = nullptr;
  std::byte* to = nullptr;               // of kGather: may be nullptr, if carried: see of()
  const Combine* combine = nullptr;      // kReduce
  const std::size_t* from_at = nullptr;  // kVarying: where parts begin, by rank, and the end
  const std::size_t* to_at = nullptr;    // ... in `to`
};

inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memcpy(to, from, bytes);
}

// A call of a team, as this process goes through it, without waiting.
//
// First all meet, by dissemination: in round k each tells the one that is 2^k ranks further that it
// is here, and all of whom it has heard; so after log2(size) rounds everybody has heard of all.
// Little goes along with that: what a member has so far (a gather), has from the root (a
// broadcast), or the parts that have bit k of their distance to go (a transposition; Bruck et al.
// 1997). Much is sent behind it, straight to where it shall be, as each receiver is there by now.
//
// Each letter has a digest of the call. Whoever hears from a member with another one, or from one
// that knows of a difference, knows of a difference: after the last round all do, or nobody. Then
// they make one more round of letters, of what each called, and all name two.
//
// Thread rule: the world's thread.
class Exchange {
 public:
  Exchange(Group& group, const TeamCall& call, const TeamPlan& plan);
  // If it has not ended, an exception has left it: the team cannot be used any more.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Goes on as far as possible. True: it has ended; then check().
  bool advance() {
    if (stage_ == Stage::kMeeting && !meet()) return false;
    return stage_ == Stage::kEnded || go_on();
  }
  // Until then, polling.
  void wait();
  // Throws Error if the calls differ, and what an operation has thrown.
  void check();
  void run() {
    if (!advance()) wait();
    check();
  }

  // What the member of that rank has given to a gather that was carried.
  const std::byte* of(std::uint32_t rank) const noexcept {
    const std::uint32_t back =
        group_.rank() >= rank ? group_.rank() - rank : group_.rank() + group_.size() - rank;
    return group_.carried.data() + back * plan_.bytes;
  }

 private:
  enum class Stage : std::uint8_t { kMeeting, kSending, kComparing, kEnded };
  struct Slice {
    std::size_t at;
    std::size_t bytes;
  };

  void begin(std::uint64_t digest);
  void carry_own();
  bool meet();
  bool go_on();
  bool finish_comparing();

  // Letters.
  bool carries() const noexcept { return plan_.carried && plan_.bytes != 0 && !differs_; }
  std::span<const std::byte> letter_to(std::uint32_t distance);
  void take(Letter& letter, std::uint32_t distance);
  template <class Each>
  void for_each_part(std::uint32_t distance, Each each) const;
  void take_carried();

  // Data.
  void expect_data();
  bool send_data();
  bool send_step(unsigned step);
  std::span<const std::byte> data_for(unsigned step, std::uint32_t rank) const noexcept;
  std::size_t place_of_mine(unsigned step) const noexcept;
  std::size_t longest(unsigned step) const noexcept;
  Slice slice_of(std::uint32_t rank) const noexcept;
  void move_own();
  void combine_slice();
  void combine_carried();

  std::uint32_t further(std::uint32_t distance) const noexcept {
    const std::uint32_t rank = group_.rank() + distance;
    return rank >= group_.size() ? rank - group_.size() : rank;
  }
  // Of the root: 0; and so on.
  std::uint32_t from_root() const noexcept {
    return group_.rank() >= plan_.root ? group_.rank() - plan_.root
                                       : group_.rank() + group_.size() - plan_.root;
  }
  std::uint32_t missing() const noexcept;  // a process that is waited for
  BoardHeader header() const noexcept;

  Group& group_;
  const TeamCall call_;
  TeamPlan plan_;
  Stage stage_ = Stage::kMeeting;
  bool differs_ = false;
  bool begun_ = false;  // the letter of this round
  bool sent_ = false;   // ... has left
  std::uint32_t round_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t digest_ = 0;
  std::span<const std::byte> letter_;
  std::size_t letter_done_ = 0;  // bytes of it that have left
  // Data: how far this member has come, and where in the step that is being sent.
  unsigned step_ = 0;  // 0: sends the first; 1: awaits that; 2: sends the second; 3: awaits that
  std::size_t at_ = 0;
  std::uint32_t peer_ = 1;  // distance
  std::array<Landing, 2> landings_;
  BoardHeader header_;  // once they compare
  std::exception_ptr thrown_;
};

}  // namespace splitc::detail
