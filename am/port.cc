#include "am/port.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "am/barrier.h"
#include "am/bundle.h"
#include "am/channels.h"
#include "am/endpoint.h"
#include "am/far.h"
#include "am/router.h"

namespace am {
namespace {

using link::Type;

// How long to sleep where no descriptor tells that something has come.
constexpr std::int64_t kBlindNapNs = 100'000;

// A time, or `limit` if that is shorter. A negative limit is none.
std::int64_t shortened(std::int64_t time, std::int64_t limit) {
  return limit < 0 ? time : std::min(time, limit);
}

// A packet that ends with data, or one that is as long as all of its kind. nullptr: it is not.
template <class Packet>
const Packet* as(const link::PacketHeader& head) noexcept {
  return head.bytes >= sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}
template <class Packet>
const Packet* as_exactly(const link::PacketHeader& head) noexcept {
  return head.bytes == sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}

}  // namespace

Port::Port(Router& router, std::unique_ptr<link::Link> link, const Options& options)
    : router_(router),
      link_(std::move(link)),
      rung_(router.self().header->bell),
      arrival_words_(link_->arrival_bits()),
      one_sided_(router, *link_),
      transfers_(*link_, one_sided_),
      learned_stores_(*link_, one_sided_, arrival_words_, options.learn) {
  if (options.progress_thread) {
    progress_.emplace(*link_, [&router] { router.notify(router.rank()); });
  }
}

Port::~Port() = default;

void Port::attach(Endpoint& endpoint, std::uint32_t serial) { endpoints_[serial] = &endpoint; }

void Port::detach(std::uint32_t serial) {
  endpoints_.erase(serial);
  for (auto& [bundle, queue] : late_) {
    std::erase_if(queue, [&](const Late& late) {
      const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
      if (message.to != serial) return false;
      refuse_unknown(late.from, message);
      return true;
    });
  }
  std::erase_if(late_, [](const auto& entry) { return entry.second.empty(); });
}

int Port::poll(Bundle& bundle) {
  struct Polling {
    Polling(Bundle*& whose, Bundle& bundle) : whose_(whose) { whose_ = &bundle; }
    ~Polling() { whose_ = nullptr; }
    Bundle*& whose_;
  } polling(polling_, bundle);
  skipped_ = 0;
  resume();
  int count = 0;
  if (!late_.empty()) [[unlikely]]
    count = deliver_late(bundle);
  count += link_->poll(*this);
  if (count != 0) {
    attention_ = kAttention;
  } else if (attention_ > 0) {
    --attention_;
  }
  return count;
}

bool Port::fetch(const Bundle* bundle) {
  fetching_ = bundle;
  resume();
  const bool kept = link_->fetch(*this);
  resume();  // there may be room now, and nothing else that comes before the caller sleeps
  return kept || late_.contains(bundle);
}

// Starts what found no room before.
void Port::resume() {
  one_sided_.resume();
  transfers_.resume();
  if (!lasts_.empty()) [[unlikely]] {
    const std::vector<Last> lasts = std::exchange(lasts_, {});
    for (const auto& [to, packet] : lasts) send_last(to, packet);
  }
}

void Port::send_last(Rank to, const link::MessagePacket& packet) {
  if (router_.has_left()) return;
  if (transfers_.owes(to)) {
    lasts_.push_back({to, packet});
  } else {
    link_->send(to, std::as_bytes(std::span(&packet, 1)));
  }
}

// From and to no endpoint: the answer comes to refuse_unknown().
void Port::flush_returned(Rank to) {
  constexpr std::uint32_t kNoEndpoint = ~0u;
  link::MessagePacket packet{};
  packet.head = link::make_header(Type::kFlush, sizeof packet);
  packet.to = packet.from = kNoEndpoint;
  link_->send(to, std::as_bytes(std::span(&packet, 1)));
  ++flushes_left_;
}

void Port::refuse(Rank from, const link::PacketHeader& packet) const {
  router_.fatal("poll: a message of rank " + std::to_string(from) + " (type " +
                std::to_string(static_cast<int>(packet.type)) + ", " +
                std::to_string(packet.bytes) +
                " bytes) is damaged; all programs of a job must be built from the same Splitphase");
}

namespace {

// Those that may run a handler, which is for poll() to do.
bool is_for_poll(const link::PacketHeader& packet) noexcept {
  return packet.type == Type::kRequest || packet.type == Type::kOneWay ||
         packet.type == Type::kReply || packet.type == Type::kReturned;
}

}  // namespace

Endpoint* Port::find(const link::PacketHeader& message) const noexcept {
  const auto* const packet = as<link::MessagePacket>(message);
  const auto found = packet != nullptr ? endpoints_.find(packet->to) : endpoints_.end();
  return found != endpoints_.end() ? found->second : nullptr;
}

bool Port::keeps(const link::PacketHeader& packet) const noexcept {
  if (!is_for_poll(packet)) return false;
  const Endpoint* const endpoint = find(packet);
  return fetching_ == nullptr || (endpoint != nullptr && &endpoint->bundle() == fetching_);
}

void Port::deliver(Rank from, const link::PacketHeader& packet) {
  const auto* const access = as<link::Access>(packet);
  switch (packet.type) {
    case Type::kBarrier: return set_round(from, packet);
    case Type::kStore:
      if (access == nullptr || !one_sided_.take_store(*access)) refuse(from, packet);
      return;
    case Type::kCount: {
      const auto* const count = as_exactly<link::Count>(packet);
      if (count == nullptr || !one_sided_.take_count(*count)) refuse(from, packet);
      return;
    }
    case Type::kGet:
      if (access == nullptr || !one_sided_.serve_get(from, *access)) refuse(from, packet);
      return;
    case Type::kPut:
      if (access == nullptr || !one_sided_.serve_put(from, *access)) refuse(from, packet);
      return;
    case Type::kGot:
      if (access == nullptr || !one_sided_.take_data(from, *access)) refuse(from, packet);
      return;
    case Type::kPutDone:
      if (access == nullptr || !one_sided_.take_done(from, *access)) refuse(from, packet);
      return;
    case Type::kChannel:
    case Type::kRelay:
    case Type::kRelayed:
      if (!deliver_to_channels(from, packet)) refuse(from, packet);
      return;
    case Type::kLearn:
    case Type::kLearned:
      if (!deliver_learning(from, packet)) refuse(from, packet);
      return;
    case Type::kHello:
    case Type::kExtent:
    case Type::kRequest:
    case Type::kOneWay:
    case Type::kReply:
    case Type::kReturned:
    case Type::kCredits:
    case Type::kFlush:
    case Type::kGoodbye:
    case Type::kGone: return deliver_message(from, packet);
    case Type::kPing:
    case Type::kPong: break;  // the link's own
  }
  refuse(from, packet);
}

bool Port::deliver_to_channels(Rank from, const link::PacketHeader& packet) {
  Channels* const channels = router_.channels();
  if (channels == nullptr) return true;  // closed, with the bundle they were in
  if (packet.type == Type::kRelayed) {
    if (packet.bytes != sizeof packet || channels->relays_awaited == 0) return false;
    --channels->relays_awaited;
    return true;
  }
  const auto* const access = as<link::Access>(packet);
  if (access == nullptr) return false;
  return packet.type == Type::kChannel ? channels->receivers.take_piece(*access)
                                       : channels->receivers.take_relay(from, *access);
}

bool Port::deliver_learning(Rank from, const link::PacketHeader& packet) {
  const auto* const learn = as_exactly<link::Learn>(packet);
  if (learn == nullptr) return false;
  return packet.type == Type::kLearn ? learned_stores_.take_question(from, *learn)
                                     : learned_stores_.take_answer(from, *learn);
}

bool Port::arrived(std::uint64_t word) {
  const std::optional<std::uint32_t> arrival = arrival_words_.find(word);
  if (!arrival) return false;
  if (LearnedStores::is_learned(*arrival)) {
    learned_stores_.arrived(*arrival);
  } else if (Channels* const channels = router_.channels()) {
    channels->receivers.arrived(*arrival);
  }
  return true;
}

// For an endpoint that has ended, or none.
void Port::refuse_unknown(Rank from, const link::MessagePacket& message) {
  const bool flushed = message.head.type == Type::kCredits && message.head.detail == link::kFlushed;
  if (flushed && flushes_left_ != 0) --flushes_left_;
  Endpoint::Far::refuse_unknown(*link_, from, message);
  const bool goes_back = message.head.type == Type::kReply && message.head.handler != 0;
  if (goes_back && !router_.has_left()) flush_returned(from);
}

void Port::deliver_message(Rank from, const link::PacketHeader& packet) {
  const auto* const message = as<link::MessagePacket>(packet);
  if (message == nullptr) refuse(from, packet);
  Endpoint* const endpoint = find(packet);
  if (endpoint == nullptr) return refuse_unknown(from, *message);
  // Behind a message that was put aside, all that comes for the same bundle is, to keep the order.
  const bool handles = is_for_poll(packet);
  if ((handles && &endpoint->bundle() != polling_) ||
      (!late_.empty() && late_.contains(&endpoint->bundle()))) [[unlikely]] {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
    late_[&endpoint->bundle()].push_back({from, {bytes, bytes + packet.bytes}});
    return;
  }
  deliver_to(*endpoint, from, *message);
}

void Port::deliver_to(Endpoint& endpoint, Rank from, const link::MessagePacket& message) {
  if (is_for_poll(message.head)) polling_->active_ = &endpoint;
  if (!endpoint.far().deliver(from, message)) refuse(from, message.head);
}

// One after another, as a handler may end endpoints or throw: the rest is for the next poll.
int Port::deliver_late(const Bundle& bundle) {
  const auto found = late_.find(&bundle);
  const std::size_t there = found == late_.end() ? 0 : found->second.size();
  std::size_t count = 0;
  for (auto queue = found; count < there && queue != late_.end(); queue = late_.find(&bundle)) {
    const Late late = std::move(queue->second.front());
    queue->second.pop_front();
    if (queue->second.empty()) late_.erase(queue);
    ++count;
    const auto& message = reinterpret_cast<const link::MessagePacket&>(late.packet());
    if (Endpoint* const endpoint = find(late.packet())) {
      deliver_to(*endpoint, late.from, message);
    } else {
      refuse_unknown(late.from, message);
    }
  }
  return static_cast<int>(count);
}

void Port::left(const Bundle& bundle) {
  const auto found = late_.find(&bundle);
  if (found == late_.end()) return;
  const LateQueue queue = std::move(found->second);
  late_.erase(found);
  for (const Late& late : queue) deliver_message(late.from, late.packet());
}

void Port::tell_barrier(Rank to, int round, std::uint64_t epoch, bool more) {
  const auto detail = static_cast<std::uint8_t>(round | (more ? link::kMore : 0));
  const link::Barrier packet{link::make_header(Type::kBarrier, sizeof(link::Barrier), 0, detail),
                             epoch};
  link_->send(to, std::as_bytes(std::span(&packet, 1)));
}

void Port::set_round(Rank from, const link::PacketHeader& head) {
  const auto* const packet = as_exactly<link::Barrier>(head);
  const int number = head.detail & ~link::kMore;
  if (packet == nullptr || number >= RegionHeader::kRounds ||
      from != Barrier::signaller(router_, number)) {
    refuse(from, head);
  }
  RegionHeader& self = *router_.self().header;
  shmem::Flag& round = self.rounds[number];
  if (packet->epoch != round.value() + 1) refuse(from, head);
  if ((head.detail & link::kMore) != 0) self.more[packet->epoch % 2].add(1);
  round.publish(packet->epoch);
}

void Port::sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  const std::int64_t limit = shortened(timeout_ns, link_->patience_ns());
  if (link_->wait_fd() < 0) {
    router_.self().header->bell.sleep(ticket, std::min(limit, kBlindNapNs));
    return;
  }
  if (!link_->may_sleep()) return;
  pollfd watched[] = {{.fd = link_->wait_fd(), .events = POLLIN, .revents = 0},
                      {.fd = rung_.fd(), .events = POLLIN, .revents = 0}};
  const timespec time{.tv_sec = limit / 1'000'000'000, .tv_nsec = limit % 1'000'000'000};
  ppoll(watched, 2, &time, nullptr);
  if (watched[1].revents != 0) rung_.quiet();
  attention_ = 1;  // the next glance shall look
}

void Port::bring_on_until(const bool& done) noexcept {
  const auto bring_on = [this] {
    resume();
    link_->poll(*this);  // no bundle polls, so deliver_message() runs no handler
    resume();
  };
  shmem::Doorbell& bell = router_.self().header->bell;
  while (!done) {
    const std::uint32_t ticket = bell.about_to_sleep();
    bring_on();
    if (!done) sleep(ticket, shmem::SleepLimit::kShortestNs);
  }
}

void Port::tend_while(const std::function<void()>& blocking) {
  std::atomic<bool> done{false};
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      blocking();
    } catch (...) {
      failure = std::current_exception();
    }
    done.store(true, std::memory_order_release);  // pairs with: the load below
    router_.notify(router_.rank());
  });
  shmem::SleepLimit limit;
  shmem::Doorbell& bell = router_.self().header->bell;
  for (;;) {
    const std::uint32_t ticket = bell.about_to_sleep();
    router_.fence().heavy();
    const bool kept = fetch(nullptr);
    if (done.load(std::memory_order_acquire)) break;  // pairs with: the store above
    // While a packet that poll() is to handle is first, nothing wakes for what is behind it.
    sleep(ticket, kept ? limit.kShortestNs : limit.next(ticket));
  }
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace am
