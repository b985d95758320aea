#include "rdma/unmap_monitor.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "rdma/error.h"
#include "rdma/process.h"

namespace rdma {
namespace {

[[noreturn]] void refuse(const std::string& call) {
  const int code = errno;
  throw Error("rdma: cannot notice when memory is unmapped: " + call + " failed (" +
                  std::strerror(code) + ")" +
                  (code == EPERM ? "; a container's seccomp profile may have to permit it" : ""),
              code);
}

// Only for what happens in user mode: this is permitted to everybody, and here there are no faults.
int open_events() {
  const int fd = above_standard_streams(
      static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (fd < 0) refuse("userfaultfd");
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;
  if (ioctl(fd, UFFDIO_API, &api) == 0) return fd;
  const int code = errno;
  close(fd);
  errno = code;
  refuse("ioctl(UFFDIO_API)");
}

int open_stop() {
  const int fd = above_standard_streams(eventfd(0, EFD_CLOEXEC));
  if (fd < 0) refuse("eventfd");
  return fd;
}

}  // namespace

UserfaultMonitor::Descriptor::~Descriptor() { close(fd_); }

UserfaultMonitor::UserfaultMonitor()
    : page_(static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE))),
      events_(open_events()),
      stop_(open_stop()) {
  const SignalsBlocked blocked;  // the thread inherits it
  reader_ = std::thread([this] { run(); });
}

UserfaultMonitor::~UserfaultMonitor() {
  // A child that was forked may keep events_ open: nothing may be left that waits for its reader.
  for (const auto& [begin, piece] : pieces_) unwatch({begin, piece.end});
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(*stop_, &one, sizeof one);
  reader_.join();
}

AddressRange UserfaultMonitor::whole_pages(AddressRange range) const noexcept {
  return {range.begin & ~(page_ - 1), (range.end + page_ - 1) & ~(page_ - 1)};
}

// Makes `at` the boundary of two pieces if it lies inside one.
void UserfaultMonitor::split(std::uintptr_t at) {
  auto after = pieces_.lower_bound(at);
  if (after == pieces_.begin()) return;
  Piece& before = std::prev(after)->second;
  if (before.end <= at) return;
  pieces_.emplace_hint(after, at, before);
  before.end = at;
}

bool UserfaultMonitor::watch(AddressRange range) {
  const auto [begin, end] = whole_pages(range);
  if (pieces_.size() >= kMostPieces) return false;
  // In this mode only pages that are write-protected cause faults, and none are.
  uffdio_register pages{};
  pages.range = {begin, end - begin};
  pages.mode = UFFDIO_REGISTER_MODE_WP;
  if (ioctl(*events_, UFFDIO_REGISTER, &pages) != 0) return false;
  split(begin);
  split(end);
  for (std::uintptr_t at = begin; at != end;) {
    auto next = pieces_.lower_bound(at);
    if (next == pieces_.end() || next->first != at) {  // nobody watches what lies before it
      const auto until = next == pieces_.end() ? end : std::min(end, next->first);
      next = pieces_.emplace_hint(next, at, Piece{until, 0});
    }
    ++next->second.watchers;
    at = next->second.end;
  }
  return true;
}

void UserfaultMonitor::unwatch(AddressRange piece) noexcept {
  uffdio_range pages{piece.begin, piece.end - piece.begin};
  ioctl(*events_, UFFDIO_UNREGISTER, &pages);  // fails if something else is mapped there now
}

// What is left to watch are the pieces, whose boundaries are those of all ranges given to watch().
void UserfaultMonitor::forget(AddressRange range) noexcept {
  const auto [begin, end] = whole_pages(range);
  for (auto piece = pieces_.find(begin); piece != pieces_.end() && piece->first < end;) {
    if (--piece->second.watchers != 0) {
      ++piece;
      continue;
    }
    unwatch({piece->first, piece->second.end});
    piece = pieces_.erase(piece);
  }
}

std::span<const AddressRange> UserfaultMonitor::collect() noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t count = std::exchange(noted_count_, 0);
  std::copy_n(noted_.begin(), count, collected_.begin());
  return {collected_.data(), count};
}

void UserfaultMonitor::run() noexcept {
  pollfd watched[] = {{.fd = *stop_, .events = POLLIN, .revents = 0},
                      {.fd = *events_, .events = POLLIN, .revents = 0}};
  while (watched[0].revents == 0) {
    ::poll(watched, 2, -1);
    read_events();
  }
}

void UserfaultMonitor::read_events() noexcept {
  const std::lock_guard lock(mutex_);
  std::array<uffd_msg, 16> messages;
  ssize_t bytes = 0;
  while ((bytes = read(*events_, messages.data(), sizeof messages)) > 0) {
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof messages[0];
    for (const uffd_msg& message : std::span(messages).first(count)) {
      if (message.event == UFFD_EVENT_REMAP) {
        const auto& moved = message.arg.remap;
        note({moved.from, moved.from + moved.len});
        note({moved.to, moved.to + moved.len});
      } else if (message.event == UFFD_EVENT_UNMAP || message.event == UFFD_EVENT_REMOVE) {
        note({message.arg.remove.start, message.arg.remove.end});
      }
    }
  }
}

void UserfaultMonitor::note(AddressRange gone) noexcept {
  if (noted_count_ != kNoted) {
    noted_[noted_count_++] = gone;
    return;
  }
  AddressRange& last = noted_.back();  // and what lies between them, so that nothing is left out
  last = {std::min(last.begin, gone.begin), std::max(last.end, gone.end)};
}

}  // namespace rdma
