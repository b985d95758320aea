#pragma once

#include <cstdint>
#include <vector>

#include "shmem/doorbell.h"

namespace am {

class EndpointParts;

// The part of an endpoint that detects events without a reply: an endpoint it sends to has ended, a
// process has died, a one-way message has come back. The process that causes such an event raises
// an alert in the doorbell, and the next poll searches for the cause. Nothing else makes it search:
// a process that dies raises an alert only in a job that goes on without its dead.
// (Outgoing::try_open() asks once more, when it connects.)
//
// Thread rule: the bundle's; a parallel one is locked. While a handler runs, others come in.
class Alerts {
 public:
  Alerts(EndpointParts& parts, const shmem::Doorbell& bell) noexcept
      : parts_(parts), bell_(bell), scanned_(bell.alerts()), seen_(scanned_) {}

  // Whether attend() has something to search for. One load and a comparison.
  bool pending() const noexcept { return bell_.alerts() != seen_; }
  // Finds what has ended and what has come back, and handles that; returns how many messages.
  template <class Access>
  int attend();
  // Whether attend() would find something. (An outbox that another thread is using is skipped, and
  // searched by a later call.)
  bool would_find() noexcept;

  // Makes the next poll search, although no alert was raised.
  void look_again() noexcept { seen_ = kNever; }
  // The endpoint at `to` has ended before it knew of this one, so it raises no alert.
  void add_gone(std::uint32_t to);
  // Index `to` is unmapped.
  void forget(std::uint32_t to) noexcept;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  template <class Access>
  int search(std::uint64_t alerts);
  template <class Access>
  int bury_dead();  // reads what the dead have sent, and frees what they had here
  void find_gone() noexcept;
  bool has_unburied() const noexcept;
  bool is_settled() const noexcept;  // no more checks for the gone and the dead are due

  EndpointParts& parts_;
  const shmem::Doorbell& bell_;      // of this process
  std::vector<std::uint32_t> gone_;  // indices whose endpoint has ended
  std::uint64_t scanned_;            // alerts of the doorbell that were searched for
  // The number of alerts at which pending() is false; kNever: search in every poll, as there are
  // gone_ endpoints, or requests to the dead.
  std::uint64_t seen_;
  std::uint32_t buried_ = 0;  // of Router::deaths()
  bool attending_ = false;    // a thread of several is in attend()
};

}  // namespace am
