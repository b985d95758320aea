#include "splitc/group/mail.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "am/core/endpoint.h"
#include "am/core/token.h"
#include "am/types/types.h"
#include "splitc/group/group.h"
#include "splitc/group/groups.h"
#include "splitc/group/performer.h"
#include "splitc/world/place.h"

namespace splitc::detail {

static_assert(sizeof(MailHead) == 32 && Mail::kMost == am::max_medium());

// --- Inboxes

void Inbox::keep(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at) {
  Kept& one = kept_of(head.call).emplace_back(Kept{head, at, {}, {}});
  if (bytes.size() <= one.few.size()) {
    one.head.length = static_cast<std::uint8_t>(bytes.size());
    std::ranges::copy(bytes, one.few.begin());
  } else {
    one.many.assign(bytes.begin(), bytes.end());
  }
}

void Inbox::take(const MailHead& head, std::span<const std::byte> bytes, std::uint64_t at) {
  if (group == nullptr || group->is_to_come(head.call)) return keep(head, bytes, at);
  if (performer != nullptr && group->is_latest(head.call)) {
    return performer->take(head, bytes, at);
  }
  const Group::Made* const made = group->made(head.call);
  if (made == nullptr || made->was_judged || made->history == head.digest) return;
  if (performer != nullptr) {
    performer->suspect(head.source, head.call);
  } else {
    stray = head;
  }
}

Inbox* Mail::existing(std::uint64_t group) noexcept {
  const auto found = inboxes_.find(group);
  return found == inboxes_.end() ? nullptr : &found->second;
}

Inbox& Mail::inbox(std::uint64_t group) {
  const auto lock = lock_among_threads(mutex_);
  if (latest_inbox_ == nullptr || latest_ != group) {
    latest_inbox_ = &inboxes_[group];
    latest_ = group;
  }
  return *latest_inbox_;
}

void Mail::end_inbox(std::uint64_t group) noexcept {
  inboxes_.erase(group);
  latest_inbox_ = nullptr;
}

// --- Sending

Mail::Mail(am::Endpoint& endpoint) : endpoint_(endpoint) {
  with_handlers([this]<auto... kAll>() { endpoint_.add_handlers<kAll...>(*this); });
}

bool Mail::try_send(std::uint32_t proc, MailHead head, std::span<const std::byte> bytes,
                    std::uint64_t at) {
  if (bytes.size() > sizeof(Few) || head.kind == MailHead::Kind::kPiece) {
    return endpoint_.try_request_medium<&Mail::on_many>(proc, bytes, head, at);
  }
  Few few;
  head.length = static_cast<std::uint8_t>(bytes.size());
  if (!bytes.empty()) std::memcpy(few.bytes.data(), bytes.data(), bytes.size());
  return endpoint_.try_request<&Mail::on_few>(proc, head, few);
}

bool Mail::try_ask(std::uint32_t proc, const MailHead& head,
                   std::span<const std::uint32_t> digests) {
  return endpoint_.try_request_medium<&Mail::on_question>(proc, std::as_bytes(digests), head);
}

bool Mail::try_tell(std::uint32_t proc, const MailHead& head, const Verdict& verdict) {
  return endpoint_.try_request_medium<&Mail::on_verdict>(
      proc, std::as_bytes(std::span(&verdict, 1)), head);
}

bool Mail::try_stop(std::uint32_t proc, const MailHead& head) {
  return endpoint_.try_request<&Mail::on_stop>(proc, head);
}

bool Mail::has_sent(const am::Returned& message) const {
  return with_handlers([&]<auto... kAll>() {
    return ((message.handler == endpoint_.index_of<kAll>()) || ...);
  });
}

// --- Receiving

void Mail::on_few(am::OneWay, MailHead head, Few few) {
  const auto lock = begin_message();
  const std::size_t length = std::min<std::size_t>(head.length, few.bytes.size());
  inbox(head.group).take(head, std::span(few.bytes).first(length), 0);
}

void Mail::on_many(am::OneWay, std::span<const std::byte> bytes, MailHead head, std::uint64_t at) {
  const auto lock = begin_message();
  inbox(head.group).take(head, bytes, at);
}

void Mail::on_question(am::Request question, std::span<const std::byte> digests, MailHead head) {
  const auto lock = begin_message();
  const Inbox* const inbox = existing(head.group);
  const Group* const group = inbox != nullptr ? inbox->group : nullptr;
  auto call = static_cast<std::uint32_t>(head.call - digests.size() / sizeof(std::uint32_t));
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= digests.size(); at += sizeof call) {
    ++call;
    std::uint32_t digest;
    std::memcpy(&digest, digests.data() + at, sizeof digest);
    const Group::Made* const made = group != nullptr ? group->made(call) : nullptr;
    if (made != nullptr && made->was_judged) {
      std::move(question).reply_medium<&Mail::on_judged>(
          std::as_bytes(std::span(&*group->verdict(), 1)), head);
      return;
    }
    if (made == nullptr || made->digest == digest) continue;
    const CallText text = made->text();
    head.number = call;
    std::move(question).reply_medium<&Mail::on_difference>(std::as_bytes(std::span(&text, 1)),
                                                           head);
    return;
  }
  const bool has_come = group != nullptr && group->made(head.call) != nullptr;
  std::move(question).reply<&Mail::on_answer>(head, has_come);
}

