#include "am/job/config/lost_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "am/types/types.h"

namespace am {
namespace {

std::atomic<std::uint32_t>* told = nullptr;
pid_t loser = 0;  // the process whose output is lost, as its children have lost nothing; 0: none

// glibc goes on with the handlers that are left and takes the last exit code it was given.
void correct_exit_code(int exit_code, void*) {
  if (exit_code == 0 && loser == getpid()) std::exit(1);
}

// It is not told the code.
void correct_quick_exit_code() {
  if (std::exchange(loser, 0) == getpid()) std::quick_exit(1);
}

}  // namespace

int write_all(std::FILE* file, std::string_view text) noexcept {
  errno = 0;
  const bool all = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (all && std::fflush(file) == 0) return 0;
  return errno != 0 ? errno : EIO;
}

void print_answer(std::string_view text) {
  const int error = write_all(stdout, text);
  if (error == 0) return;
  throw Error("cannot write to standard output (" + std::string(std::strerror(error)) +
              "), so the answer is lost; give it a file that has room");
}

void note_lost_output(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  if (told != nullptr) return told->store(1, std::memory_order_relaxed);
  static const bool registered =
      on_exit(correct_exit_code, nullptr) == 0 && std::at_quick_exit(correct_quick_exit_code) == 0;
  if (!registered) throw Error("no room for another handler of exit()");
  loser = getpid();
}

void tell_of_lost_output(std::atomic<std::uint32_t>* lost) noexcept { told = lost; }

}  // namespace am
