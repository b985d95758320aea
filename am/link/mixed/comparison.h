// How fast links to the same processes are: measured when a job starts, by one process, while one
// of every other node answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "am/link/link.h"
#include "am/types/types.h"

namespace am::link {

// What has been measured, in ns; 0: there was no answer in time, or there is no such way. Plain
// bytes, for all processes to decide alike.
struct Comparison {
  std::int64_t reliable_trip_ns = 0;  // short packet and its answer, over the reliable link
  std::int64_t datagram_trip_ns = 0;  // the same over datagrams
  std::int64_t rma_bulk_ns = 0;       // kBulk bytes by RMA of the reliable link
  std::int64_t datagram_bulk_ns = 0;  // ... by packets over datagrams

  static constexpr std::uint64_t kBulk = std::uint64_t{1} << 20;

  // Messages over datagrams: where these are clearly faster, as the other needs no window.
  bool messages_by_datagrams() const noexcept {
    return datagram_trip_ns != 0 && datagram_trip_ns < reliable_trip_ns - reliable_trip_ns / 20;
  }
  // Bulk by RMA, beside messages over datagrams.
  bool bulk_by_rma() const noexcept {
    return rma_bulk_ns != 0 && (datagram_bulk_ns == 0 || rma_bulk_ns < datagram_bulk_ns);
  }
  std::string describe() const;  // in one line, for people
};
static_assert(std::is_trivially_copyable_v<Comparison>);

// One process's part, before anything else is sent over the links; `reliable` and `datagrams` have
// been introduced to all. Each blocks, and yields while it waits.
//
// Thread rule: the links'.
class Comparer {
 public:
  Comparer(Link& reliable, Link& datagrams) noexcept : reliable_(reliable), datagrams_(datagrams) {}

  // Measures the way to the first of `others`, who all answer(), and sees whether datagrams reach
  // all of them. Takes about 10 ms; a quarter of a second where datagrams do not come through, and
  // then `datagrams` cannot be used.
  Comparison measure(std::span<const Rank> others);
  // Answers the process that measures, until that is done.
  void answer();

 private:
  Link& reliable_;
  Link& datagrams_;
};

}  // namespace am::link
