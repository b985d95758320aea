// A program started bare: a job of one.
#pragma once

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/config/exit_request.h"

namespace am {

class BootstrapSingle final : public Bootstrap {
 public:
  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  std::string launcher() const override { return "none"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override;
  void barrier() override {}
  void finished() override {}
  ExitRequest* exit_request() override { return &exit_request_; }

 private:
  void report_abort(int exit_code, std::string_view sentence) override;

  ExitRequest exit_request_;
};

}  // namespace am
