#include "am/link/progress_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "am/types/thread.h"

namespace am::link {
namespace {

// Between two turns at the network, for the owner to come first: it takes some microseconds if it
// polls, and if it computes, this is short for those who wait.
constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 50'000};

shmem::OwnFd make_stop() {
  shmem::OwnFd made(eventfd(0, EFD_CLOEXEC));
  if (made) return made;
  throw Error(std::string("SPLITC_PROGRESS=thread: cannot make an eventfd (") +
              std::strerror(errno) + "); raise the limit of open files (ulimit -n)");
}

}  // namespace

ProgressThread::ProgressThread(Link& link, std::function<void()> wake_owner)
    : link_(link), wake_owner_(std::move(wake_owner)), stop_(make_stop()) {
  thread_ = start_thread<std::jthread>("SPLITC_PROGRESS=thread: ", "that keeps the network going",
                                       [this](const std::stop_token& stopped) { run(stopped); });
}

ProgressThread::~ProgressThread() {
  thread_.request_stop();
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(stop_.fd(), &one, sizeof one);
  thread_.join();
}

void ProgressThread::run(const std::stop_token& stopped) {
  pollfd watched[] = {{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
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
