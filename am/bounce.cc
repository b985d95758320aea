#include "am/bounce.h"

#include <algorithm>
#include <cstring>

#include "shmem/error.h"

namespace am {

Endpoint::Bounce::Bounce(shmem::Outbox& to, Kind kind, packet::MarkFields fields, packet::Form form,
                         Status status)
    : to(&to), kind(kind), fields(fields), form(form), status(status) {
  // A damaged message may say that it is longer than any can be.
  this->fields.words = std::min<std::uint8_t>(fields.words, kMaxArgumentBytes / packet::kWord);
}

void Endpoint::Bounce::copy(const shmem::Half& half, const std::byte* from,
                            const std::byte* payload_at) {
  std::memcpy(words.data(), half.bytes, packet::prefix_bytes(kind));
  std::memcpy(arguments.data(), from, fields.words * packet::kWord);
  if (kind == Kind::kMedium) {
    const auto bytes = std::min<std::uint64_t>(packet::medium_bytes(half), max_medium());
    payload.assign(payload_at, payload_at + bytes);
  }
}

template <shmem::Lane kLane>
bool Endpoint::Bounce::try_send_in() {
  shmem::Room room;
  if (!to->try_claim<kLane>(room)) return false;
  shmem::Half& half = room.slot->request;
  std::memcpy(half.bytes, words.data(), packet::prefix_bytes(kind));
  std::memcpy(packet::arguments(half, room.extension->request, kind, fields.words),
              arguments.data(), fields.words * packet::kWord);
  if (kind == Kind::kMedium) packet::copy_payload(room.request_payload, payload);
  std::memcpy(room.extension->reply, &status, sizeof status);  // nobody replies to a bounce
  const auto mark = packet::make_mark(fields.handler, fields.words, static_cast<unsigned>(form));
  to->commit<kLane>(room, mark | packet::kOneWay);
  return true;
}

bool Endpoint::Bounce::try_send() {
  switch (kind) {
    case Kind::kShort: return try_send_in<shmem::Lane::kShort>();
    case Kind::kMedium: return try_send_in<shmem::Lane::kMedium>();
    default: return try_send_in<shmem::Lane::kLong>();
  }
}

bool Endpoint::Bounce::can_send() const noexcept {
  switch (kind) {
    case Kind::kShort: return can_send_in<shmem::Lane::kShort>();
    case Kind::kMedium: return can_send_in<shmem::Lane::kMedium>();
    default: return can_send_in<shmem::Lane::kLong>();
  }
}

// The endpoint that sent to `inbox`, reached as a sender.
shmem::Outbox& Endpoint::way_back(std::uint32_t inbox) {
  if (ways_back_.size() <= inbox) ways_back_.resize(inbox + 1);
  if (!ways_back_[inbox]) {
    const Name& sender = correspondents_[inbox].name;
    try {
      ways_back_[inbox] = open_outbox(sender, tag_);
    } catch (const shmem::Error& error) {
      bundle_->refuse("poll", "a one-way request of rank " + std::to_string(sender.rank) +
                                  " cannot be delivered here, nor be returned: " + error.what());
    }
  }
  return *ways_back_[inbox];
}

void Endpoint::flush_bounces() {
  while (!bounces_.empty() && bounces_.front().try_send()) {
    ++stats_.returned_by_us;
    bounces_.pop_front();
  }
}

}  // namespace am
