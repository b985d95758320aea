#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "am/collective/schedule.h"
#include "splitc/group/exchange.h"
#include "splitc/group/group.h"
#include "splitc/group/mail.h"
#include "splitc/group/plan.h"

namespace splitc::detail {

// A collective call, as this member goes through its schedule, without waiting.
//
// What is published stands on the member's board; or, if it is large, it is read where it lies, in
// memory that is mapped or through the kernel, and the member waits until all have done that.
//
// A send of up to Mail::kMost bytes goes at once, and is kept where its receiver has not come so
// far. For a larger one the receiver names the destination, and the network writes it there. What
// can neither be read nor written so is requested, and sent in fragments.
//
// Each message and item has a digest of its call. A member that receives one with another digest,
// or has waited for a while, asks the sender, or the member that it waits for, what it has called.
// If that is another call, it notifies all members, and the call ends at all that are in it, or
// come to it, by an Error that names two of them and both calls.
//
// Thread rule: a thread of the program.
class Performer {
 public:
  Performer(Group& group, const GroupCall& call, const GroupPlan& plan);
  // If it has not ended, an exception has left it: the group cannot be used any more.
  ~Performer();
  Performer(const Performer&) = delete;
  Performer& operator=(const Performer&) = delete;

  // Goes on as far as possible. True: it has ended; then check().
  bool advance();
  // Whether the item that it waits for has come, or has been read; messages bring news themselves.
  bool has_news() noexcept;
  // Until then, polling.
  void wait();
  // Throws Error if the calls differ, and what an operation has thrown, or Error at the other
  // members whose result that spoils.
  void check() {
    if (spoiler_ != 0 || verdict_) [[unlikely]]
      raise();
  }
  // Until it has ended; what this member has sent has left by then, as its program may compute
  // next.
  void run();

  // --- By the mail: what has come in this call.
  void take(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at);
  void answered(const MailHead& head, bool has_come);
  void differs(const MailHead& head, std::uint32_t proc, const CallText& theirs);
  void has_left(const MailHead& head, const Verdict& verdict) noexcept;
  // The member makes another call than this one, it seems, under that number: this call does not
  // end before it has said which.
  void suspect(std::uint32_t rank, std::uint32_t call) noexcept;
  // This call ends, as its members have made different ones.
  void judge(const Verdict& verdict) noexcept;
  // Nothing is to be written any more for what has been asked for by that head. Whether that is
  // under way; then it is said when it has been.
  bool stop(const MailHead& head) noexcept;
  void stopped(std::uint32_t proc, std::uint32_t number, bool is_writing) noexcept;

 private:
  using Step = am::schedule::Step;

  // What is known of a member that may have made another call.
  struct Question {
    std::uint32_t rank;
    std::uint32_t call;         // number
    bool is_suspected;          // else it is only waited for
    bool told_verdict = false;  // the latest one of this member, of which it may not have heard
    bool asked = false;
    std::optional<Verdict> verdict = {};  // to be sent to all members
    std::uint32_t told = 0;               // of these
  };

  bool go_on();
  void begin_round();
  void end_round() noexcept;
  void perform_here(const Step& step) noexcept;
  void combine(std::byte* to, const std::byte* from, std::uint64_t bytes, bool before) noexcept;
  bool end();
  bool leave();

  std::byte* at(const am::schedule::Range& range) noexcept;
  static void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;
  PeerCount& counted(std::uint32_t peer);
  Exchange* find(std::uint32_t peer, std::uint32_t number, bool sends) noexcept;
  void take_kept(Exchange& exchange);
  void arrived(Exchange& exchange, const MailHead& head, std::span<const std::byte> bytes,
               std::uint64_t at);
  bool arrived_of_large(Exchange& exchange, const MailHead& head, std::span<const std::byte> bytes,
                        std::uint64_t at);
  void set(Exchange& exchange, Exchange::State state) noexcept;

  // --- published.cc
  void publish(const Step& step);
  void publish_memory(const Step& step, NodeBoard::Item& item);
  void go_on_streaming() noexcept;
  std::uint32_t late_reader() const noexcept;
  bool is_last(std::uint8_t item) noexcept;
  void wake(std::uint32_t who, bool last) noexcept;
  bool block_on(std::uint32_t rank) noexcept;
  bool is_read_by_all() noexcept;
  bool has_read(std::uint32_t rank, std::uint8_t item, std::uint64_t parts_left = 0) const noexcept;
  void take_of_item(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at);
  void answer();

