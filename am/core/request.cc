#include <cstring>

#include "am/core/endpoint.h"
#include "am/core/far.h"
#include "am/route/router.h"

namespace am {

void Endpoint::check_medium(std::span<const std::byte> payload, const char* call) const {
  if (payload.size() > max_medium()) [[unlikely]] {
    bundle_->refuse(call, std::to_string(payload.size()) +
                              " bytes are too many for a medium message, which takes at most " +
                              std::to_string(max_medium()) + "; send them as a long one");
  }
}

void Endpoint::place_long(shmem::Half& half, const Verdict& verdict, std::byte* segment,
                          std::uint64_t offset, std::span<const std::byte> payload) {
  const bool written = verdict.status == Status::kDelivered;
  // It may be in the same segment, and overlap.
  if (written && !payload.empty()) {
    std::memmove(segment + verdict.at, payload.data(), payload.size());
  }
  packet::put_placement(half, {.offset = written ? verdict.at : offset,
                               .bytes = payload.size(),
                               .status = static_cast<std::uint64_t>(verdict.status),
                               .written = written});
}

void Request::place_long(HandlerIndex handler, Shape shape, std::uint64_t offset,
                         std::span<const std::byte> payload) {
  Endpoint& self = endpoint();
  const LongRequest message{handler, shape, offset, payload.size()};
  if (delivery_->from.segment == nullptr) return self.far().place_reply(message, payload);
  shmem::Slot& slot = *delivery_->room.slot;
  const auto [inbox, lane, number] = self.mailbox_.position_of(slot);
  Correspondent& from = self.correspondents_[inbox];
  if (from.reply_offsets.empty()) from.reply_offsets.resize(shmem::kLanes);
  from.reply_offsets[lane][number] = offset;
  Endpoint::place_long(slot.reply, from.admission->judge_reply(message, lane, number), from.segment,
                       offset, payload);
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
  return far_ != nullptr && mapped(to) && !bundle_->router().is_near(translations_[to].name.rank);
}

bool Endpoint::send_far(std::uint32_t to, Shape shape, HandlerIndex handler,
                        const std::byte* arguments, std::span<const std::byte> payload,
                        std::uint64_t offset, bool* released) {
  if (!is_far(to)) return false;  // its mailbox has no inbox now
  return far_->try_send(to, {.kind = kind_of(shape),
                             .role = role_of(shape),
                             .handler = handler,
                             .words = words_of(shape),
                             .arguments = arguments,
                             .payload = payload,
                             .offset = offset,
                             .released = released});
}

void Endpoint::stall(std::uint32_t to, const char* call) {
  refuse_waiting(to, call);
  ++stats_.credit_stalls;
}

void Endpoint::request_index(To to, HandlerIndex handler, std::span<const std::uint32_t> args,
                             Role role) {
  if (args.size() * packet::kWord > kMaxArgumentBytes || role == Role::kReply) {
    bundle_->refuse("request_index", std::to_string(args.size()) +
                                         " words of arguments; a request takes at most 16");
  }
  refuse_waiting(to.index, "request_index");
  outbox(to.index, "request_index");  // throws if it is not mapped
  wait_until(to, "request_index", detail::kCredit,
             [&] { return try_request_index(to.index, handler, args, role); });
}

bool Endpoint::try_request_index(std::uint32_t to, HandlerIndex handler,
                                 std::span<const std::uint32_t> args, Role role) {
  shmem::Outbox* const box = outbox(to, "request_index");
  const auto words = static_cast<std::uint32_t>(args.size());
  if (box == nullptr) {
    const Shape shape = make_shape(role, Kind::kShort, words);
    return send_far(to, shape, handler, std::as_bytes(args).data(), {}, 0, nullptr);
  }
  shmem::Room room;
  if (!box->try_claim<shmem::Lane::kShort>(room)) return false;
  packet::copy_payload(
      packet::arguments(room.slot->request, room.extension->request, Kind::kShort, words),
      std::as_bytes(args));
  send<Kind::kShort>(to, room,
                     packet::RequestMark{handler, static_cast<std::uint8_t>(words)}.mark(), role);
  return true;
}

std::uint32_t Endpoint::in_flight(std::uint32_t to, Kind kind) const {
  translation(to, "Endpoint::in_flight");
  const shmem::Outbox* const box = boxes_[to];
  if (box == nullptr) return far_ ? far_->in_flight(to, kind) : 0;
  switch (kind) {
    case Kind::kShort: return box->in_flight<shmem::Lane::kShort>();
    case Kind::kMedium: return box->in_flight<shmem::Lane::kMedium>();
    default: return box->in_flight<shmem::Lane::kLong>();
  }
}

}  // namespace am
