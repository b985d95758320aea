#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "examples/sample_sort/text.h"

namespace sample_sort {

// A file descriptor that closes itself. Throws std::runtime_error, naming the file and the cause,
// where the file cannot be opened, read or written.
class File {
 public:
  static File to_read(const std::string& path);   // a regular file
  static File to_write(const std::string& path);  // made if it is not there; not emptied
  static File standard_output();
  File(File&& other) noexcept;
  File& operator=(File&&) = delete;
  ~File();

  const std::string& path() const noexcept { return path_; }
  bool regular() const;  // it has a size, and can be written at any place
  std::uint64_t bytes() const;

  // As much of [position, position + into.size()) as the file has; returns how much.
  std::size_t read_at(std::uint64_t position, std::span<char> into) const;
  void write_at(std::uint64_t position, std::span<const char> from) const;
  void write(std::span<const char> from) const;  // behind what was written before
  void resize(std::uint64_t bytes) const;

 private:
  File(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}
  [[noreturn]] void fail(const char* what) const;

  int fd_;
  std::string path_;
};

// One process's share of a file.
struct Part {
  Text text;                // its lines
  std::uint64_t begin = 0;  // where the first of them begins in the file
};

// The lines that begin in the `part`-th of `parts` equal parts of the file's first `bytes` bytes:
// together the parts have each line once, however long it is. A last line without '\n' gets one.
Part read_part(const File& file, std::uint64_t bytes, std::uint32_t part, std::uint32_t parts);

}  // namespace sample_sort
