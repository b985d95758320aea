#include <cstring>

#include "am/endpoint.h"

namespace am {

void Endpoint::check_medium(std::span<const std::byte> payload, const char* call) const {
  if (payload.size() > max_medium()) [[unlikely]] {
    bundle_->refuse(call, std::to_string(payload.size()) +
                              " bytes are too many for a medium message, which takes at most " +
                              std::to_string(max_medium()) + "; send them as a long one");
  }
}

void Endpoint::place_long(shmem::Half& half, const Extent& extent, std::byte* segment,
                          std::uint64_t offset, std::span<const std::byte> payload) {
  const bool fits = extent.holds(offset, payload.size());
  if (fits) packet::copy_payload(segment + extent.offset + offset, payload);
  packet::put_placement(half, {offset, payload.size(), fits});
}

void Request::place_long(std::uint64_t offset, std::span<const std::byte> payload) {
  const Correspondent& from = delivery_->from;
  endpoint().place_long(delivery_->room.slot->reply, from.extent->read(), from.segment, offset,
                        payload);
}

void Endpoint::refuse_in_handler(std::uint32_t to, const char* call) const {
  if (!bundle_->handling()) return;
  bundle_->refuse(call, "a handler may not send requests (here to translation " +
                            std::to_string(to) +
                            "): waiting for its credit could deadlock, and "
                            "its slot may be the one that is being handled; let the handler reply, "
                            "or note the work and send it after poll()");
}

void Endpoint::stall(std::uint32_t to, const char* call) {
  refuse_in_handler(to, call);
  ++stats_.credit_stalls;
}

void Endpoint::request_index(std::uint32_t to, HandlerIndex handler,
                             std::span<const std::uint32_t> args, Role role) {
  if (args.size() * packet::kWord > kMaxArgumentBytes || role == Role::kReply) {
    bundle_->refuse("request_index", std::to_string(args.size()) +
                                         " words of arguments; a request takes at most 16");
  }
  refuse_in_handler(to, "request_index");
  shmem::Outbox& box = outbox(to, "request_index");
  shmem::Room room;
  bundle_->wait_until([&] { return box.try_claim<shmem::Lane::kShort>(room); });
  const auto words = static_cast<std::uint32_t>(args.size());
  packet::copy_payload(
      packet::arguments(room.slot->request, room.extension->request, Kind::kShort, words),
      std::as_bytes(args));
  send<Kind::kShort>(to, room, packet::make_mark(handler, words, 0), role);
}

std::uint32_t Endpoint::in_flight(std::uint32_t to, Kind kind) const {
  translation(to, "Endpoint::in_flight");
  const shmem::Outbox* const box = boxes_[to];
  if (box == nullptr) return 0;
  switch (kind) {
    case Kind::kShort: return box->in_flight<shmem::Lane::kShort>();
    case Kind::kMedium: return box->in_flight<shmem::Lane::kMedium>();
    default: return box->in_flight<shmem::Lane::kLong>();
  }
}

}  // namespace am
