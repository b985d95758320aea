#pragma once

#include <stop_token>
#include <thread>

#include "am/link/link.h"

namespace am::link {

// Makes a link progress while its owner computes: what others read and write in this process's
// segment gets done, and what it has sent gets through. Packets wait for the owner's poll.
//
// It sleeps until something comes, then leaves the owner a moment to take it.
class ProgressThread {
 public:
  // `link` outlives the thread, and may be driven by any.
  explicit ProgressThread(Link& link);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  void run(const std::stop_token& stopped);

  Link& link_;
  int stop_fd_;  // readable: stop
  std::jthread thread_;
};

}  // namespace am::link
