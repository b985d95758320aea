#include "am/c/binding/own_queue.h"

#include <memory>
#include <type_traits>
#include <utility>

#include "am/c/binding/handles.h"
#include "am/c/binding/message_check.h"
#include "am/observe/activity.h"
#include "am/route/router.h"
#include "shmem/mailbox_layout.h"

namespace am::c {

namespace {

// As which those that are in flight are counted.
constexpr Kind kKindOfGets = Kind::kMedium;
Kind kind_of(const UntypedRequest& request) noexcept { return request.kind; }
Kind kind_of(const UntypedGet&) noexcept { return kKindOfGets; }

}  // namespace

OwnQueue::~OwnQueue() { leave(endpoint_.bundle()); }

void OwnQueue::set_at_once(bool at_once) noexcept {
  const bool before = at_once_.exchange(at_once, std::memory_order_relaxed);
  if (at_once && !before) count_.fetch_add(1, std::memory_order_relaxed);
  if (!at_once && before) count_.fetch_sub(1, std::memory_order_relaxed);
}

// A thread that is in poll() has mutex_: it is waited for without.
void OwnQueue::leave(Bundle& from) noexcept {
  if (!empty()) from.remove(*this);
}

void OwnQueue::join(Bundle& to) {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return;
  in_ = &to;
  to.add(*this);
}

// What it refers to stays where it is when its vectors move. Without memory it has no effect.
template <class Message>
void OwnQueue::add(std::uint32_t to, Message message) {
  Waiting made{to, {}, {message.arguments.begin(), message.arguments.end()}, {}};
  message.arguments = made.arguments;
  if constexpr (std::is_same_v<Message, UntypedRequest>) {
    made.payload.assign(message.payload.begin(), message.payload.end());
    message.payload = made.payload;
  }
  made.message = message;
  const std::lock_guard lock(mutex_);
  Bundle& bundle = endpoint_.bundle();
  waiting_.push_back(std::move(made));
  if (waiting_.size() == 1) {
    try {
      bundle.add(*this);
    } catch (...) {
      waiting_.pop_back();
      throw;
    }
    in_ = &bundle;
  }
  count_.fetch_add(1, std::memory_order_relaxed);
}

// Whether there was credit for the oldest. One that cannot be sent any more, as for a get for which
// there is no place since, does not stay in the way of the others: what it throws comes out once.
bool OwnQueue::try_send_oldest() {
  const Waiting& next = waiting_.front();
  const auto taken = [this] {
    waiting_.pop_front();
    count_.fetch_sub(1, std::memory_order_relaxed);
  };
  try {
    const bool sent = std::visit(
        [&](const auto& message) { return try_send(endpoint_, next.to, message); }, next.message);
    if (sent) taken();
    return sent;
  } catch (...) {
    taken();
    if (waiting_.empty()) in_->remove(*this);
    throw;
  }
}

int OwnQueue::poll() {
  int sent = 0;
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty() && try_send_oldest()) ++sent;
  if (waiting_.empty()) in_->remove(*this);
  return sent;
}

// Credit comes back with replies, which are messages for the bundle.
bool OwnQueue::has_work() noexcept {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return false;
  const Waiting& next = waiting_.front();
  const auto* const request = std::get_if<UntypedRequest>(&next.message);
  const Kind kind = request != nullptr ? request->kind : kKindOfGets;
  return endpoint_.in_flight(next.to, kind) < shmem::kWindow[static_cast<int>(kind)];
}

void OwnQueue::wait_until_sent(const char* call) {
  endpoint_.bundle().wait_with_siblings(
      [this] { return empty(); },
      [call] {
        return Reason{.call = call, .needs = "credit for messages to this process itself"};
      });
}

namespace {

void send(Endpoint& from, const To& to, const UntypedRequest& request) {
  from.request_index(to, request);
}
void send(Endpoint& from, const To& to, const UntypedGet& get) { from.get_index(to, get); }

// Polls until what has just been sent to this process has been answered; or nothing comes any more,
// as its endpoint is in another bundle; or too much comes from others. Where a callback sends, a
// later poll does.
void handle_at_once(EndpointState& from, std::uint32_t to, Kind kind) {
  constexpr int kMostPolls = 64;
  if (Bundle::handling()) return;
  for (int polls = 0; polls < kMostPolls && from.in_flight(to, kind) != 0; ++polls) {
    if (from.bundle().poll() == 0) return;
  }
}

}  // namespace

template <class Message>
int send_slowly(const char* call, EndpointState& from, std::uint32_t to, const Message& message,
                Patience patience) {
  const bool own = from.translation_name(to).rank == from.bundle().router().rank();
  if (has_queued(from) && !own && try_send(from, to, message)) return AM_OK;
  if (own && from.queue && from.queue->at_once() && from.queue->empty() &&
      try_send(from, to, message)) {
    handle_at_once(from, to, kind_of(message));
    return AM_OK;
  }
  if (patience == Patience::kTries) return fail_no_credit(call, static_cast<int>(to));
  if (!own) {
    send(from, To(to, SourceLocation()), message);
    return AM_OK;
  }
  if (!from.queue) from.queue = std::make_unique<OwnQueue>(from);
  from.queue->add(to, message);
  ++from.queued;
  return AM_OK;
}

template int send_slowly(const char*, EndpointState&, std::uint32_t, const UntypedRequest&,
                         Patience);
template int send_slowly(const char*, EndpointState&, std::uint32_t, const UntypedGet&, Patience);

}  // namespace am::c
