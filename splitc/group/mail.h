#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "am/collective/nodes.h"
#include "am/core/token.h"
#include "splitc/world/context.h"

// The messages of collective calls. Each names its group and the number of the group's call; so it
// may come before this process has made that call, or even the group.

namespace am {
class Endpoint;
struct Returned;
}  // namespace am

namespace splitc::detail {

class Group;
class Performer;

// The head of a message: 32 bytes, which leave 32 of a short message.
struct MailHead {
  enum class Kind : std::uint8_t {
    kWhole,   // all that is sent
    kWanted,  // it is to be written to a RemoteKey, or sent in pieces; of an item a PartOfItem is
    kPiece,
    kWritten,  // all has been
  };
  std::uint64_t group;
  std::uint32_t call;
  std::uint32_t source;  // rank of the sender
  // The number of this message to the receiver within the call, or kItem and the number of an item.
  std::uint32_t number;
  std::uint32_t digest;  // of the sender's call, and those since the last barrier
  Kind kind;
  std::uint8_t length;  // of what a short message has beside this
  std::uint8_t unused[2];
  std::uint32_t spoiler;  // 1 + rank of a member whose operation has thrown; 0: none, so far
};

inline constexpr std::uint32_t kItem = 1u << 31;
struct PartOfItem {
  std::uint64_t offset;
  std::uint64_t bytes;
};

// Where a large item lies.
struct Offer {
  std::uint64_t address;
  std::uint64_t segment_offset;  // of it, if it lies in the member's segment
  am::Neighbour process;
};

// What a member has called, for members that have called something else.
struct CallText {
  bool is_same_call(const CallText& other) const noexcept {
    return bytes == other.bytes && kind == other.kind && std::ranges::equal(name, other.name);
  }

  std::uint64_t bytes;
  std::uint64_t kind;
  char name[48];   // padded with zeros
  char place[64];  // "file:line", the end of it; also padded
};

// Two members have made different calls.
struct Verdict {
  std::uint32_t call;  // number
  std::array<std::uint32_t, 2> ranks;
  std::array<CallText, 2> calls;
};

// What a process has of the messages of one group.
struct Inbox {
  // One that has come before it was expected.
  struct Kept {
    MailHead head;
    std::uint64_t at;  // of a piece
    std::array<std::byte, 32> few;
    std::vector<std::byte> many;

    std::span<const std::byte> bytes() const noexcept {
      return many.empty() ? std::span<const std::byte>(few).first(head.length) : many;
    }
  };

  Group* group = nullptr;          // nullptr: this process has not made it yet
  Performer* performer = nullptr;  // of the current call
  // By call; no member is so many calls ahead.
  std::array<std::vector<Kept>, 128> kept;
  // About calls that this process has not come to.
  struct Judged {
    std::uint32_t call;
    Verdict verdict;
  };
  std::vector<Judged> judged;
  // The head of a message of a call that has ended here, from a member that makes a different call
  // under its number; nullopt: none has come.
  std::optional<MailHead> stray;

  std::vector<Kept>& kept_of(std::uint32_t call) noexcept { return kept[call % kept.size()]; }
  void take(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at);
  void keep(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at);
};

// Sends and receives them.
//
// Thread rule: handlers take the mutex; callers of everything else hold it (Groups::lock()).
class Mail {
 public:
  explicit Mail(am::Endpoint& endpoint);
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;

  // That of a group; it stays where it is until end_inbox().
  Inbox& inbox(std::uint64_t group);
  void end_inbox(std::uint64_t group) noexcept;
  std::size_t inboxes() const noexcept { return inboxes_.size(); }
  // Messages so far.
  std::uint64_t arrivals() const noexcept { return arrivals_.load(std::memory_order_relaxed); }
  std::recursive_mutex& mutex() noexcept { return mutex_; }

  // All without waiting: false, and nothing has been sent, if there is no room just now. `bytes`:
  // at most kMost. `at`: of a piece, where it begins.
  static constexpr std::size_t kMost = 4096;
  bool try_send(std::uint32_t proc, MailHead head, std::span<const std::byte> bytes,
                std::uint64_t at = 0);
  // Whether the member with that process has made the same calls, of which `digests` are: up to
  // that of the head. Its answer goes to the performer of this call, if that has not ended by then.
  bool try_ask(std::uint32_t proc, const MailHead& head, std::span<const std::uint32_t> digests);
  bool try_tell(std::uint32_t proc, const MailHead& head, const Verdict& verdict);
  // What has been asked for with that number is not to be written any more. The answer, whether it
  // is being written, goes to the performer.
  bool try_stop(std::uint32_t proc, const MailHead& head);
  // Whether one that has come back is of these.
  bool has_sent(const am::Returned& message) const;

 private:
  struct Few {
    std::array<std::byte, 32> bytes;
  };

  void on_few(am::OneWay, MailHead head, Few few);
  void on_many(am::OneWay, std::span<const std::byte> bytes, MailHead head, std::uint64_t at);
  void on_question(am::Request question, std::span<const std::byte> digests, MailHead head);
  void on_answer(am::Reply, MailHead head, bool has_come);
  void on_difference(am::Reply, std::span<const std::byte> bytes, MailHead head);
  void on_judged(am::Reply, std::span<const std::byte> bytes, MailHead head);
  void on_stop(am::Request request, MailHead head);
  void on_stopped(am::Reply, MailHead head, bool is_writing);
  void on_verdict(am::OneWay, std::span<const std::byte> bytes, MailHead head);
  Inbox* existing(std::uint64_t group) noexcept;
  // One more has arrived: the lock that holds it.
  auto begin_message() noexcept {
    // (Written with the lock held.)
    auto lock = lock_among_threads(mutex_);
    arrivals_.store(arrivals() + 1, std::memory_order_relaxed);
    return lock;
  }
  // The performer of the current call of its group, if there is one.
  Performer* performer_of(const MailHead& head) noexcept;
  // Calls f with all handlers.
  template <class F>
  static auto with_handlers(F&& f) {
    return f.template operator()<&Mail::on_few, &Mail::on_many, &Mail::on_question,
                                 &Mail::on_answer, &Mail::on_difference, &Mail::on_judged,
                                 &Mail::on_stop, &Mail::on_stopped, &Mail::on_verdict>();
  }

  am::Endpoint& endpoint_;
  std::recursive_mutex mutex_;  // guards all of this, and what messages are taken to
  std::atomic<std::uint64_t> arrivals_{0};
  std::unordered_map<std::uint64_t, Inbox> inboxes_;
  std::uint64_t latest_ = ~std::uint64_t{0};  // group of ...
  Inbox* latest_inbox_ = nullptr;             // nullptr: none
};

}  // namespace splitc::detail
