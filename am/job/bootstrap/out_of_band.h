// A process of a job that another runtime holds together: it meets the others by that runtime's
// collectives (am/job/config/out_of_band.h).
#pragma once

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/out_of_band.h"

namespace am {

class BootstrapOutOfBand final : public Bootstrap {
 public:
  // Throws Error: rank and size do not fit, or a function is missing.
  explicit BootstrapOutOfBand(const OutOfBand& others);

  Rank rank() const override { return others_.rank; }
  std::uint32_t size() const override { return others_.size; }
  std::string launcher() const override { return others_.name; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override { others_.barrier(); }
  void finished() override;

 private:
  void report_abort(int exit_code, std::string_view sentence) override;

  const OutOfBand others_;
  bool finished_ = false;
};

// For a process that cannot join, or whose job is not there to end it: prints `sentence`, ends the
// others by `others.abort`, and leaves with `exit_code`, from 1 to 255. Any thread.
[[noreturn]] void end_all(const OutOfBand& others, int exit_code, std::string_view sentence);

}  // namespace am
