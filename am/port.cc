#include "am/port.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <utility>

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

// The shorter of two times, where a negative one is forever.
std::int64_t shorter(std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0) return std::max(a, b);
  return std::min(a, b);
}

template <class Packet>
const Packet* as(const link::PacketHeader& head) noexcept {
  return head.bytes >= sizeof(Packet) ? reinterpret_cast<const Packet*>(&head) : nullptr;
}

}  // namespace

Port::Port(Router& router, std::unique_ptr<link::Link> link, const Options& options)
    : router_(router),
      link_(std::move(link)),
      rung_(router.self().header->bell),
      one_sided_(router, *link_),
      transfers_(*link_, one_sided_),
      learned_stores_(*link_, one_sided_, options.learn) {
  if (options.progress_thread) {
    progress_.emplace(*link_, [&router] { router.notify(router.rank()); });
  }
}

Port::~Port() = default;

void Port::attach(Endpoint& endpoint, std::uint32_t serial) { endpoints_[serial] = &endpoint; }
void Port::detach(std::uint32_t serial) noexcept { endpoints_.erase(serial); }

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
    deliver_late();
  count += link_->poll(*this);
  if (count != 0) {
    attention_ = kAttention;
  } else if (attention_ > 0) {
    --attention_;
  }
  return count;
}

bool Port::fetch() {
  resume();
  const bool kept = link_->fetch(*this);
  resume();  // there may be room now, and nothing else that comes before the caller sleeps
  return kept || !late_.empty();
}

// Starts what found no room before.
void Port::resume() {
  one_sided_.resume();
  transfers_.resume();
}

void Port::refuse(Rank from, const link::PacketHeader& packet) const {
  router_.fatal("poll: a message of rank " + std::to_string(from) + " (type " +
                std::to_string(static_cast<int>(packet.type)) + ", " +
                std::to_string(packet.bytes) +
                " bytes) is damaged; all programs of a job must be built from the same Splitphase");
}

// Those that may run a handler, which is for poll() to do.
bool Port::keeps(const link::PacketHeader& packet) const noexcept {
  return packet.type == Type::kRequest || packet.type == Type::kOneWay ||
         packet.type == Type::kReply || packet.type == Type::kReturned;
}

void Port::deliver(Rank from, const link::PacketHeader& packet) {
  const auto* const access = as<link::Access>(packet);
  switch (packet.type) {
    case Type::kBarrier: return set_round(from, packet);
    case Type::kStore:
      if (access == nullptr || !one_sided_.take_store(*access)) refuse(from, packet);
      return;
    case Type::kCount: {
      const auto* const count = as<link::Count>(packet);
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
    default: return deliver_message(from, packet);
  }
}

bool Port::deliver_to_channels(Rank from, const link::PacketHeader& packet) {
  Channels* const channels = router_.channels();
  if (channels == nullptr) return true;  // closed, with the bundle they were in
  if (packet.type == Type::kRelayed) return channels->relays_awaited-- != 0;
  const auto* const access = as<link::Access>(packet);
  if (access == nullptr) return false;
  return packet.type == Type::kChannel ? channels->receivers.take_piece(*access)
                                       : channels->receivers.take_relay(from, *access);
}

bool Port::deliver_learning(Rank from, const link::PacketHeader& packet) {
  const auto* const learn = as<link::Learn>(packet);
  if (learn == nullptr) return false;
  return packet.type == Type::kLearn ? learned_stores_.take_question(from, *learn)
                                     : learned_stores_.take_answer(*learn);
}

void Port::arrived(std::uint32_t arrival) {
  if (LearnedStores::is_learned(arrival)) return learned_stores_.arrived(arrival);
  if (Channels* const channels = router_.channels()) channels->receivers.arrived(arrival);
}

void Port::deliver_message(Rank from, const link::PacketHeader& packet) {
  const auto* const message = as<link::MessagePacket>(packet);
  if (message == nullptr) refuse(from, packet);
  const auto found = endpoints_.find(message->to);
  if (found == endpoints_.end()) return Endpoint::Far::refuse_unknown(*link_, from, *message);
  Endpoint& endpoint = *found->second;
  if (keeps(packet) && &endpoint.bundle() != polling_) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&packet);
    late_.push_back({from, {bytes, bytes + packet.bytes}});
    return;
  }
  if (!endpoint.far().deliver(from, *message)) refuse(from, packet);
}

void Port::deliver_late() {
  std::vector<Late> late = std::exchange(late_, {});
  for (std::size_t i = 0; i < late.size(); ++i) {
    try {
      deliver_message(late[i].from,
                      *reinterpret_cast<const link::PacketHeader*>(late[i].bytes.data()));
    } catch (...) {
      const auto rest = late.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      late_.insert(late_.begin(), std::make_move_iterator(rest),
                   std::make_move_iterator(late.end()));
      throw;
    }
  }
}

void Port::tell_barrier(Rank to, int round, std::uint64_t epoch) {
  const link::Barrier packet{
      link::make_header(Type::kBarrier, sizeof(link::Barrier), 0, static_cast<std::uint8_t>(round)),
      epoch};
  link_->send(to, std::as_bytes(std::span(&packet, 1)));
}

void Port::set_round(Rank from, const link::PacketHeader& head) {
  const auto* const packet = as<link::Barrier>(head);
  if (packet == nullptr || head.detail >= RegionHeader::kRounds) refuse(from, head);
  router_.self().header->rounds[head.detail].publish(packet->epoch);
}

void Port::sleep(std::uint32_t ticket, std::int64_t timeout_ns) noexcept {
  const std::int64_t limit = shorter(timeout_ns, link_->patience_ns());
  if (link_->wait_fd() < 0) {
    router_.self().header->bell.sleep(ticket, shorter(limit, kBlindNapNs));
    return;
  }
  if (!link_->may_sleep()) return;
  pollfd watched[] = {{.fd = link_->wait_fd(), .events = POLLIN, .revents = 0},
                      {.fd = rung_.fd(), .events = POLLIN, .revents = 0}};
  const timespec time{.tv_sec = limit / 1'000'000'000, .tv_nsec = limit % 1'000'000'000};
  ppoll(watched, 2, limit < 0 ? nullptr : &time, nullptr);
  if (watched[1].revents != 0) rung_.quiet();
  attention_ = 1;  // the next glance shall look
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
  constexpr std::int64_t kLookNs = 1'000'000;  // while a packet that poll() is to handle is first
  shmem::Doorbell& bell = router_.self().header->bell;
  for (;;) {
    const std::uint32_t ticket = bell.about_to_sleep();
    router_.fence().heavy();
    const bool kept = fetch();
    if (done.load(std::memory_order_acquire)) break;  // pairs with: the store above
    sleep(ticket, kept ? kLookNs : shmem::Doorbell::kForever);
  }
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace am
