#include <cstring>
#include <string>

#include "am/core/bundle.h"
#include "am/core/dispatch.h"
#include "am/core/parts.h"
#include "am/core/process.h"
#include "am/sync/backoff.h"
#include "shmem/region.h"

namespace am {
namespace {

// For the receiver to copy.
[[gnu::cold]] void stage(const Bundle& bundle, shmem::Room room, shmem::Half& half,
                         std::uint64_t offset, std::span<const std::byte> payload) {
  try {
    bundle.process().staging().put(room.reply_payload(), payload);
  } catch (const shmem::Error& error) {
    bundle.refuse("a long message",
                  std::string("no memory for its payload on the way: ") + error.what());
  }
  packet::put_placement(
      half,
      {.offset = offset, .bytes = payload.size(), .status = 0, .staged = true, .written = false});
}

// Takes everything back for nobody.
class DropStaged {
 public:
  explicit DropStaged(const Bundle& bundle) noexcept : bundle_(bundle) {}
  template <shmem::Lane kLane>
  void reply(shmem::Room room, shmem::Mark mark) {
    const auto fields = packet::ReplyMark::of(mark);
    if (fields.handler != 0 && fields.kind == Kind::kLong) {
      drop_staged(bundle_, room, room.slot->reply);
    }
    if (mark == packet::ReplyMark::kReturned) returned<kLane>(room);
  }
  template <shmem::Lane kLane>
  void returned(shmem::Room room) {
    if (kLane == shmem::Lane::kLong) drop_staged(bundle_, room, room.slot->request);
  }
  template <shmem::Lane kLane>
  void undelivered(shmem::Room room, shmem::Mark) {
    returned<kLane>(room);
  }

 private:
  const Bundle& bundle_;
};

// Takes back what came here for nobody: of an endpoint that ends.
class DropReceived {
 public:
  explicit DropReceived(EndpointParts& parts) noexcept : parts_(parts) {}
  shmem::Doorbell& opened(std::uint32_t inbox, std::span<const std::byte> caller) {
    return Dispatch(parts_.endpoint).opened(inbox, caller);
  }
  void closed(std::uint32_t) {}
  template <shmem::Lane kLane>
  shmem::Mark request(std::uint32_t, shmem::Room room, shmem::Mark) {
    if (kLane == shmem::Lane::kLong) drop_staged(*parts_.bundle, room, room.slot->request);
    return shmem::kNoReply;
  }
  template <shmem::Lane kLane>
  shmem::Mark one_way(std::uint32_t inbox, shmem::Room room, shmem::Mark mark) {
    return request<kLane>(inbox, room, mark);
  }
  template <shmem::Lane kLane>
  void unread(std::uint32_t, shmem::Room room, shmem::Mark mark) {
    DropStaged(*parts_.bundle).reply<kLane>(room, mark);
  }

 private:
  EndpointParts& parts_;
};

}  // namespace

void place_long(Bundle& bundle, shmem::Room room, shmem::Half& half, const Verdict& verdict,
                std::byte* segment, std::uint64_t offset, std::span<const std::byte> payload) {
  const bool written = verdict.status == Status::kDelivered;
  if (written && Extent::is_elsewhere(verdict.at)) {
    return stage(bundle, room, half, offset, payload);
  }
  if (payload.size() >= FirstLook::kPayload) bundle.note_payload();
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

Status take_staged(EndpointParts& parts, shmem::Room room, const packet::Placement& place,
                   std::span<std::byte>& payload) {
  const std::span<std::byte> segment = parts.admission.segment;
  const Status status = check_place(segment, place.offset, place.bytes);
  if (status != Status::kDelivered) return status;
  payload = bytes_at(segment, place.offset, place.bytes);
  const bool taken = parts.bundle->process().staging().take(room.reply_payload(), payload);
  return taken ? Status::kDelivered : Status::kCongestion;  // no memory to map it
}

void drop_staged(const Bundle& bundle, shmem::Room room, const shmem::Half& half) noexcept {
  const packet::Placement place = packet::placement(half);
  if (place.staged) bundle.process().staging().drop(room.reply_payload(), place.bytes);
}

void drop_staged_of(EndpointParts& parts, shmem::Outbox& box) {
  box.abandon(DropStaged(*parts.bundle));
}

void Incoming::close() { mailbox_.close(DropReceived(parts_)); }

}  // namespace am
