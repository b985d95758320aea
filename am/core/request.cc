#include <cstring>

#include "am/core/endpoint.h"
#include "am/core/far/far.h"
#include "am/core/process.h"
#include "am/route/router.h"
#include "am/types/released.h"
#include "shmem/error.h"

namespace am {

void Endpoint::check_medium(std::span<const std::byte> payload, const char* call) const {
  if (payload.size() > max_medium()) [[unlikely]] {
    bundle_->refuse(call, std::to_string(payload.size()) +
                              " bytes are too many for a medium message, which takes at most " +
                              std::to_string(max_medium()) + "; send them as a long one");
  }
}

void Endpoint::write_long(std::uint32_t to, shmem::Room room, const LongRequest& message,
                          std::span<const std::byte> payload) {
  const Translation& translation = translations_[to];
  const shmem::Outbox& box = *boxes_[to];
  const auto& admission = *reinterpret_cast<const PublishedAdmission*>(box.owner_page());
  translation.near->offsets[box.slot_of<shmem::Lane::kLong>(room)] = message.offset;
  place_long(room, room.slot->request, admission.judge_request(message, translation.tag),
             translation.near->peer.segment, message.offset, payload);
}

void Endpoint::place_long(shmem::Room room, shmem::Half& half, const Verdict& verdict,
                          std::byte* segment, std::uint64_t offset,
                          std::span<const std::byte> payload) {
  const bool written = verdict.status == Status::kDelivered;
  if (written && Extent::is_elsewhere(verdict.at)) return stage(room, half, offset, payload);
  // It may be in the same segment, and overlap.
  if (written && !payload.empty()) {
    std::memmove(segment + verdict.at, payload.data(), payload.size());
  }
  packet::put_placement(half, {.offset = written ? verdict.at : offset,
                               .bytes = payload.size(),
                               .status = static_cast<std::uint64_t>(verdict.status),
                               .staged = false,
                               .written = written});
}

// For the receiver to copy.
void Endpoint::stage(shmem::Room room, shmem::Half& half, std::uint64_t offset,
                     std::span<const std::byte> payload) {
  try {
    bundle_->process().staging().put(room.reply_payload(), payload);
  } catch (const shmem::Error& error) {
    bundle_->refuse("a long message",
                    std::string("no memory for its payload on the way: ") + error.what());
  }
  packet::put_placement(
      half,
      {.offset = offset, .bytes = payload.size(), .status = 0, .staged = true, .written = false});
}

void Request::place_long(HandlerIndex handler, Shape shape, std::uint64_t offset,
                         std::span<const std::byte> payload, bool* released) {
  Endpoint& self = endpoint();
  const LongRequest message{handler, shape, offset, payload.size()};
  if (delivery_->from.segment == nullptr) {
    return Endpoint::Far::place_reply(*delivery_, message, payload, released);
  }
  shmem::Slot& slot = *delivery_->room.slot;
  const auto [inbox, lane, number] = self.mailbox_.position_of(slot);
  Correspondent& from = self.correspondents_[inbox];
  if (from.reply_offsets.empty()) from.reply_offsets.resize(shmem::kLanes);
  from.reply_offsets[lane][number] = offset;
  self.place_long(delivery_->room, slot.reply, from.admission->judge_reply(message, lane, number),
                  from.segment, offset, payload);
  if (packet::placement(slot.reply).staged) {
    from.staged_reply[lane] = slot.request.head.load(std::memory_order_relaxed);
  }
  if (released != nullptr) release(*released);
}

void Endpoint::refuse_in_handler(std::uint32_t to, const char* call) const {
  if (!bundle_->in_handler()) return;
  bundle_->refuse(call, "a handler may not send requests (here to translation " +
                            std::to_string(to) +
                            "): waiting for its credit could deadlock, and "
                            "its slot may be the one that is being handled; let the handler reply, "
                            "or note the work and send it after poll()");
}

void Endpoint::refuse_waiting(std::uint32_t to, const char* call) const {
  refuse_in_handler(to, call);
  if (!Bundle::handling()) return;
  bundle_->refuse(call, "a handler or callback may not wait, here for credit of translation " +
                            std::to_string(to) + "; use try_request");
}

bool Endpoint::is_far(std::uint32_t to) const noexcept {
  if (far_ == nullptr) return false;
  const Locked inside(*this);
  return to < translations_.size() && translations_.is_used(to) &&
         !bundle_->router().is_near(translations_.entry(to).name.rank);
}

bool Endpoint::send_far(std::uint32_t to, const UntypedRequest& request, bool* released) {
  if (bundle_->access() == Access::kParallel || traced_) {
    return send_among_threads(to, request, released);
  }
  if (!is_far(to)) return false;  // its mailbox has no inbox now
  return try_send_far(to, request, released);
}

bool Endpoint::try_send_far(std::uint32_t to, const UntypedRequest& request, bool* released) {
  return far_->try_send(to, {.kind = request.kind,
                             .role = request.role,
                             .handler = request.handler,
                             .words = static_cast<std::uint32_t>(request.arguments.size()),
                             .arguments = std::as_bytes(request.arguments).data(),
                             .payload = request.payload,
                             .offset = request.offset,
                             .released = released});
}

void Endpoint::stall(std::uint32_t to, const char* call) {
  refuse_waiting(to, call);
  const Locked inside(*this);
  ++stats_.credit_stalls;
}

std::uint32_t Endpoint::in_flight(std::uint32_t to, Kind kind) const {
  const Locked inside(*this);
  translation(to, "Endpoint::in_flight");
  shmem::Outbox* const box = boxes_[to];
  if (box == nullptr) return far_ ? far_->in_flight(to, kind) : 0;
  switch (kind) {
    case Kind::kShort: return box->unread<shmem::Lane::kShort>();
    case Kind::kMedium: return box->unread<shmem::Lane::kMedium>();
    default: return box->unread<shmem::Lane::kLong>();
  }
}

}  // namespace am
