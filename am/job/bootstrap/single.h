// A program started bare: a job of one.
#pragma once

#include "am/job/bootstrap/bootstrap.h"
#include "am/job/bootstrap/endings.h"
#include "am/job/config/exit_request.h"

namespace am {

class BootstrapSingle final : public Bootstrap {
 public:
  Rank rank() const override { return 0; }
  std::uint32_t size() const override { return 1; }
  std::string launcher() const override { return "none"; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    return {{mine.begin(), mine.end()}};
  }
  void barrier() override {}
  void finished() override {}
  ExitRequest* exit_request() override { return &exit_request_; }

 private:
  void report_abort(int, std::string_view sentence) override { print_sentence(sentence); }

  ExitRequest exit_request_;
};

}  // namespace am
