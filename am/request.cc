#include <cstring>

#include "am/endpoint.h"
#include "am/far.h"

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
  if (from.segment == nullptr) return endpoint().far().place_reply(from, offset, payload);
  endpoint().place_long(delivery_->room.slot->reply, from.extent->read(), from.segment, offset,
                        payload);
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
  if (!bundle_->handling()) return;
  bundle_->refuse(call, "a callback may not wait, here for credit of translation " +
                            std::to_string(to) + "; use try_request");
}

bool Endpoint::is_far(std::uint32_t to) const noexcept {
  return far_ != nullptr && mapped(to) && !bundle_->router().is_near(translations_[to].name.rank);
}

bool Endpoint::send_far(std::uint32_t to, Shape shape, HandlerIndex handler,
                        const std::byte* arguments, std::span<const std::byte> payload,
                        std::uint64_t offset, bool* released) {
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

void Endpoint::request_index(std::uint32_t to, HandlerIndex handler,
                             std::span<const std::uint32_t> args, Role role) {
  if (args.size() * packet::kWord > kMaxArgumentBytes || role == Role::kReply) {
    bundle_->refuse("request_index", std::to_string(args.size()) +
                                         " words of arguments; a request takes at most 16");
  }
  refuse_waiting(to, "request_index");
  shmem::Outbox* const box = outbox(to, "request_index");
  const auto words = static_cast<std::uint32_t>(args.size());
  if (box == nullptr) {
    const Shape shape = make_shape(role, Kind::kShort, words);
    const std::byte* const arguments = std::as_bytes(args).data();
    return bundle_->wait_until(
        [&] { return send_far(to, shape, handler, arguments, {}, 0, nullptr); });
  }
  shmem::Room room;
  bundle_->wait_until([&] { return box->try_claim<shmem::Lane::kShort>(room); });
  packet::copy_payload(
      packet::arguments(room.slot->request, room.extension->request, Kind::kShort, words),
      std::as_bytes(args));
  send<Kind::kShort>(to, room, packet::make_mark(handler, words, 0), role);
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