  // --- reading.cc
  bool go_on_reading();
  bool is_counted(std::uint8_t item) const noexcept;
  bool have_all_come(std::uint8_t item);
  const NodeBoard::Item* published(std::uint32_t rank, std::uint8_t number) const noexcept;
  bool try_read(const Step& step);
  bool try_read_memory(const Step& step, const Offer& offer);
  bool try_read_stream(const Step& step, const NodeBoard::Item& item, const Offer& offer) noexcept;
  void read_by_kernel(const Step& step, const Offer& offer);
  bool try_ask_for_part(const Step& step);
  void use(const Step& step, const std::byte* from, std::uint64_t bytes) noexcept;
  void say_read(std::uint8_t item, std::uint64_t parts_left = 0) noexcept;

  void act();
  bool try_act(Exchange& exchange);
  bool try_send(Exchange& exchange);
  bool try_send_pieces(Exchange& exchange);
  bool try_write(Exchange& exchange);
  void begin_large(Exchange& exchange) const;
  bool try_ask_for(Exchange& exchange);
  bool try_answer(Exchange& exchange, MailHead::Kind kind, Exchange::State then,
                  std::span<const std::byte> bytes = {});
  bool is_written() noexcept;
  MailHead head(MailHead::Kind kind, std::uint32_t number) const noexcept;

  // Whether a member's digest is that of this call, or it has said that it is in the same one.
  bool is_same(std::uint32_t digest, std::uint32_t rank) const noexcept {
    return digest == made_.history || std::ranges::find(same_, rank) != same_.end();
  }
  void look_at_clock();
  bool go_on_asking();
  void suspect_kept() noexcept;
  [[noreturn]] void raise();
  std::uint32_t missing() const noexcept;  // a rank that is waited for, or kNobody

  // Held while this is made and ended, and in advance(): messages for it come to any thread's poll.
  std::unique_lock<std::recursive_mutex> lock_;
  std::unique_lock<std::recursive_mutex>* held_ = nullptr;  // by advance(); nullptr: it is not
  Group& group_;
  Inbox& inbox_;
  const GroupCall call_;
  const GroupPlan plan_;
  Group::Made& made_;
  const am::schedule::Schedule& schedule_;
  bool has_ended_ = false;
  bool has_begun_ = false;  // this round
  std::uint32_t round_ = 0;
  std::uint32_t open_ = 0;    // exchanges of it that are not done
  std::uint32_t to_act_ = 0;  // ... of which this member has to do something for
  std::vector<Exchange>& exchanges_;
  std::vector<PeerCount>& counts_;
  std::optional<Question> question_;
  std::optional<Verdict> verdict_;  // by which this call ends
  // Members with another history that are in this call all the same: some members of a call that a
  // verdict has ended had left it before.
  std::vector<std::uint32_t> same_;
  std::uint32_t looks_ = 0;       // in vain
  std::uint64_t asks_at_ = 0;     // ticks; 0: not known yet
  std::uint64_t interval_ = 0;    // ... between questions
  std::uint32_t asked_ = 0;       // questions of that kind
  std::uint32_t next_asked_ = 0;  // exchange
  std::size_t next_read_ = 0;     // step of this round
  std::uint64_t read_bytes_ = 0;  // of that
  bool reads_memory_ = false;     // in this round
  bool is_waited_for_ = false;    // also waited for
  std::array<LargeItem, NodeBoard::kItems> large_items_;
  std::uint32_t large_ = 0;       // of these
  std::uint32_t read_ = 0;        // ... which all have read
  std::size_t next_reader_ = 0;   // of the next one
  std::optional<Stream> stream_;  // ended: nullopt
  std::optional<AskedFor> asked_for_;
  std::vector<Answer> answers_;  // that are to be sent
  std::uint32_t spoiler_ = 0;    // as MailHead has it
  std::exception_ptr thrown_;
};

}  // namespace splitc::detail
