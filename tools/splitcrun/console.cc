#include "tools/splitcrun/console.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/splitcrun/options.h"

namespace am::launcher {
namespace {

constexpr std::size_t kAtOnce = 1 << 16;  // bytes a write: so that progress is seen

std::string line_of(std::string_view sentence) {
  std::string line("splitcrun: ");
  return line.append(sentence).append("\n");
}

// Bytes written, at least 1; 0 and an errno when nothing can be.
std::size_t write_some(int fd, std::string_view text) {
  while (true) {
    const ssize_t wrote = write(fd, text.data(), text.size());
    if (wrote > 0) return static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno == EAGAIN) {  // another program has made the terminal non-blocking
      pollfd room{.fd = fd, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (wrote == 0 || errno != EINTR) {
      return 0;
    }
  }
}

bool is_one_file(int fd, int other) {
  struct stat a {
  }, b{};
  return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

}  // namespace

// A file and the queue in front of it. The thread has a share in it: it cannot be joined while its
// reader does not read.
struct Console::File {
  struct Piece {
    int to;
    std::string text;
    bool asked_for;
  };

  explicit File(int wake) : wake_fd(wake) {}

  static void write_all(const std::shared_ptr<File>& file);
  void add(int to, std::string_view text, bool asked_for);
  void note_written(const Piece& piece, std::size_t bytes);
  void drop(const Piece& piece, int why);

  const int wake_fd;

  mutable std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  std::deque<Piece> pieces;
  std::array<std::size_t, 2> queued{};  // bytes, by descriptor - 1; with those being written
  std::array<int, 2> error{};
  std::array<bool, 2> lossy{};
  std::uint64_t written = 0;
  bool closed = false;
};

void Console::File::add(int to, std::string_view text, bool asked_for) {
  const std::lock_guard lock(mutex);
  if (error[to - 1] != 0) {
    lossy[to - 1] |= asked_for;
    return;
  }
  queued[to - 1] += text.size();
  if (!pieces.empty() && pieces.back().to == to && pieces.back().text.size() < kAtOnce) {
    pieces.back().text.append(text);
    pieces.back().asked_for |= asked_for;
  } else {
    pieces.push_back({to, std::string(text), asked_for});
  }
  changed.notify_one();
}

void Console::File::note_written(const Piece& piece, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  queued[piece.to - 1] -= bytes;
  written += bytes;
}

// What is left of `being_written`, and all behind it.
void Console::File::drop(const Piece& being_written, int why) {
  const std::lock_guard lock(mutex);
  const int to = being_written.to;
  error[to - 1] = why;
  queued[to - 1] = 0;
  lossy[to - 1] = being_written.asked_for;
  std::erase_if(pieces, [&](const Piece& piece) {
    if (piece.to != to) return false;
    lossy[to - 1] |= piece.asked_for;
    return true;
  });
}

void Console::File::write_all(const std::shared_ptr<File>& file) {
  const std::uint64_t one = 1;
  while (true) {
    Piece piece;
    {
      std::unique_lock lock(file->mutex);
      file->changed.wait(lock, [&] { return file->closed || !file->pieces.empty(); });
      if (file->closed) return;
      piece = std::move(file->pieces.front());
      file->pieces.pop_front();
    }
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      const std::size_t wrote = write_some(piece.to, rest.substr(0, kAtOnce));
      if (wrote == 0) {
        file->drop(piece, errno);
        rest = {};
      } else {
        file->note_written(piece, wrote);
        rest.remove_prefix(wrote);
      }
      (void)!write(file->wake_fd, &one, sizeof one);
    }
  }
}

Console::Console() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) {
    throw Failure(kExitUsage, std::string("cannot make an eventfd (") + std::strerror(errno) + ")");
  }
  files_[0] = std::make_shared<File>(wake_);
  const bool one = is_one_file(STDOUT_FILENO, STDERR_FILENO);
  files_[1] = one ? files_[0] : std::make_shared<File>(wake_);
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGTTOU);  // a terminal may forbid background jobs to write (stty tostop)
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  try {
    std::thread(File::write_all, files_[0]).detach();
    if (!one) std::thread(File::write_all, files_[1]).detach();
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) return;
  throw Failure(kExitUsage, std::string("cannot start a thread (") + std::strerror(error) +
                                "); raise the limit of processes and threads (ulimit -u, or "
                                "pids.max of the control group)");
}

// The descriptor stays open: a thread that hangs in a write may wake up once more.
Console::~Console() {
  for (const auto& file : files_) {
    const std::lock_guard lock(file->mutex);
    file->closed = true;
    file->changed.notify_one();
  }
}

void Console::add(int to, std::string_view text, bool asked_for) {
  given_ += text.size();
  if (!text.empty()) files_[to - 1]->add(to, text, asked_for);
}

void Console::say(std::string_view sentence) { add(STDERR_FILENO, line_of(sentence), false); }

void Console::answer(std::string_view sentence) { add(STDERR_FILENO, line_of(sentence), true); }

Console::State Console::state(int to) const {
  const File& one = *files_[to - 1];
  const std::lock_guard lock(one.mutex);
  return {.queued = one.queued[to - 1],
          .queued_in_file = one.queued[0] + one.queued[1],
          .error = one.error[to - 1],
          .is_lossy = one.lossy[to - 1]};
}

std::uint64_t Console::written() const {
  std::uint64_t bytes = 0;
  for (const auto& one : files_) {
    const std::lock_guard lock(one->mutex);
    bytes += one->written;
    if (files_[0] == files_[1]) break;
  }
  return bytes;
}

void Console::acknowledge() {
  std::uint64_t changes = 0;
  (void)!read(wake_, &changes, sizeof changes);
}

void say_and_wait(std::string_view sentence) {
  const std::string line = line_of(sentence);
  for (std::string_view rest = line; !rest.empty();) {
    const std::size_t wrote = write_some(STDERR_FILENO, rest);
    if (wrote == 0) return;
    rest.remove_prefix(wrote);
  }
}

}  // namespace am::launcher
