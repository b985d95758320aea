// This room is for jobs that no launcher holds together: the processes find rank 0 over TCP, prove
// that they belong to the job, and stay connected to it. It uses am/job/bootstrap, which does not
// know it, am/job/config/config.h, am/sodium and shmem. Nobody is believed before the proof, no
// message may be larger than the job's largest, and no loss goes unnoticed.
//
// A process that no launcher started, or one that says nothing of the others: it was given its rank
// and a place to meet (SPLITC_RENDEZVOUS).
#pragma once

#include <chrono>

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/rendezvous/relays.h"
#include "am/job/bootstrap/rendezvous/watch.h"
#include "am/job/config/config.h"

namespace am {

class BootstrapRendezvous final : public Bootstrap {
 public:
  // Meets the others. Throws Error when that does not succeed within `patience`.
  BootstrapRendezvous(Rank rank, std::uint32_t size, const Rendezvous& where,
                      std::chrono::milliseconds patience = std::chrono::seconds(30));
  ~BootstrapRendezvous() override;

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "rendezvous"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override;
  void finished() override;

 private:
  void report_abort(int exit_code, std::string_view sentence) override;
  void join_relays(const MeetingPlace& place);
  bool passes(bool mine);
  Door door_of_parent(const Door& mine);
  std::vector<std::vector<std::byte>> collect(std::span<const std::byte> mine);
  std::vector<std::byte> spread(std::vector<std::byte> said);

  const Rank rank_;
  const std::uint32_t size_;
  Relays relays_;
  Watch watch_;
  bool finished_ = false;
};

}  // namespace am
