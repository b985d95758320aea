// Requests to endpoints of this node: how a translation is connected, and what is sent there.

#include "am/core/outgoing.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

#include "am/core/dispatch.h"
#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/traced.h"
#include "am/core/untyped_send.h"
#include "am/message/correspondent.h"
#include "am/route/process_stat.h"
#include "am/route/router.h"
#include "am/types/forked.h"
#include "am/types/shared_words.h"
#include "shmem/region.h"

namespace am {

// --- Connections

Owned<shmem::Outbox> Outgoing::try_open(const Translation& to) {
  const Caller caller{parts_.name, to.tag, parts_.incoming.admission()};
  Router& router = parts_.bundle->router();
  shmem::Doorbell& bell = router.peer(to.name.rank).header->bell;
  if (router.is_dead(to.name.rank)) return shmem::Outbox::to_nobody(bell, router.fence());
  try {
    return shmem::Outbox::try_open(to.name.mailbox, std::as_bytes(std::span(&caller, 1)), bell,
                                   router.fence());
  } catch (const shmem::Error& error) {
    // What has ended may be the endpoint alone, or its process, of which nobody has said so yet.
    const bool dead = router.deaths() != nullptr && has_ended(to.name.mailbox.pid);
    if (dead) router.note_death(to.name.rank, to.name.mailbox.pid);
    if (!dead && dynamic_cast<const shmem::Gone*>(&error) == nullptr) throw;
    return shmem::Outbox::to_nobody(bell, router.fence());
  }
}

shmem::Outbox* Outgoing::connect(std::uint32_t to, Call call) {
  check_not_forked(call);
  const bool locked = parts_.bundle->access() == Access::kParallel;
  return locked || parts_.admission.traced ? nullptr : connect_near(to, call);
}

shmem::Outbox* Outgoing::connect_near(std::uint32_t to, Call call) {
  TranslationTable& translations = parts_.translations;
  if (!translations.checked(to, call).used || translations[to].closing) {
    parts_.bundle->refuse(call, "translation " + std::to_string(to) +
                                    " is not mapped; give it a name and a tag with Endpoint::map");
  }
  const Translation& entry = translations[to];
  const Peer& process = parts_.bundle->router().peer(entry.name.rank);
  if (process.segment == nullptr) return nullptr;
  auto near = std::make_unique<Near>();
  try {
    near->box = try_open(entry);
  } catch (const shmem::Error& error) {
    parts_.bundle->refuse(call, "no way to the endpoint of rank " +
                                    std::to_string(entry.name.rank) + " at translation " +
                                    std::to_string(to) + ": " + error.what());
  }
  if (!near->box) return nullptr;
  near->peer = {entry.name,
                entry.tag,
                true,
                nullptr,
                process.segment,
                {},
                parts_.admission.reply_barrier(false)};
  connected_.push_back(to);
  if (near->box->gone()) parts_.alerts.add_gone(to);
  boxes_[to] = near->box.get();
  translations.connect(to, std::move(near));
  return boxes_[to];
}

void Outgoing::disconnect(std::uint32_t to) noexcept {
  boxes_[to]->close();
  boxes_[to] = nullptr;
  std::erase(connected_, to);
  std::erase(awaiting_, to);
  parts_.alerts.forget(to);
}

void Outgoing::close() noexcept {
  for (const std::uint32_t to : connected_) {
    if (boxes_[to]->gone()) drop_staged_of(parts_, *boxes_[to]);
    boxes_[to]->close();
  }
}

void Outgoing::suit_bundle() noexcept {
  if (parts_.bundle->access() == Access::kSequential) {
    if (!parts_.admission.traced) direct_ = {boxes_.data(), boxes_.size()};
  } else if (!direct_.empty()) {
    direct_ = {};  // other threads read it, once it is empty
  }
}

// --- Sending

bool Outgoing::try_send(std::uint32_t to, const UntypedRequest& request, Call call,
                        bool* released) {
  if (parts_.bundle->access() == Access::kParallel || parts_.admission.traced) {
    return try_send_locked(to, request, call, released);
  }
  if (!parts_.is_far(to)) return false;  // its mailbox has no inbox now
  return parts_.far->try_send(to, request, released);
}

// The copy of a payload is made with the lock held.
bool Outgoing::try_send_locked(std::uint32_t to, const UntypedRequest& request, Call call,
                               bool* released) {
  const EndpointLock lock(parts_);
  TracedSend traced(parts_);
  shmem::Outbox* box = box_at(to);
  if (box == nullptr || parts_.translations[to].closing) box = connect_near(to, call);
  const Rank peer = parts_.translations[to].name.rank;
  if (box == nullptr) {
    const bool near = parts_.far == nullptr || parts_.bundle->router().is_near(peer);
    if (near || !parts_.far->try_send(to, request, released)) return false;  // near: no inbox now
    if (traced) traced.sent(peer, request, parts_.far->sent_flow(to, request));
    return true;
  }
  if (!try_send_near(to, *box, request)) return false;
  if (traced) traced.sent(peer, request, sent_flow(to, request.kind));
  if (released != nullptr) release(*released);  // another thread has mapped this index anew
  return true;
}

bool Outgoing::try_send_near(std::uint32_t to, shmem::Outbox& box, const UntypedRequest& request) {
  switch (request.kind) {
    case Kind::kShort: return parts_.try_send_words<Kind::kShort>(to, box, request);
    case Kind::kMedium: return parts_.try_send_words<Kind::kMedium>(to, box, request);
    case Kind::kLong: break;
  }
  return parts_.try_send_words<Kind::kLong>(to, box, request);
}

void Outgoing::write_long(std::uint32_t to, shmem::Room room, const LongRequest& message,
                          std::span<const std::byte> payload) {
  const Translation& translation = parts_.translations[to];
  const shmem::Outbox& box = *boxes_[to];
  const auto& admission = *reinterpret_cast<const PublishedAdmission*>(box.owner_page());
  translation.near->offsets[box.slot_of<shmem::Lane::kLong>(room)] = message.offset;
  place_long(*parts_.bundle, room, room.slot->request,
             admission.judge_request(message, translation.tag), translation.near->peer.segment,
             message.offset, payload);
}

std::uint32_t Outgoing::in_flight(std::uint32_t to, Kind kind) const noexcept {
  shmem::Outbox& box = *boxes_[to];
  switch (kind) {
    case Kind::kShort: return box.unread<shmem::Lane::kShort>();
    case Kind::kMedium: return box.unread<shmem::Lane::kMedium>();
    case Kind::kLong: break;
  }
  return box.unread<shmem::Lane::kLong>();
}

template <Kind kKind>
bool Outgoing::try_farewell(std::uint32_t to) {
  constexpr shmem::Lane kLane = packet::lane_of(kKind);
  shmem::Outbox* const box = box_at(to);
  if (box == nullptr) return true;  // another thread has unmapped it
  const auto answered = std::popcount(box->awaited_slots(shmem::index(kLane)));
  if (box->in_flight<kLane>() == static_cast<std::uint32_t>(answered)) return true;
  shmem::Room room;
  if (!box->try_claim<kLane>(room)) return false;
  parts_.send<kKind>(to, *box, room, packet::RequestMark{0, 0, packet::Form::kFarewell}.mark(),
                     Role::kRequest);
  --parts_.stats[kKind].requests_sent;  // not the user's, and not counted there
  return true;
}
template bool Outgoing::try_farewell<Kind::kShort>(std::uint32_t);
template bool Outgoing::try_farewell<Kind::kMedium>(std::uint32_t);
template bool Outgoing::try_farewell<Kind::kLong>(std::uint32_t);

// --- Replies to come

void Outgoing::await(std::uint32_t to) {
  awaiting_.push_back(to);
  boxes_[to]->set_listed(true);
}

void Outgoing::drop_awaiting(std::size_t i) noexcept {
  boxes_[awaiting_[i]]->set_listed(false);
  awaiting_[i] = awaiting_.back();
  awaiting_.pop_back();
}

bool Outgoing::has_reply() const noexcept {
  return std::ranges::any_of(awaiting_,
                             [this](std::uint32_t to) { return boxes_[to]->has_reply(); });
}

PublishedAdmission& Outgoing::admission_at(std::uint32_t to) noexcept {
  return reinterpret_cast<Caller*>(boxes_[to]->caller())->admission;
}

void Outgoing::retag(std::uint32_t to, Tag former) {
  Near& near = *parts_.translations[to].near;
  Near::Former now{former, {}};
  std::uint64_t any = 0;
  for (std::uint32_t lane = 0; lane < shmem::kLanes; ++lane) {
    now.slots[lane] = near.box->awaited_slots(lane);
    for (const Near::Former& earlier : near.retagged) now.slots[lane] &= ~earlier.slots[lane];
    any |= now.slots[lane];
  }
  if (any != 0) near.retagged.push_back(now);
  near.peer.barrier = parts_.admission.reply_barrier(!near.retagged.empty());
  publish_retagged(to);
}

void Outgoing::publish_retagged(std::uint32_t to) {
  std::uint64_t refused[shmem::kLanes] = {};
  for (const Near::Former& former : parts_.translations[to].near->retagged) {
    if (parts_.admission.admits_reply(former.tag)) continue;
    for (std::uint32_t lane = 0; lane < shmem::kLanes; ++lane) refused[lane] |= former.slots[lane];
  }
  admission_at(to).set_retagged(refused);
}

bool Outgoing::settle_tag(std::uint32_t to, std::uint32_t lane, std::uint32_t slot) {
  Near& near = *parts_.translations[to].near;
  const std::uint64_t bit = std::uint64_t{1} << slot;
  const auto former = std::ranges::find_if(
      near.retagged, [&](const Near::Former& one) { return (one.slots[lane] & bit) != 0; });
  if (former == near.retagged.end()) return true;
  const bool admitted = parts_.admission.admits_reply(former->tag);
  former->slots[lane] &= ~bit;
  if ((former->slots[0] | former->slots[1] | former->slots[2]) == 0) near.retagged.erase(former);
  near.peer.barrier = parts_.admission.reply_barrier(!near.retagged.empty());
  publish_retagged(to);
  return admitted;
}

}  // namespace am
