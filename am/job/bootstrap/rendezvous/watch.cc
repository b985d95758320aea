#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "am/job/bootstrap/endings.h"
#include "am/job/bootstrap/rendezvous/rendezvous.h"
#include "am/types/thread.h"

namespace am {
namespace {

constexpr auto kLastWords = std::chrono::milliseconds(200);  // for what the other thread is sending
constexpr std::size_t kRead = 65536;

std::string text_of(Rank rank) { return "rank " + std::to_string(rank); }

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

Watch::Watch(Rank me, std::uint32_t size, std::vector<Connection> connections)
    : me_(me), alarm_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!alarm_) throw Error(std::string("cannot watch connections: ") + std::strerror(errno));
  for (Connection& one : connections) {
    const Rank rank = me == 0 ? static_cast<Rank>(peers_.size() + 1) : 0;
    peers_.push_back({.rank = rank, .connection = std::move(one), .reader = FrameReader(size)});
  }
  thread_ =
      start_thread(text_of(me_) + ": Job: ", "that watches the connections of SPLITC_RENDEZVOUS",
                   [this] { run(); });
}

Watch::~Watch() {
  const auto settled = [](const Peer& peer) { return peer.gone || peer.finished; };
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return !finished_ || me_ != 0 || std::ranges::all_of(peers_, settled); });
  }
  const std::uint64_t one = 1;
  (void)!write(alarm_.fd(), &one, sizeof(one));
  thread_.join();
}

void Watch::send(Rank to, FrameKind kind, std::span<const std::byte> bytes) {
  const std::vector<std::byte> frame = frame_bytes(kind, bytes);
  const std::lock_guard lock(sending_);
  send_all(peer(to).connection.fd(), frame, true);
}

Frame Watch::receive(Rank from) {
  Peer& peer = this->peer(from);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&peer] { return !peer.frames.empty() || peer.finished; });
  if (peer.frames.empty()) {
    lock.unlock();
    end_process(from, 1, text_of(from) + " has finished while others wait for it");
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
  for (const Peer& peer : peers_) send(peer.rank, FrameKind::kFinished, {});
}

void Watch::end_others(Rank except, int exit_code, std::string_view why) {
  bool first = false;
  std::call_once(ending_, [&first] { first = true; });
  while (!first) pause();  // the other thread is ending this process
  const std::vector<std::byte> frame = end_frame(exit_code, why);
  // Not in the midst of another frame, unless that one will not go out.
  const std::unique_lock lock(sending_, kLastWords);
  for (const Peer& peer : peers_) {
    if (peer.rank != except) send_all(peer.connection.fd(), frame, false);
  }
}

void Watch::run() {
  std::vector<pollfd> watched{{.fd = alarm_.fd(), .events = POLLIN, .revents = 0}};
  for (const Peer& peer : peers_) {
    watched.push_back({.fd = peer.connection.fd(), .events = POLLIN, .revents = 0});
  }
  while (watched[0].revents == 0) {
    poll(watched.data(), watched.size(), -1);
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0 && !hear(peers_[i - 1])) watched[i].fd = -1;
    }
  }
}

// False: that one says no more.
bool Watch::hear(Peer& peer) {
  std::array<std::byte, kRead> buffer;
  const ssize_t got = recv(peer.connection.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) {
    notice_loss(peer);
    return false;
  }
  std::vector<Frame> frames;
  const bool sound =
      peer.reader.add(std::span(buffer.data(), static_cast<std::size_t>(got)), frames);
  for (Frame& frame : frames) take(peer, std::move(frame));
  if (!sound) {
    end_process(peer.rank, 1, text_of(peer.rank) + " sent what is no message of this job");
  }
  return true;
}

void Watch::take(Peer& peer, Frame frame) {
  if (frame.kind == FrameKind::kEnd) {
    const End end = read_end(frame);
    end_process(peer.rank, end.exit_code, end.why);
  }
  {
    const std::lock_guard lock(mutex_);
    if (frame.kind == FrameKind::kFinished) {
      peer.finished = true;
    } else {
      peer.frames.push_back(std::move(frame));
    }
  }
  changed_.notify_all();
}

void Watch::notice_loss(Peer& peer) {
  bool harmless = false;
  {
    const std::lock_guard lock(mutex_);
    peer.gone = true;
    // Rank 0 still tells the others of a death when it has finished itself.
    harmless = peer.finished || (finished_ && me_ != 0);
  }
  if (!harmless) {
    end_process(
        peer.rank, 1,
        text_of(peer.rank) + " has died, or its connection is lost, before it had finished");
  }
  changed_.notify_all();
}

// No stream is flushed: the other thread may hold its lock for ever.
void Watch::end_process(Rank cause, int exit_code, const std::string& why) {
  end_others(cause, exit_code, why);
  print_sentence(text_of(me_) + ": the job ends: " + why);
  _exit(exit_code);
}

}  // namespace am
