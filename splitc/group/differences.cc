// How the members of a group find out that they make different calls.

#include <string>
#include <utility>
#include <vector>

#include "am/types/clock.h"
#include "splitc/group/groups.h"
#include "splitc/group/performer.h"

namespace splitc::detail {
namespace {

using State = Exchange::State;
using Kind = MailHead::Kind;

constexpr std::int64_t kFirstQuestionNs = 10'000'000;
// So many in a call: a job that stands still is not to look as if it went on. Who comes later and
// waits asks, too.
constexpr std::uint32_t kQuestions = 6;

std::string describe(const CallText& text) {
  const std::string name = text.name;
  return text.bytes == 0 ? name : name + " of " + std::to_string(text.bytes) + " bytes";
}
std::string describe_place(const CallText& text) {
  return text.place[0] == 0 ? "" : std::string(" at ") + text.place;
}

// `latest`: of this member, if it has forgotten the one that the verdict is about.
[[noreturn]] void refuse_difference(const Group& group, const Verdict& verdict,
                                    const Group::Made& latest, Call call) {
  const Group::Made* const made = group.made(verdict.call);
  const Group::Made& here = made != nullptr ? *made : latest;
  const CallText mine = here.text();
  const std::size_t other = verdict.calls[0].is_same_call(mine) ? 1 : 0;
  const CallText& theirs = verdict.calls[other];
  const std::string same = group.is_job
                               ? "; all processes must make the same collective calls in the same "
                                 "order"
                               : "; all members of a team must make the same calls of it in the "
                                 "same order";
  refuse(call,
         "rank " + std::to_string(group.proc(verdict.ranks[other])) + " called " +
             describe(theirs) + describe_place(theirs) + " while this process called " +
             describe(mine) + (here.where.bits() == call.where.bits() ? "" : describe_place(mine)) +
             (describe(theirs) == describe(mine) ? ", with another root, length or type" : "") +
             same);
}

}  // namespace

void Performer::suspect(std::uint32_t rank, std::uint32_t call) noexcept {
  if (rank >= group_.size()) return;
  if (question_ && (question_->is_suspected || question_->asked)) return;  // one at a time
  question_ = {rank, call, true};
}

// After a while asks some of those for whom it waits, less and less often.
void Performer::look_at_clock() {
  const std::uint64_t now = am::ticks();
  if (asks_at_ == 0) {
    interval_ = am::ticks_of_ns(kFirstQuestionNs);
    asks_at_ = now + interval_;
    return;
  }
  if (question_ || asked_ == kQuestions || static_cast<std::int64_t>(now - asks_at_) < 0) return;
  for (std::size_t i = 0; i < exchanges_.size() && !question_; ++i) {
    const Exchange& exchange = exchanges_[next_asked_++ % exchanges_.size()];
    if (exchange.state != State::kDone) question_ = {exchange.step->peer, made_.number, false};
  }
  const std::uint32_t rank = missing();
  if (!question_ && rank != am::kNobody) question_ = {rank, made_.number, false};
  ++asked_;
  interval_ *= 2;
  asks_at_ = now + interval_;
}

// True: all members have been told that the calls differ.
bool Performer::go_on_asking() {
  Question& question = *question_;
  if (!question.verdict) {
    const Group::Made* const made = group_.made(question.call);
    if (made == nullptr) {
      question_.reset();  // so long ago that nobody knows
    } else if (!question.told_verdict && group_.verdict()) {
      MailHead tells = head(Kind::kWhole, 0);
      tells.call = group_.judged_through();
      question.told_verdict =
          Groups::of_world().mail().try_tell(group_.proc(question.rank), tells, *group_.verdict());
    } else if (!question.asked) {
      MailHead asks = head(Kind::kWhole, 0);
      asks.call = question.call;
      question.asked = Groups::of_world().mail().try_ask(group_.proc(question.rank), asks,
                                                         group_.digests(question.call));
    }
    return false;
  }
  for (; question.told < group_.size(); ++question.told) {
    if (question.told == group_.rank()) continue;
    if (!Groups::of_world().mail().try_tell(group_.proc(question.told), head(Kind::kWhole, 0),
                                            *question.verdict))
      return false;
  }
  judge(*question.verdict);
  return true;
}

void Performer::judge(const Verdict& verdict) noexcept {
  if (verdict_) return;
  verdict_ = verdict;
  group_.judge(verdict);
}

// It is in the same call, or has not come to it, and may still make another one.
void Performer::answered(const MailHead& head, bool has_come) {
  if (!question_ || question_->call != head.call || question_->verdict) return;
  const Question answered = *question_;
  question_.reset();
  if (answered.call != made_.number || !has_come) return suspect_kept();
  same_.push_back(answered.rank);
  std::vector<Inbox::Kept> rest = std::exchange(inbox_.kept_of(made_.number), {});
  for (const Inbox::Kept& one : rest) {
    if (one.head.source == answered.rank && one.head.call == made_.number) {
      take(one.head, one.bytes(), one.at);
    } else {
      inbox_.keep(one.head, one.bytes(), one.at);
    }
  }
  suspect_kept();
}

// One at a time: whose message of this call shows that it has made other ones.
void Performer::suspect_kept() noexcept {
  for (const Inbox::Kept& one : inbox_.kept_of(made_.number)) {
    if (one.head.call == made_.number && !is_same(one.head.digest, one.head.source)) {
      suspect(one.head.source, one.head.call);
    }
  }
}

// The member that was asked has left the call by a verdict.
void Performer::has_left(const MailHead& head, const Verdict& verdict) noexcept {
  if (question_ && question_->call == head.call && !question_->verdict) judge(verdict);
}

void Performer::differs(const MailHead& head, std::uint32_t proc, const CallText& theirs) {
  if (!question_ || question_->call != head.call || group_.proc(question_->rank) != proc) return;
  const Group::Made* const made = group_.made(head.number);
  if (made == nullptr) return;
  question_->verdict = {head.number, {group_.rank(), question_->rank}, {made->text(), theirs}};
}

void Performer::raise() {
  if (verdict_) refuse_difference(group_, *verdict_, made_, call_);
  if (thrown_) std::rethrow_exception(thrown_);
  refuse(call_, "the operation has thrown at rank " + std::to_string(group_.proc(spoiler_ - 1)) +
                    ", so there is no result");
}

}  // namespace splitc::detail
