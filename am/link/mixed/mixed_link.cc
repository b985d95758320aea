#include "am/link/mixed/mixed_link.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "am/types/earlier.h"
#include "am/types/types.h"
#include "shmem/descriptor.h"

namespace am::link {

MixedLink::MixedLink(std::unique_ptr<Link> packets, std::unique_ptr<Link> access)
    : packets_(std::move(packets)), access_(std::move(access)), both_fd_(make_both_fd()) {}

MixedLink::~MixedLink() {
  if (both_fd_ >= 0) close(both_fd_);
}

int MixedLink::make_both_fd() const {
  const int fds[] = {packets_->wait_fd(), access_->wait_fd()};
  if (std::ranges::min(fds) < 0) return -1;
  const int both = shmem::above_standard_streams(epoll_create1(EPOLL_CLOEXEC));
  bool good = both >= 0;
  for (const int fd : fds) {
    epoll_event event{};
    event.events = EPOLLIN;
    good = good && epoll_ctl(both, EPOLL_CTL_ADD, fd, &event) == 0;
  }
  if (good) return both;
  const std::string cause = std::strerror(errno);
  if (both >= 0) close(both);
  throw Error("cannot wait for two networks at a time (" + cause +
              "); raise the limit of open files (ulimit -n), or set SPLITC_LINK=fabric");
}

int MixedLink::poll(PacketSink& sink) {
  int count = packets_->poll(sink);
  if (access_->busy() || ++left_out_ >= kRarely) {
    left_out_ = 0;
    count += access_->poll(sink);
  }
  return count;
}

bool MixedLink::fetch(PacketSink& sink) {
  const bool kept = access_->fetch(sink);  // of a process that sends packets that way
  return packets_->fetch(sink) || kept;
}

void MixedLink::verify() {
  packets_->verify();
  access_->verify();
}

void MixedLink::drive() noexcept {
  packets_->drive();
  access_->drive();
}

const StrangerStats& MixedLink::stranger_stats() const noexcept {
  const StrangerStats& one = packets_->stranger_stats();
  const StrangerStats& other = access_->stranger_stats();
  strangers_ = {one.frames + other.frames, one.words + other.words, one.receives + other.receives,
                one.completions + other.completions};
  return strangers_;
}

std::int64_t MixedLink::patience_ns() const noexcept {
  return earlier(packets_->patience_ns(), access_->patience_ns());
}

std::string MixedLink::describe() const {
  return "messages over " + packets_->describe() + "; bulk by RMA over " + access_->describe();
}

}  // namespace am::link
