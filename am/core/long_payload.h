#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/message/admission.h"
#include "am/message/slot_format.h"
#include "shmem/mailbox.h"

namespace am {

class Bundle;
class EndpointParts;

// Long payloads on one node: how they come to their place. The sender copies one into the
// receiver's segment, where that is mapped; into a segment elsewhere in the receiver's memory it
// goes by way of memory of its own (am/route/staging.h), from which the receiver copies it.
//
// Thread rule: the bundle's; a parallel one is locked.

// Copies the payload of the message in `half` to its place, `verdict.at` in `segment`, if it is
// admitted, and writes the words that say where. Throws Error if there is no memory for it.
void place_long(Bundle& bundle, shmem::Room room, shmem::Half& half, const Verdict& verdict,
                std::byte* segment, std::uint64_t offset, std::span<const std::byte> payload);
// At the receiver: copies a payload that has been staged to its place, which it finds.
[[gnu::cold]] Status take_staged(EndpointParts& parts, shmem::Room room,
                                 const packet::Placement& place, std::span<std::byte>& payload);
// Frees the payload of a long message that comes back and is not awaited any more.
void drop_staged(const Bundle& bundle, shmem::Room room, const shmem::Half& half) noexcept;
// Frees the payloads of everything sent to a receiver that has ended, which cannot free them
// itself.
void drop_staged_of(EndpointParts& parts, shmem::Outbox& box);

}  // namespace am
