// What has been handled in a job, in a file that all its processes map and that survives them: the
// account of a process does not die with it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace am::test {

class Ledger {
 public:
  static constexpr std::uint32_t kProcesses = 8;
  static constexpr std::uint32_t kRequests = 1 << 16;  // of each

  // The file is there, and empty at first.
  explicit Ledger(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(Counts)) != 0) throw std::runtime_error("ledger: " + path);
    void* const at = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED) throw std::runtime_error("ledger: no memory for " + path);
    counts_ = static_cast<Counts*>(at);
  }
  ~Ledger() { munmap(counts_, sizeof(Counts)); }
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Request `number` of `sender` has been handled, wherever.
  void handled(std::uint64_t sender, std::uint64_t number) {
    counts_->handled[sender][number].fetch_add(1, std::memory_order_relaxed);
  }
  int times_handled(std::uint64_t sender, std::uint64_t number) const {
    return counts_->handled[sender][number].load(std::memory_order_relaxed);
  }

 private:
  struct Counts {
    std::atomic<std::uint8_t> handled[kProcesses][kRequests];
  };
  Counts* counts_;
};

}  // namespace am::test
