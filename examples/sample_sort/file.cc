#include "examples/sample_sort/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace sample_sort {
namespace {

constexpr std::size_t kChunk = 64 << 10;

struct stat status_of(int fd) {
  struct stat status {};
  fstat(fd, &status);
  return status;
}

// Reads on to the end of the last line in `part`, of which there is one.
void complete_last_line(const File& file, Part& part) {
  Text& text = part.text;
  while (text.back() != '\n') {
    const std::size_t before = text.size();
    text.resize(before + std::max(kChunk, before));  // doubled, for lines of many megabytes
    const std::size_t got = file.read_at(part.begin + before, std::span(text).subspan(before));
    const auto chunk = text.begin() + static_cast<std::ptrdiff_t>(before);
    const auto chunk_end = chunk + static_cast<std::ptrdiff_t>(got);
    const auto newline = std::find(chunk, chunk_end, '\n');
    const bool found = newline != chunk_end;
    text.erase(found ? newline + 1 : chunk_end, text.end());
    if (got == 0) text.push_back('\n');  // the file's last line, without one
  }
}

}  // namespace

File File::to_read(const std::string& path) {
  // O_NONBLOCK: to open a FIFO would wait until somebody writes to it. Regular files ignore it.
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path);
  if (file.fd_ < 0) file.fail("cannot be read");
  if (!file.regular()) {
    throw std::runtime_error(
        path +
        " is no regular file, and every process reads its own part of it: save to a file "
        "what comes out of a pipe, and sort that");
  }
  char first;
  if (file.bytes() == 0 && file.read_at(0, {&first, 1}) == 1) {  // such as those of /proc
    throw std::runtime_error(path + " has no size: copy it to a file that has");
  }
  return file;
}

File File::to_write(const std::string& path) {
  File file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666), path);
  if (file.fd_ < 0) file.fail("cannot be written");
  return file;
}

File File::standard_output() {
  File file(dup(STDOUT_FILENO), "standard output");
  if (file.fd_ < 0) file.fail("cannot be written");
  return file;
}

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

bool File::regular() const { return S_ISREG(status_of(fd_).st_mode); }

std::uint64_t File::bytes() const { return static_cast<std::uint64_t>(status_of(fd_).st_size); }

std::size_t File::read_at(std::uint64_t position, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::write_at(std::uint64_t position, std::span<const char> from) const {
  while (!from.empty()) {
    const ssize_t put = pwrite(fd_, from.data(), from.size(), static_cast<off_t>(position));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written");
    position += static_cast<std::uint64_t>(put);
    from = from.subspan(static_cast<std::size_t>(put));
  }
}

void File::write(std::span<const char> from) const {
  while (!from.empty()) {
    const ssize_t put = ::write(fd_, from.data(), from.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("cannot be written");
    from = from.subspan(static_cast<std::size_t>(put));
  }
}

void File::resize(std::uint64_t bytes) const {
  if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) fail("cannot be given its size");
}

void File::fail(const char* what) const {
  throw std::runtime_error(path_ + " " + what + ": " + std::strerror(errno));
}

Part read_part(const File& file, std::uint64_t bytes, std::uint32_t part, std::uint32_t parts) {
  const std::uint64_t begin = bytes * part / parts;
  const std::uint64_t end = bytes * (part + 1) / parts;
  if (begin == end) return {};

  // From the byte before on: if that is a '\n', a line begins here.
  const std::uint64_t before = begin > 0 ? 1 : 0;
  Part own{Text(end - begin + before), begin - before};
  if (file.read_at(own.begin, own.text) != own.text.size()) {
    throw std::runtime_error(file.path() + " became shorter while it was being read");
  }
  if (before != 0) {
    const auto newline = std::find(own.text.begin(), own.text.end(), '\n');
    if (own.text.end() - newline <= 1) return {};  // no line begins in this part
    own.begin += static_cast<std::uint64_t>(newline + 1 - own.text.begin());
    own.text.erase(own.text.begin(), newline + 1);
  }
  complete_last_line(file, own);
  return own;
}

}  // namespace sample_sort
