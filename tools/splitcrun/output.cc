#include "tools/splitcrun/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/splitcrun/options.h"

namespace am::launcher {
namespace {

int make_epoll() {
  const int fd = epoll_create1(EPOLL_CLOEXEC);
  if (fd >= 0) return fd;
  throw Failure(kExitUsage, "cannot watch pipes (" + std::string(std::strerror(errno)) + ")");
}

}  // namespace

Output::Output(Console& console) : console_(console), ready_{make_epoll(), make_epoll()} {}

Output::~Output() {
  for (const auto& stream : streams_) close_stream(*stream);
  for (const int fd : ready_) close(fd);
}

Output::Ends Output::add(Rank rank) {
  const int out = add_stream(rank, STDOUT_FILENO);
  return {.out = out, .err = add_stream(rank, STDERR_FILENO)};
}

int Output::add_stream(Rank rank, int to) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    throw Failure(kExitUsage, "--label needs two pipes a process, and rank " +
                                  std::to_string(rank) + " gets none (" + std::strerror(errno) +
                                  "); raise ulimit -n or start fewer processes");
  }
  const auto [from, into] = pipe_ends;
  fcntl(from, F_SETFL, O_NONBLOCK);  // this end only: the process writes as it is used to
  streams_.push_back(
      std::make_unique<Stream>(Stream{.rank = rank, .from = from, .to = to, .partial = {}}));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = streams_.back().get()}};
  epoll_ctl(ready_[to - 1], EPOLL_CTL_ADD, from, &event);
  return into;
}

void Output::pump() {
  for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
    for (std::size_t turn = 0; turn < streams_.size() / 2 && pump_one(to); ++turn) {
    }
  }
}

// One stream at a time: epoll then puts it behind the others, so that all of them have their turn.
bool Output::pump_one(int to) {
  epoll_event event{};
  if (!console_.has_room(to) || epoll_wait(ready_[to - 1], &event, 1, 0) != 1) return false;
  read_some(*static_cast<Stream*>(event.data.ptr));
  return true;
}

void Output::last_call() {
  last_call_ = true;
  for (const auto& stream : streams_) {
    if (stream->from < 0) continue;
    const int capacity = fcntl(stream->from, F_GETPIPE_SZ);
    stream->left = static_cast<std::size_t>(std::max(capacity, 1));
  }
}

bool Output::is_empty() const {
  pollfd watched[] = {{.fd = ready_[0], .events = POLLIN, .revents = 0},
                      {.fd = ready_[1], .events = POLLIN, .revents = 0}};
  return poll(watched, 2, 0) == 0;
}

void Output::finish() {
  for (const auto& stream : streams_) end_stream(*stream);
}

void Output::read_some(Stream& stream) {
  std::array<char, 65536> buffer;
  const std::size_t most = last_call_ ? std::min(buffer.size(), stream.left) : buffer.size();
  const ssize_t got = ::read(stream.from, buffer.data(), most);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) return end_stream(stream);
  pass_on(stream, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  if (last_call_ && (stream.left -= static_cast<std::size_t>(got)) == 0) end_stream(stream);
}

// Adds `text` to the unfinished line, and passes on what is whole of the two.
void Output::pass_on(Stream& stream, std::string_view text) {
  const std::string label = "[" + std::to_string(stream.rank) + "]";
  std::string out;
  const auto finish_piece = [&] {
    out.append(label).append(stream.continues ? "+ " : " ").append(stream.partial).append("\n");
    stream.partial.clear();
  };
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::size_t part = std::min(newline, kLongest - stream.partial.size());
    stream.partial.append(text.substr(0, part));
    text.remove_prefix(part);
    if (text.empty()) break;
    finish_piece();
    stream.continues = text.front() != '\n';
    if (!stream.continues) text.remove_prefix(1);
  }
  console_.add(stream.to, out);
}

// Its writers have ended, or have had their time.
void Output::end_stream(Stream& stream) {
  if (!stream.partial.empty()) pass_on(stream, "\n");
  close_stream(stream);
}

void Output::close_stream(Stream& stream) {
  if (stream.from >= 0) close(std::exchange(stream.from, -1));
}

bool Output::give_up(int to) {
  if (std::exchange(given_up_[to - 1], true)) return false;
  for (const auto& stream : streams_) {
    if (stream->to != to) continue;
    stream->partial.clear();
    close_stream(*stream);
  }
  return true;
}

}  // namespace am::launcher
