// What an endpoint hears of those that it talks to on other nodes: that they begin, change and end.

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "am/core/far/far.h"
#include "am/route/router.h"

namespace am {

using link::MessagePacket;

bool FarEndpoint::deliver_goodbye(Rank from, const MessagePacket& message) {
  last_sender_ = nullptr;
  return senders_.erase({from, message.from, message.index}) == 1;
}

bool FarEndpoint::deliver_gone(Rank from, const MessagePacket& message) {
  Receiver* const to = find_receiver(from, message);
  if (to == nullptr || to->gone) return true;  // it crossed our kGoodbye, or was sent twice
  note_gone(*to);
  credit(*to, message);
  return true;
}

// The other endpoint has ended: no answer of it is to come.
void FarEndpoint::note_gone(Receiver& to) {
  if (!to.known && !to.gone) to.answers.one_came();
  if (std::exchange(to.asking, false)) to.answers.one_came();
  to.gone = true;
}

bool FarEndpoint::deliver_hello(Rank from, const MessagePacket& message) {
  const auto* const hello = link::as<link::Introduction>(message.head);
  if (hello == nullptr) return false;
  auto& made = senders_[{from, message.from, message.index}];
  if (made) return false;
  made = std::make_unique<Sender>();
  made->rank = from;
  made->serial = message.from;
  made->index = message.index;
  const Name name{from, message.from, hello->mailbox};
  made->from = {name, hello->tag, parts_.admission.admits(hello->tag), nullptr, nullptr, {}};
  made->epoch = message.epoch;
  if (!made->announced.read(*hello)) return false;
  introduce(*made, 0);
  return true;
}

bool FarEndpoint::deliver_extent(Rank from, const MessagePacket& message) {
  const auto* const packet = link::as<link::Introduction>(message.head);
  if (packet == nullptr) return false;
  const std::uint8_t detail = message.head.detail;
  if ((detail & link::kFromRequester) != 0) {
    Sender* const sender = find_sender(from, message);
    if (sender == nullptr || !sender->announced.read(*packet)) return false;
    sender->epoch = message.epoch;
    if ((detail & link::kAsks) != 0) introduce(*sender, link::kAnswers);
    return true;
  }
  Receiver* const to = find_receiver(from, message);
  if (to == nullptr) return true;  // a change that crossed our kGoodbye
  if (!to->known && !to->gone) to->answers.one_came();
  if ((detail & link::kAnswers) != 0 && std::exchange(to->asking, false)) to->answers.one_came();
  to->known = far::Announced{};
  return to->known->read(*packet);
}

bool far::Announced::read(const link::Introduction& packet) {
  const std::uint32_t data_bytes = packet.message.head.data_bytes;
  if (packet.message.head.bytes != sizeof packet + link::rounded(data_bytes) ||
      data_bytes % sizeof(std::uint32_t) != 0) {
    return false;
  }
  admits = (packet.message.head.detail & link::kAdmits) != 0;
  extent = {packet.offset, packet.bytes};
  handlers.resize(data_bytes / sizeof(std::uint32_t));
  if (data_bytes != 0) std::memcpy(handlers.data(), &packet + 1, data_bytes);
  return true;
}

Verdict far::Announced::judge(const LongRequest& message, bool tag_admits) const noexcept {
  if (!tag_admits) return {Status::kBadTag, 0};
  const auto handler =
      std::ranges::find(handlers, message.handler, [](std::uint32_t word) { return word >> 16; });
  const Shape shape = handler == handlers.end() ? kNoShape : static_cast<Shape>(*handler);
  return am::judge(message, shape, extent);
}

// Whether a long message is admitted there; nullopt: that is not known yet.
std::optional<Verdict> FarEndpoint::judge(Receiver& to, std::uint32_t index,
                                          const LongRequest& message) {
  if (to.gone) return Verdict{Status::kBadEndpoint, 0};
  if (!to.known) return std::nullopt;
  const Verdict verdict = to.known->judge(message, to.known->admits);
  if (verdict.status == Status::kDelivered) return verdict;
  // It may have been announced since: who refuses, does so by the answer to a question.
  if (to.asking) return std::nullopt;
  if (const auto found = std::ranges::find(to.asked, message); found != to.asked.end()) {
    to.asked.erase(found);
    return verdict;
  }
  constexpr std::size_t kMost = 16;  // others may have been given up
  if (to.asked.size() == kMost) to.asked.erase(to.asked.begin());
  to.asked.push_back(message);
  to.asking = true;
  introduce(to, index, link::kFromRequester | link::kAsks);
  to.answers.one_more();
  return std::nullopt;
}

// Requests to endpoints of other nodes whose processes have died.

bool FarEndpoint::is_dead(Rank rank) const noexcept {
  return parts_.bundle->router().is_dead(rank);
}

bool FarEndpoint::survives() const noexcept { return parts_.bundle->router().deaths() != nullptr; }

void FarEndpoint::bury_dead() {
  last_sender_ = nullptr;
  std::erase_if(senders_, [this](const auto& entry) {
    return is_dead(entry.first.rank) && !entry.second->in_turn;  // what a handler uses stays
  });
  unreachable_ = true;
}

// By index: what handler 0 does may change the table.
int FarEndpoint::return_unreachable() {
  if (!std::exchange(unreachable_, false)) return 0;
  int count = 0;
  try {
    for (auto next = all_receivers_.begin(); next != all_receivers_.end();) {
      const std::uint32_t index = next->first;
      if (is_dead(next->second->rank)) count += return_all(index);
      next = all_receivers_.upper_bound(index);
    }
  } catch (...) {
    unreachable_ = true;  // the rest comes with the next poll
    throw;
  }
  return count;
}

void FarEndpoint::return_with_next_poll() noexcept {
  unreachable_ = true;
  parts_.alerts.look_again();
}

// Those that handler 0 sends meanwhile come back with the next poll.
int FarEndpoint::return_all(std::uint32_t index) {
  int count = 0;
  Receiver& dead = *receivers_[index];
  for (; dead.flushes != 0; --dead.flushes) dead.answers.one_came();
  note_gone(dead);
  for (const Kind kind : {Kind::kShort, Kind::kMedium, Kind::kLong}) {
    for (const Role role : {Role::kRequest, Role::kOneWay}) {
      Receiver* const out = unreachable(index);
      std::size_t left = out != nullptr ? out->kept->size(kind, role) : 0;
      while (left-- != 0 && return_oldest(index, kind, role, count)) {
      }
    }
  }
  return count;
}

// While handler 0 runs, another thread may have unmapped it, and mapped the index anew.
FarEndpoint::Receiver* FarEndpoint::unreachable(std::uint32_t index) const noexcept {
  Receiver* const out = index < receivers_.size() ? receivers_[index] : nullptr;
  return out != nullptr && is_dead(out->rank) ? out : nullptr;
}

// False: there is none.
bool FarEndpoint::return_oldest(std::uint32_t index, Kind kind, Role role, int& count) {
  if (unreachable(index) == nullptr || receivers_[index]->kept->size(kind, role) == 0) return false;
  Receiver& out = *receivers_[index];
  const far::KeptRequests::Request request = out.kept->take(kind, role);
  --out.in_flight[static_cast<int>(kind)];
  const auto& message = reinterpret_cast<const link::MessagePacket&>(*request.packet.data());
  if (role == Role::kRequest) {
    out.answers.one_came();
    epochs_.answered(message.epoch);
  }
  Body body;
  if (request.returned || !body.read(message)) return true;
  ++count;
  pass_returned(out.rank, message, body, Status::kUnreachable);
  return true;
}

}  // namespace am
