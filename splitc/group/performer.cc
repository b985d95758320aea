#include "splitc/group/performer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "am/core/bundle.h"
#include "am/observe/activity.h"
#include "am/route/port.h"
#include "am/route/router.h"
#include "splitc/group/groups.h"
#include "splitc/world/world.h"

namespace splitc::detail {
namespace {

using State = Exchange::State;
using Kind = MailHead::Kind;

constexpr std::uint32_t kLooksBefore = 8;            // in vain, before the first look at the clock
constexpr std::size_t kKept = std::size_t{1} << 20;  // bytes of scratch memory

Group& checked(Group& group, Call call) {
  if (group.inbox().performer != nullptr) {
    refuse(call,
           "called by the operation of a collective call, which may not start or make another");
  }
  if (!group.left) [[likely]]
    return group;
  refuse(call, std::string("an exception has left the call of ") +
                   (group.is_job ? "all processes" : "this team") +
                   " before this one; let what handlers throw leave the program");
}

}  // namespace

Performer::Performer(Group& group, const GroupCall& call, const GroupPlan& plan)
    : lock_(Groups::of_world().lock()),
      group_(checked(group, call)),
      inbox_(group.inbox()),
      call_(call),
      plan_(plan),
      made_(group.begin_call(call, plan)),
      schedule_(group.schedule(plan)),
      exchanges_(group.exchanges),
      counts_(group.counts) {
  exchanges_.clear();
  counts_.clear();
  if (group.scratch.size() < schedule_.scratch_bytes()) {
    group.scratch.resize(schedule_.scratch_bytes());
  }
  inbox_.performer = this;
  std::erase_if(inbox_.judged, [&](const Inbox::Judged& one) {
    if (!group.is_to_come(one.verdict.call)) judge(one.verdict);
    return !group.is_to_come(one.call);
  });
  if (inbox_.stray) {
    suspect(inbox_.stray->source, inbox_.stray->call);
    inbox_.stray.reset();
  }
  suspect_kept();
  if (lock_) lock_.unlock();
}

Performer::~Performer() {
  const auto lock = Groups::of_world().lock();
  inbox_.performer = nullptr;
  if (group_.scratch.capacity() > kKept) std::vector<std::byte>().swap(group_.scratch);
  if (!has_ended_) group_.left = true;
  if (group_.is_crowded()) {
    group_.board(group_.rank()).waits_for.store(NodeBoard::kNobody, std::memory_order_relaxed);
  }
}

// --- The schedule

bool Performer::advance() {
  auto lock = Groups::of_world().lock();
  struct Held {
    ~Held() { performer.held_ = nullptr; }
    Performer& performer;
  } const held{*this};
  if (lock) held_ = &lock;
  return has_ended_ || go_on();
}

bool Performer::go_on() {
  for (;;) {
    if (verdict_ || question_) [[unlikely]] {
      if (verdict_ || go_on_asking()) return leave();
    }
    if (!answers_.empty()) [[unlikely]]
      answer();
    if (stream_) go_on_streaming();
    if (round_ == schedule_.rounds()) {
      if (!(question_ && question_->is_suspected) && is_read_by_all()) return end();
      break;
    }
    if (!has_begun_) begin_round();
    if (to_act_ != 0) act();
    if (!go_on_reading() || open_ != 0) break;
    end_round();
  }
  if (++looks_ > kLooksBefore) look_at_clock();
  return false;
}

void Performer::begin_round() {
  exchanges_.clear();
  for (const Step& step : schedule_.round(round_)) {
    if (step.kind == Step::Kind::kSend) {
      exchanges_.push_back({&step, counted(step.peer).sent++, State::kToSend});
    } else if (step.kind == Step::Kind::kReceive) {
      exchanges_.push_back({&step, counted(step.peer).received++, State::kAwaited});
    } else {
      if (step.kind == Step::Kind::kPublish) publish(step);
      continue;
    }
    Exchange& exchange = exchanges_.back();
    if (exchange.is_large()) begin_large(exchange);
    if (exchange.has_to_act()) ++to_act_;
  }
  open_ = static_cast<std::uint32_t>(exchanges_.size());
  has_begun_ = true;
  if (inbox_.kept_of(made_.number).empty()) return;
  for (Exchange& exchange : exchanges_) take_kept(exchange);
}

void Performer::end_round() noexcept {
  for (const Step& step : schedule_.round(round_)) {
    if (step.is_local()) perform_here(step);
  }
  has_begun_ = false;
  ++round_;
  next_read_ = 0;
}

void Performer::perform_here(const Step& step) noexcept {
  std::byte* const to = at(step.to);
  const std::byte* const from = at(step.from);
  if (step.kind == Step::Kind::kCopy) {
    copy_bytes(to, from, step.from.bytes);
  } else {
    combine(to, from, step.from.bytes, step.kind == Step::Kind::kCombineBefore);
  }
}

void Performer::combine(std::byte* to, const std::byte* from, std::uint64_t bytes,
                        bool before) noexcept {
  if (thrown_) return;
  // The program's operation may take long, or a lock of its own: others go on meanwhile. (What
  // comes for this call is kept, as it has all of this round.)
  auto* const lock = std::exchange(held_, nullptr);
  if (lock != nullptr) lock->unlock();
  std::exception_ptr thrown;
  try {
    plan_.combine->run(plan_.combine->op, to, from, bytes / plan_.combine->element, before);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (lock != nullptr) lock->lock();
  held_ = lock;
  if (!thrown) return;
  thrown_ = thrown;
  spoiler_ = 1 + group_.rank();
}

bool Performer::end() {
  inbox_.performer = nullptr;
  has_ended_ = true;
  exchanges_.clear();
  inbox_.kept_of(made_.number).clear();
  if (group_.is_unsettled && !verdict_) [[unlikely]] {
    Groups::of_world().staging().forget(group_.number(), made_.number);
    group_.is_unsettled = false;
  }
  return true;
}

std::byte* Performer::at(const am::schedule::Range& range) noexcept {
  switch (range.buffer) {
    case am::schedule::Buffer::kInput:  // only read from
      return const_cast<std::byte*>(plan_.input) + range.offset;
    case am::schedule::Buffer::kOutput: return plan_.output + range.offset;
    default: return group_.scratch.data() + range.offset;
  }
}

// --- Exchanges

// The peers of an exchange between all come one after the other: the last one first.
PeerCount& Performer::counted(std::uint32_t peer) {
  const auto found = std::find_if(counts_.rbegin(), counts_.rend(),
                                  [&](const PeerCount& one) { return one.peer == peer; });
  return found != counts_.rend() ? *found : counts_.emplace_back(PeerCount{peer});
}

Exchange* Performer::find(std::uint32_t peer, std::uint32_t number, bool sends) noexcept {
  for (Exchange& one : exchanges_) {
    if (one.step->peer == peer && one.number == number && one.sends() == sends &&
        one.state != State::kDone) {
      return &one;
    }
  }
  return nullptr;
}

void Performer::set(Exchange& exchange, State state) noexcept {
  if (exchange.has_to_act()) --to_act_;
  exchange.state = state;
  if (exchange.has_to_act()) ++to_act_;
  if (state == State::kDone) --open_;
}

void Performer::take_kept(Exchange& exchange) {
  std::vector<Inbox::Kept>& kept = inbox_.kept_of(made_.number);
  const auto belongs = [&](const Inbox::Kept& one) {
    return one.head.call == made_.number && one.head.source == exchange.step->peer &&
           one.head.number == exchange.number && is_same(one.head.digest, one.head.source) &&
           (one.head.kind == Kind::kWanted) == exchange.sends();
  };
  // Only what came in pieces has several.
  for (auto i = kept.size(); i-- > 0 && exchange.state != State::kDone;) {
    if (!belongs(kept[i])) continue;
    arrived(exchange, kept[i].head, kept[i].bytes(), kept[i].at);
    if (i + 1 != kept.size()) kept[i] = std::move(kept.back());
    kept.pop_back();
  }
}

void Performer::take(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at) {
  if (!is_same(head.digest, head.source)) [[unlikely]] {
    inbox_.keep(head, bytes, at);
    return suspect(head.source, made_.number);
  }
  if ((head.number & kItem) != 0) return take_of_item(head, bytes, at);
  const bool asks = head.kind == Kind::kWanted;
  Exchange* const exchange = has_begun_ ? find(head.source, head.number, asks) : nullptr;
  if (exchange != nullptr) return arrived(*exchange, head, bytes, at);
  inbox_.keep(head, bytes, at);  // of a later round
}

void Performer::arrived(Exchange& exchange, const MailHead& head, std::span<const std::byte> bytes,
                        std::uint64_t at) {
  if (spoiler_ == 0) spoiler_ = head.spoiler;
  const am::schedule::Range& to = exchange.step->to;
  if (head.kind == Kind::kWhole && !exchange.sends() && !exchange.large &&
      bytes.size() == to.bytes) {
    if (!bytes.empty()) std::memcpy(this->at(to), bytes.data(), bytes.size());
    return set(exchange, State::kDone);
  }
  if (exchange.large && arrived_of_large(exchange, head, bytes, at)) return;
  refuse(call_, "rank " + std::to_string(group_.proc(head.source)) +
                    " has sent something else than this process expects of it in this call");
}

// --- What has to be done here

MailHead Performer::head(Kind kind, std::uint32_t number) const noexcept {
  return {group_.number(), made_.number, group_.rank(), number, made_.history, kind, 0, {},
          spoiler_};
}

// One that has no room just now does not hold up the others.
void Performer::act() {
  for (Exchange& exchange : exchanges_) {
    while (exchange.has_to_act() && try_act(exchange)) continue;
  }
}

bool Performer::try_act(Exchange& exchange) {
  switch (exchange.state) {
    case State::kToSend: return try_send(exchange);
    case State::kToSendPieces: return try_send_pieces(exchange);
    case State::kToWrite: return try_write(exchange);
    case State::kWriting:
      // pairs with: the completion in try_write(); the memory may be another's after it.
      if (!exchange.large->write->is_done.load(std::memory_order_acquire)) return false;
      set(exchange, exchange.large->said_written ? State::kDone : State::kToSayWritten);
      return true;
    case State::kToSayWritten:
      exchange.large->said_written = try_answer(exchange, Kind::kWritten, State::kWriting);
      return exchange.large->said_written;
    default: return try_ask_for(exchange);
  }
}

bool Performer::try_send(Exchange& exchange) {
  const am::schedule::Range& from = exchange.step->from;
  return try_answer(exchange, Kind::kWhole, State::kDone, {at(from), from.bytes});
}

bool Performer::try_answer(Exchange& exchange, Kind kind, State then,
                           std::span<const std::byte> bytes) {
  if (!Groups::of_world().mail().try_send(group_.proc(exchange.step->peer),
                                          head(kind, exchange.number), bytes)) {
    return false;
  }
  set(exchange, then);
  return true;
}

// --- Waiting and errors

std::uint32_t Performer::missing() const noexcept {
  for (const Exchange& exchange : exchanges_) {
    if (exchange.state != State::kDone) return exchange.step->peer;
  }
  if (round_ != schedule_.rounds()) {
    const auto steps = schedule_.round(round_);
    if (next_read_ == steps.size()) return am::kNobody;
    const auto rest = steps.subspan(next_read_);
    const auto awaited = std::ranges::find_if(rest, [this](const Step& one) {
      return one.is_read() && published(one.peer, one.item) == nullptr;
    });
    return awaited != rest.end() ? awaited->peer : rest.front().peer;
  }
  if (stream_) return late_reader();
  if (read_ == large_) return am::kNobody;
  const LargeItem& item = large_items_[read_];
  return item.reader != am::schedule::kAllMembers ? item.reader : group_.near()[next_reader_];
}

void Performer::run() {
  if (!advance()) wait();
  group_.flush();
  check();
}

void Performer::wait() {
  std::optional<am::Expectation> expects;
  if (!group_.is_on_one_node()) expects.emplace(*world().router().port(), 1);
  const auto explain = [this] {
    const auto lock = Groups::of_world().lock();
    am::Reason reason{.call = call_, .needs_all = true};
    const std::uint32_t rank = missing();
    if (plan_.is_a_barrier() && plan_.call.bytes == 0) return reason;  // it waits for all
    reason.needs = "a message";
    if (rank != am::kNobody) reason.peer = group_.proc(rank);
    return reason;
  };
  wait_with_siblings([this] { return advance(); }, explain);
}

}  // namespace splitc::detail
