#include "am/job/bootstrap/bootstrap.h"

#include <cstdio>

#include "am/job/bootstrap/endings.h"

namespace am {

void Bootstrap::check_blob(std::span<const std::byte> mine) const {
  if (mine.size() <= kMaxBlob) return;
  throw Error("rank " + std::to_string(rank()) + ": exchange() was given " +
              std::to_string(mine.size()) + " bytes; at most " + std::to_string(kMaxBlob) +
              " fit, so exchange an address of the rest");
}

// Not virtual itself: g++ forgets [[noreturn]] in a virtual call.
void Bootstrap::abort(int exit_code, std::string_view sentence) {
  const int code = (exit_code & 0xff) == 0 ? 1 : exit_code & 0xff;  // the kernel keeps one byte
  const std::string_view shown = sentence.substr(0, kMaxSentence);
  if (getpid() == process_) {
    report_abort(code, shown);
  } else {
    print_sentence("a child of " + std::string(shown));
  }
  std::fflush(nullptr);
  _exit(code);
}

std::vector<std::vector<std::byte>> BootstrapSingle::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  return {{mine.begin(), mine.end()}};
}

void BootstrapSingle::report_abort(int, std::string_view sentence) { print_sentence(sentence); }

}  // namespace am
