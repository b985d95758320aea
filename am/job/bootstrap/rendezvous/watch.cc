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

#include "am/job/bootstrap/last_words.h"
#include "am/types/signals.h"
#include "shmem/descriptor.h"

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

Watch::Watch(Rank me, std::vector<Connection> connections)
    : me_(me), stop_(shmem::above_standard_streams(eventfd(0, EFD_CLOEXEC))) {
  if (!stop_) throw Error(std::string("cannot watch connections: ") + std::strerror(errno));
  const auto processes = static_cast<std::uint32_t>(connections.size());
  for (Connection& one : connections) {
    const bool none = !one;
    peers_.push_back(
        {.connection = std::move(one), .reader = FrameReader(processes), .frames = {}});
    peers_.back().gone = none;
  }
  const SignalsBlocked blocked;  // the thread inherits it
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  {
    std::unique_lock lock(mutex_);
    if (finished_ && me_ == 0) changed_.wait(lock, [this] { return all_settled(); });
  }
  const std::uint64_t one = 1;
  (void)!write(stop_.fd(), &one, sizeof(one));
  thread_.join();
}

void Watch::send(Rank to, FrameKind kind, std::span<const std::byte> bytes) {
  const std::vector<std::byte> frame = frame_bytes(kind, bytes);
  const std::lock_guard lock(sending_);
  send_all(peers_[to].connection.fd(), frame, true);
}

Frame Watch::receive(Rank from) {
  Peer& peer = peers_[from];
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
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].connection) send(rank, FrameKind::kFinished, {});
  }
}

void Watch::end_others(int exit_code, std::string_view why) {
  bool first = false;
  std::call_once(ending_, [&first] { first = true; });
  while (!first) pause();  // the other thread is ending this process
  send_end(me_, exit_code, why);
}

void Watch::run() {
  std::vector<pollfd> watched;
  for (const Peer& peer : peers_) {
    watched.push_back({.fd = peer.connection.fd(), .events = POLLIN, .revents = 0});
  }
  watched.push_back({.fd = stop_.fd(), .events = POLLIN, .revents = 0});
  while (true) {
    poll(watched.data(), watched.size(), -1);
    if (watched.back().revents != 0) return;
    for (Rank rank = 0; rank < peers_.size(); ++rank) {
      if (watched[rank].revents != 0 && !hear(rank)) watched[rank].fd = -1;
    }
  }
}

bool Watch::hear(Rank rank) {
  Peer& peer = peers_[rank];
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
    if (frame.kind == FrameKind::kFinished) {
      peers_[rank].finished = true;
    } else {
      peers_[rank].frames.push_back(std::move(frame));
    }
  }
  changed_.notify_all();
}

void Watch::notice_loss(Rank rank) {
  bool harmless = false;
  {
    const std::lock_guard lock(mutex_);
    peers_[rank].gone = true;
    // Rank 0 still tells the others of a death when it has finished itself.
    harmless = peers_[rank].finished || (finished_ && me_ != 0);
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
  for (const Peer& peer : peers_) {
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
  for (Rank rank = 0; rank < peers_.size(); ++rank) {
    if (rank == except || !peers_[rank].connection) continue;
    send_all(peers_[rank].connection.fd(), frame, false);
  }
}

}  // namespace am
