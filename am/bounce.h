#pragma once

#include <cstddef>
#include <vector>

#include "am/endpoint.h"

namespace am {

// A one-way request or a reply that could not be delivered here and goes back as a one-way message,
// as soon as there is room. (A request that may be replied to goes back in its own reply.)
struct Endpoint::Bounce {
  // Copies the message in `half`, whose arguments are at `arguments`.
  Bounce(shmem::Outbox& to, Kind kind, packet::MarkFields fields, packet::Form form, Status status);
  void copy(const shmem::Half& half, const std::byte* arguments, const std::byte* payload);

  [[nodiscard]] bool try_send();
  bool can_send() const noexcept;

  shmem::Outbox* to;
  Kind kind;
  packet::MarkFields fields;
  packet::Form form;
  Status status;
  std::array<std::byte, shmem::Half::kBytes> words{};  // the words before the arguments
  std::array<std::byte, kMaxArgumentBytes> arguments{};
  std::vector<std::byte> payload;

 private:
  template <shmem::Lane kLane>
  bool try_send_in();
  template <shmem::Lane kLane>
  bool can_send_in() const noexcept {
    shmem::Room room;
    return to->try_claim<kLane>(room);
  }
};

}  // namespace am
