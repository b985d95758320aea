// A process that splitcrun started: it meets the others in the control region
// (am/job/config/control.h).
#pragma once

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/control.h"
#include "shmem/region.h"

namespace am {

class BootstrapLaunch final : public Bootstrap {
 public:
  // Joins the job whose control region is `job_fd`, which stays open and is from here on closed by
  // exec. Throws Error: that is no control region of this version and size, or another living
  // process already is this rank.
  BootstrapLaunch(Rank rank, std::uint32_t size, int job_fd);
  BootstrapLaunch(const BootstrapLaunch&) = delete;
  BootstrapLaunch& operator=(const BootstrapLaunch&) = delete;
  ~BootstrapLaunch() override;

  Rank rank() const override { return rank_; }
  std::uint32_t size() const override { return size_; }
  std::string launcher() const override { return "splitcrun"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override;
  void finished() override;
  Activity* activity() override { return &me_.activity; }
  ExitRequest* exit_request() override { return &control_.exit_request; }
  CrashFrames* crash_frames() override { return &control_.crash; }
  DeathNotices* death_notices() override { return control_.survives != 0 ? &notices_ : nullptr; }

 private:
  void report_abort(int exit_code, std::string_view sentence) override;
  void join();
  void barrier_without_dead();
  bool all_have_entered(std::uint32_t barrier) const;

  const Rank rank_;
  const std::uint32_t size_;
  const shmem::Region region_;
  Control& control_;
  ControlRank& me_;
  DeathNotices notices_;
};

}  // namespace am
