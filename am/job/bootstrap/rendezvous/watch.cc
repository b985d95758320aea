#include "am/job/bootstrap/rendezvous/watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "am/job/bootstrap/endings.h"
#include "am/types/thread.h"

namespace am {
namespace {

constexpr auto kLastWords = std::chrono::milliseconds(200);  // for what the other thread is sending
constexpr std::size_t kRead = 65536;

// Sends all of it, or gives up when the other end has gone, or at once if it may not wait.
void send_all(int fd, std::span<const std::byte> bytes, bool may_wait) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN && may_wait) {
      pollfd watched{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&watched, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

Watch::Watch(Rank me, std::uint32_t size, std::vector<Met> connections)
    : me_(me), size_(size), alarm_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!alarm_) throw Error(std::string("cannot watch connections: ") + std::strerror(errno));
  note(std::move(connections));
  thread_ = start_thread("rank " + std::to_string(me_) + ": Job: ",
                         "that watches the connections of SPLITC_RENDEZVOUS", [this] { run(); });
}

Watch::~Watch() {
  {
    std::unique_lock lock(mutex_);
    if (finished_ && me_ == 0) changed_.wait(lock, [this] { return all_settled(); });
    stop_ = true;
  }
  ring();
  thread_.join();
}

void Watch::add(std::vector<Met> connections) {
  note(std::move(connections));
  ring();
}

void Watch::note(std::vector<Met> connections) {
  const std::lock_guard lock(mutex_);
  for (Met& met : connections) {
    peers_.emplace(
        met.rank,
        Peer{.connection = std::move(met.connection), .reader = FrameReader(size_), .frames = {}});
  }
  added_ = true;
}

void Watch::ring() {
  const std::uint64_t one = 1;
  (void)!write(alarm_.fd(), &one, sizeof(one));
}

Watch::Peer& Watch::peer(Rank rank) {
  const std::lock_guard lock(mutex_);
  return peers_.at(rank);
}

SocketAddress Watch::here(Rank rank) {
  SocketAddress address{.bytes = {}, .length = sizeof address.bytes};
  getsockname(peer(rank).connection.fd(), reinterpret_cast<sockaddr*>(&address.bytes),
              &address.length);
  return address;
}

void Watch::send(Rank to, FrameKind kind, std::span<const std::byte> bytes) {
  const std::vector<std::byte> frame = frame_bytes(kind, bytes);
  const int fd = peer(to).connection.fd();
  const std::lock_guard lock(sending_);
  send_all(fd, frame, true);
}

Frame Watch::receive(Rank from) {
  Peer& peer = this->peer(from);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&peer] { return !peer.frames.empty() || peer.finished; });
  if (peer.frames.empty()) {
    lock.unlock();
    end_process(from, 1, "rank " + std::to_string(from) + " has finished while others wait for it");
  }
  Frame frame = std::move(peer.frames.front());
  peer.frames.pop_front();
  return frame;
}

void Watch::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(finished_, true)) return;
  }
  for (const Rank rank : ranks()) send(rank, FrameKind::kFinished, {});
}

void Watch::end_others(int exit_code, std::string_view why) {
  bool first = false;
  std::call_once(ending_, [&first] { first = true; });
  while (!first) pause();  // the other thread is ending this process
  send_end(me_, exit_code, why);
}

std::vector<Rank> Watch::ranks() {
  const std::lock_guard lock(mutex_);
  std::vector<Rank> all;
  for (const auto& [rank, peer] : peers_) all.push_back(rank);
  return all;
}

void Watch::run() {
  std::vector<pollfd> watched;  // the alarm, and then those of watched_
  while (is_to_watch(watched)) {
    poll(watched.data(), watched.size(), -1);
    std::uint64_t rings = 0;  // what they are for was said before
    if (watched[0].revents != 0) (void)!read(alarm_.fd(), &rings, sizeof rings);
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0 && !hear(watched_[i - 1])) watched[i].fd = -1;
    }
  }
}

// Sees to it that all connections are in `watched`. False: the thread is to return.
bool Watch::is_to_watch(std::vector<pollfd>& watched) {
  const std::lock_guard lock(mutex_);
  if (stop_) return false;
  if (!std::exchange(added_, false)) return true;
  watched = {{.fd = alarm_.fd(), .events = POLLIN, .revents = 0}};
  watched_.clear();
  for (const auto& [rank, peer] : peers_) {
    if (peer.gone) continue;
    watched.push_back({.fd = peer.connection.fd(), .events = POLLIN, .revents = 0});
    watched_.push_back(rank);
  }
  return true;
}

// False: that one says no more.
bool Watch::hear(Rank rank) {
  Peer& peer = this->peer(rank);
  std::array<std::byte, kRead> buffer;
  const ssize_t got = recv(peer.connection.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) {
    notice_loss(rank);
    return false;
  }
  std::vector<Frame> frames;
  const bool sound =
      peer.reader.add(std::span(buffer.data(), static_cast<std::size_t>(got)), frames);
  for (Frame& frame : frames) take(rank, std::move(frame));
  if (!sound) {
    end_process(rank, 1, "rank " + std::to_string(rank) + " sent what is no message of this job");
  }
  return true;
}

void Watch::take(Rank rank, Frame frame) {
  if (frame.kind == FrameKind::kEnd) {
    const End end = read_end(frame);
    end_process(rank, end.exit_code, end.why);
  }
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_.at(rank);
    if (frame.kind == FrameKind::kFinished) {
      peer.finished = true;
    } else {
      peer.frames.push_back(std::move(frame));
    }
  }
  changed_.notify_all();
}

void Watch::notice_loss(Rank rank) {
  bool harmless = false;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_.at(rank);
    peer.gone = true;
    // Rank 0 still tells the others of a death when it has finished itself.
    harmless = peer.finished || (finished_ && me_ != 0);
  }
  if (!harmless) {
    end_process(rank, 1,
                "rank " + std::to_string(rank) +
                    " has died, or its connection is lost, before it had finished");
  }
  changed_.notify_all();
}

// With mutex_ held.
bool Watch::all_settled() const {
  for (const auto& [rank, peer] : peers_) {
    if (!peer.gone && !peer.finished) return false;
  }
  return true;
}

// No stream is flushed: the other thread may hold its lock for ever.
void Watch::end_process(Rank cause, int exit_code, const std::string& why) {
  bool first = false;
  std::call_once(ending_, [&first] { first = true; });
  while (!first) pause();  // the other thread is ending this process
  send_end(cause, exit_code, why);
  print_sentence("rank " + std::to_string(me_) + ": the job ends: " + why);
  _exit(exit_code);
}

// To all that are connected, but for `except`, who said it or is dead.
void Watch::send_end(Rank except, int exit_code, std::string_view why) {
  const std::vector<std::byte> frame = end_frame(exit_code, why);
  // Not in the midst of another frame, unless that one will not go out.
  const std::unique_lock lock(sending_, kLastWords);
  for (const Rank rank : ranks()) {
    if (rank != except) send_all(peer(rank).connection.fd(), frame, false);
  }
}

}  // namespace am
