#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "am/link/link.h"
#include "shmem/descriptor.h"

namespace am::link {

// Makes a link progress while its owner computes: what others read and write in this process's
// segment gets done, and what it has sent gets through. Packets wait for the owner's poll.
//
// It sleeps until something comes, makes the link progress, wakes the owner, and pauses for a
// moment, in which the owner can take what has come. (An owner that has just found nothing and goes
// to sleep on the link's descriptor would not notice what this thread has read from the sockets.)
class ProgressThread {
 public:
  // `link` outlives the thread, and may be driven by any. `wake_owner` is called by the thread,
  // when something may have come, and costs little while the owner is awake.
  ProgressThread(Link& link, std::function<void()> wake_owner);
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

 private:
  void run(const std::stop_token& stopped);

  Link& link_;
  const std::function<void()> wake_owner_;
  const shmem::OwnFd stop_;  // readable: stop
  std::jthread thread_;
};

}  // namespace am::link
