#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/launchers.h"

namespace am {
namespace {

// What each process gives, of one size for all.
struct Record {
  std::uint32_t bytes;
  std::array<std::byte, Bootstrap::kMaxBlob> blob;
};

std::string who(const OutOfBand& others) {
  return "rank " + std::to_string(others.rank) + ": Job: " + others.name;
}

// The others wait for this process, which will not come.
void end_others(const OutOfBand& others, int exit_code, std::string_view sentence) {
  print_last_sentence(sentence);
  permit_exit();  // the runtime may leave by exit()
  if (others.abort) others.abort(exit_code);
}

class BootstrapOutOfBand final : public Bootstrap {
 public:
  BootstrapOutOfBand(const OutOfBand& others) : others_(others) {
    if (others.rank >= others.size || !others.allgather || !others.barrier || !others.release) {
      throw Error(who(others) + " gives a size of " + std::to_string(others.size) +
                  " or lacks a function; fill in all of am::OutOfBand but abort");
    }
    if (size() == 1) return;
    expect_no_exit(others.rank, others.abort);
  }

  Rank rank() const override { return others_.rank; }
  std::uint32_t size() const override { return others_.size; }
  std::string launcher() const override { return others_.name; }
  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine) override {
    check_blob(mine);
    Record record{.bytes = static_cast<std::uint32_t>(mine.size()), .blob = {}};
    std::ranges::copy(mine, record.blob.begin());
    std::vector<Record> records(size());
    others_.allgather(&record, sizeof record, records.data());
    std::vector<std::vector<std::byte>> all;
    all.reserve(size());
    for (const Record& one : records) {
      if (one.bytes > kMaxBlob) {
        throw Error(who(others_) + " brought the address of rank " + std::to_string(all.size()) +
                    " damaged; rebuild all programs of the job from one version of Splitphase");
      }
      all.emplace_back(one.blob.begin(), one.blob.begin() + one.bytes);
    }
    return all;
  }

  void barrier() override { others_.barrier(); }
  void finished() override {
    if (finished_) return;
    finished_ = true;
    permit_exit();
    others_.release();
  }

 private:
  void report_abort(int exit_code, std::string_view sentence) override {
    end_others(others_, exit_code, sentence);
  }

  const OutOfBand others_;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Bootstrap> join_runtime(const OutOfBand& others) {
  return std::make_unique<BootstrapOutOfBand>(others);
}

void end_all(const OutOfBand& others, int exit_code, std::string_view sentence) {
  end_others(others, exit_code, sentence);
  std::fflush(nullptr);
  _exit(exit_code);
}

}  // namespace am
