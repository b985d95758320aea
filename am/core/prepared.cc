// Medium requests whose payload is written where it is sent from.

#include "am/core/prepared.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "am/core/far/far.h"
#include "am/core/untyped_send.h"

namespace am {

void check_limits(const Bundle& bundle, std::size_t least, std::size_t most, Call call) {
  if (least <= most && most <= max_medium()) return;
  bundle.refuse(call, "a payload of " + std::to_string(least) + " to " + std::to_string(most) +
                          " bytes cannot be prepared; give two sizes up to " +
                          std::to_string(max_medium()) + ", the smaller one first");
}

void check_used(const Bundle& bundle, std::size_t used, std::size_t most, Call call) {
  if (used <= most) return;
  bundle.refuse(call, std::to_string(used) + " bytes are more than the " + std::to_string(most) +
                          " that were prepared; prepare as many as may be needed");
}

PreparedMedium Endpoint::prepare_medium(To to, std::size_t least, std::size_t most) {
  const Call call("prepare_medium", to.where);
  parts_.refuse_waiting(to.value, call);
  check_limits(bundle(), least, most, call);
  PreparedMedium prepared(*this, to, most);
  if (!prepared.try_begin(call)) {
    parts_.wait_for_credit(to.value, call, [&] { return prepared.try_begin(call); });
  }
  return prepared;
}

std::optional<PreparedMedium> Endpoint::try_prepare_medium(To to, std::size_t least,
                                                           std::size_t most) {
  const Call call("try_prepare_medium", to.where);
  parts_.refuse_in_handler(to.value, call);
  check_limits(bundle(), least, most, call);
  PreparedMedium prepared(*this, to, most);
  if (!prepared.try_begin(call)) return std::nullopt;
  return prepared;
}

PreparedMedium::PreparedMedium(PreparedMedium&& other) noexcept
    : endpoint_(other.endpoint_),
      to_(other.to_),
      most_(other.most_),
      bytes_(std::exchange(other.bytes_, {})),
      place_(std::exchange(other.place_, Place::kNowhere)),
      box_(other.box_),
      room_(other.room_),
      number_(other.number_),
      buffer_(std::move(other.buffer_)) {}

// A claim of a slot changes nothing, so that one which is dropped need not be given back.
bool PreparedMedium::try_begin(Call call) {
  EndpointParts& parts = endpoint_.parts();
  box_ = parts.outgoing.box_for(to_.value, call);
  if (box_ == nullptr) return try_begin_far(call);
  if (!box_->try_claim<shmem::Lane::kMedium>(room_)) return false;
  number_ = box_->last_number<shmem::Lane::kMedium>();
  bytes_ = {room_.request_payload(), most_};
  place_ = Place::kSlot;
  parts.prepared = true;
  return true;
}

bool PreparedMedium::try_begin_far(Call call) {
  EndpointParts& parts = endpoint_.parts();
  if (parts.bundle->access() == Access::kParallel || parts.admission.traced) {
    const EndpointLock lock(parts);
    static_cast<void>(parts.translations.checked(to_.value, call));
    begin_buffer();
    return true;
  }
  if (!parts.is_far(to_.value)) return false;  // its mailbox has no inbox now
  const std::optional<std::byte*> room = parts.far->try_prepare(to_.value, most_);
  if (!room) return false;
  if (*room == nullptr) {
    begin_buffer();
    return true;
  }
  bytes_ = {*room, most_};
  place_ = Place::kFrame;
  parts.prepared = true;
  return true;
}

void PreparedMedium::begin_buffer() {
  buffer_ = std::make_unique_for_overwrite<Buffer>();
  bytes_ = {buffer_->bytes, most_};
  place_ = Place::kBuffer;
}

void PreparedMedium::send(HandlerIndex handler, Role role, std::span<const std::uint32_t> words,
                          std::size_t used) {
  const Call call("commit", to_.where);
  EndpointParts& parts = endpoint_.parts();
  const Bundle& bundle = *parts.bundle;
  if (place_ == Place::kNowhere) {
    bundle.refuse(call, "this payload was committed already, or moved; prepare another one");
  }
  check_used(bundle, used, bytes_.size(), call);
  const UntypedRequest request{.handler = handler,
                               .kind = Kind::kMedium,
                               .arguments = words,
                               .payload = bytes_.first(used),
                               .role = role};
  bool same = true;
  switch (place_) {
    case Place::kSlot: same = send_slot(request); break;
    case Place::kFrame: same = parts.far->send_prepared(to_.value, request); break;
    default: endpoint_.send_index(to_.value, call, request);
  }
  drop();
  if (same) return;
  bundle.refuse(call,
                "the library was called between prepare and commit, so the payload may not be as "
                "it was written; poll and send before prepare, or after commit");
}

void PreparedMedium::commit_index(std::size_t used, HandlerIndex handler,
                                  std::span<const std::uint32_t> words, Role role) && {
  endpoint_.check({.handler = handler, .kind = Kind::kMedium, .arguments = words, .role = role},
                  {"commit_index", to_.where});
  send(handler, role, words, used);
}

// False: something was sent or taken back meanwhile.
bool PreparedMedium::send_slot(const UntypedRequest& request) {
  constexpr shmem::Lane kLane = shmem::Lane::kMedium;
  EndpointParts& parts = endpoint_.parts();
  shmem::Room room;
  if (parts.outgoing.direct(to_.value) != box_ || box_->last_number<kLane>() != number_ ||
      !box_->try_claim<kLane>(room) || room.slot != room_.slot) {
    return false;
  }
  parts.bundle->note_payload();
  packet::put_medium_bytes(room.slot->request, request.payload.size());
  const auto words = static_cast<std::uint8_t>(request.arguments.size());
  copy_words(packet::request_arguments(room, Kind::kMedium, words), request.arguments);
  parts.send<Kind::kMedium>(to_.value, *box_, room,
                            packet::RequestMark{request.handler, words}.mark(), request.role);
  return true;
}

void PreparedMedium::drop() noexcept {
  EndpointParts& parts = endpoint_.parts();
  if (place_ == Place::kSlot || place_ == Place::kFrame) parts.prepared = false;
  if (place_ == Place::kFrame) parts.far->drop_prepared();
  place_ = Place::kNowhere;
}

}  // namespace am
