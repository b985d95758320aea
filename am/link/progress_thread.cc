#include "am/link/progress_thread.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "am/types/thread.h"
#include "shmem/descriptor.h"

namespace am::link {
namespace {

// Between two turns at the network, for the owner to come first: it takes some microseconds if it
// polls, and if it computes, this is short for those who wait.
constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 50'000};

int make_stop_fd() {
  const int fd = shmem::above_standard_streams(eventfd(0, EFD_CLOEXEC));
  if (fd >= 0) return fd;
  throw Error(std::string("SPLITC_PROGRESS=thread: cannot make an eventfd (") +
              std::strerror(errno) + "); raise the limit of open files (ulimit -n)");
}

}  // namespace

ProgressThread::ProgressThread(Link& link, std::function<void()> wake_owner)
    : link_(link), wake_owner_(std::move(wake_owner)), stop_fd_(make_stop_fd()) {
  try {
    thread_ = start_thread<std::jthread>("SPLITC_PROGRESS=thread: ", "that keeps the network going",
                                         [this](const std::stop_token& stopped) { run(stopped); });
  } catch (...) {  // no destructor will run
    close(stop_fd_);
    throw;
  }
}

ProgressThread::~ProgressThread() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof one);
  thread_.join();
  close(stop_fd_);
}

void ProgressThread::run(const std::stop_token& stopped) {
  pollfd watched[] = {{.fd = stop_fd_, .events = POLLIN, .revents = 0},
                      {.fd = link_.can().wait_fd, .events = POLLIN, .revents = 0}};
  const bool blind = link_.can().wait_fd < 0;
  while (!stopped.stop_requested()) {
    ppoll(watched, 2, blind ? &kMoment : nullptr, nullptr);
    link_.can().drive();
    if (blind) continue;  // the owner does not sleep for long either
    wake_owner_();
    nanosleep(&kMoment, nullptr);
  }
}

}  // namespace am::link