Performer* Mail::performer_of(const MailHead& head) noexcept {
  Inbox* const inbox = existing(head.group);
  return inbox != nullptr ? inbox->performer : nullptr;
}

void Mail::on_answer(am::Reply, MailHead head, bool has_come) {
  const auto lock = begin_message();
  if (Performer* const performer = performer_of(head)) performer->answered(head, has_come);
}

void Mail::on_difference(am::Reply reply, std::span<const std::byte> bytes, MailHead head) {
  const auto lock = begin_message();
  Performer* const performer = performer_of(head);
  CallText theirs;
  if (performer == nullptr || bytes.size() != sizeof theirs) return;
  std::memcpy(&theirs, bytes.data(), sizeof theirs);
  performer->differs(head, reply.source(), theirs);
}

// It has left the call, or one before it, by a verdict.
void Mail::on_judged(am::Reply, std::span<const std::byte> bytes, MailHead head) {
  const auto lock = begin_message();
  Performer* const performer = performer_of(head);
  Verdict verdict;
  if (performer == nullptr || bytes.size() != sizeof verdict) return;
  std::memcpy(&verdict, bytes.data(), sizeof verdict);
  performer->has_left(head, verdict);
}

void Mail::on_stop(am::Request request, MailHead head) {
  const auto lock = begin_message();
  Inbox* const inbox = existing(head.group);
  bool is_writing = false;
  if (inbox != nullptr) {
    std::erase_if(inbox->kept_of(head.call), [&](const Inbox::Kept& one) {
      return one.head.call == head.call && one.head.source == head.source &&
             one.head.number == head.number && one.head.kind == MailHead::Kind::kWanted;
    });
    if (inbox->performer != nullptr && inbox->group->is_latest(head.call)) {
      is_writing = inbox->performer->stop(head);
    }
  }
  std::move(request).reply<&Mail::on_stopped>(head, is_writing);
}

void Mail::on_stopped(am::Reply reply, MailHead head, bool is_writing) {
  const auto lock = begin_message();
  Performer* const performer = performer_of(head);
  if (performer == nullptr || !existing(head.group)->group->is_latest(head.call)) return;
  performer->stopped(reply.source(), head.number, is_writing);
}

void Mail::on_verdict(am::OneWay, std::span<const std::byte> bytes, MailHead head) {
  const auto lock = begin_message();
  Inbox& inbox = this->inbox(head.group);
  Inbox::Judged judged{head.call, {}};
  if (bytes.size() != sizeof judged.verdict) return;
  std::memcpy(&judged.verdict, bytes.data(), sizeof judged.verdict);
  Group* const group = inbox.group;
  if (group == nullptr || group->is_to_come(head.call)) inbox.judged.push_back(judged);
  if (group != nullptr && group->is_news(judged.verdict, head.call)) {
    inbox.performer != nullptr ? inbox.performer->judge(judged.verdict)
                               : group->judge(judged.verdict);
  }
}

}  // namespace splitc::detail
