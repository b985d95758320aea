#include "am/job/trace/trace_file.h"

#include <cerrno>
#include <cstring>

namespace am {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;

}  // namespace

TraceFile::TraceFile(const std::string& path, Rank me) : file_(std::fopen(path.c_str(), "we")) {
  if (!file_) {
    throw Error("rank " + std::to_string(me) + ": Job: SPLITC_TRACE=" + path +
                ": cannot write this file (" + std::strerror(errno) +
                "); name one in a folder that exists and that you may write to");
  }
  std::setvbuf(file_.get(), nullptr, _IOFBF, kBuffer);
}

void TraceFile::note_error() noexcept {
  if (error_ == 0) error_ = errno != 0 ? errno : EIO;
}

void TraceFile::append(std::string_view text) noexcept {
  if (error_ != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) note_error();
}

std::string TraceFile::close() {
  if (std::fclose(file_.release()) != 0) note_error();  // some file systems say only here
  return error_ != 0 ? std::strerror(error_) : "";
}

}  // namespace am
