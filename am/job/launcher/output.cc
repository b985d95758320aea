#include "am/job/launcher/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "am/job/launcher/options.h"

namespace am::launcher {

Output::Output() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) {
    throw Failure(kExitUsage, "cannot watch pipes (" + std::string(std::strerror(errno)) + ")");
  }
}

Output::~Output() {
  for (const auto& stream : streams_) close_stream(*stream);
  close(epoll_);
}

Output::Ends Output::add(Rank rank) {
  return {.out = add_stream(rank, STDOUT_FILENO), .err = add_stream(rank, STDERR_FILENO)};
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
  streams_.push_back(std::make_unique<Stream>(Stream{rank, from, to, {}}));
  epoll_event event{.events = EPOLLIN, .data = {.ptr = streams_.back().get()}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, from, &event);
  return into;
}

void Output::pump() {
  std::vector<epoll_event> events(streams_.size());
  const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < ready; ++i) read_some(*static_cast<Stream*>(events[i].data.ptr));
}

void Output::finish() {
  for (const auto& stream : streams_) {
    while (read_some(*stream)) {
    }
    if (!stream->partial.empty()) pass_on(*stream, "\n");
  }
}

// One pipe's worth. False when there is no more for now, or for ever.
bool Output::read_some(Stream& stream) {
  if (stream.from < 0) return false;
  std::array<char, 65536> buffer;
  const ssize_t got = read(stream.from, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) {
    if (!stream.partial.empty()) pass_on(stream, "\n");
    close_stream(stream);
    return false;
  }
  const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t whole = text.rfind('\n') + 1;  // npos + 1 is 0
  if (whole > 0) pass_on(stream, text.substr(0, whole));
  stream.partial.append(text.substr(whole));
  return true;
}

// `lines` ends with a newline and continues what is partial.
void Output::pass_on(Stream& stream, std::string_view lines) {
  const std::string label = "[" + std::to_string(stream.rank) + "] ";
  std::string text = label + std::move(stream.partial);
  stream.partial.clear();
  for (std::size_t begin = 0; begin < lines.size();) {
    if (begin > 0) text.append(label);
    const std::size_t end = lines.find('\n', begin) + 1;
    text.append(lines, begin, end - begin);
    begin = end;
  }
  const int error = write_all(stream.to, text);
  if (error != 0) give_up(stream.to, error);
}

void Output::close_stream(Stream& stream) {
  if (stream.from >= 0) close(std::exchange(stream.from, -1));
}

// Nobody reads `to` any more: the processes that write there get SIGPIPE, as without a label.
void Output::give_up(int to, int error) {
  if (error != EPIPE) {
    say("cannot write to descriptor " + std::to_string(to) + " (" + std::strerror(error) + ")");
  }
  for (const auto& stream : streams_) {
    if (stream->to != to) continue;
    stream->partial.clear();
    close_stream(*stream);
  }
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote >= 0) {
      text.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {  // another program has made the terminal non-blocking
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

void say(std::string_view sentence) {
  std::string line("splitcrun: ");
  line.append(sentence).append("\n");
  write_all(STDERR_FILENO, line);
}

}  // namespace am::launcher
