#include "tests/soak/watch.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tests/soak/schedule.h"

namespace soak {
namespace {

constexpr int kSeconds = 30;

std::uint64_t done_before = ~std::uint64_t{0};

// In the thread that is interrupted, which is the one that writes `doing`, or one that the library
// runs beside it; then the line may be a mixture.
void report(int) {
  const int error = errno;
  const std::uint64_t done = doing.done;
  if (done == done_before && doing.round != nullptr) {
    char line[256];
    const int length = std::snprintf(
        line, sizeof line,
        "soak: rank %u has done nothing for %d s: round %llu, %s, %zu steps left, "
        "last tried %.*s %llu\n",
        doing.round->me(), kSeconds, static_cast<unsigned long long>(doing.round->number()),
        doing.phase, doing.left, static_cast<int>(doing.family.size()), doing.family.data(),
        static_cast<unsigned long long>(doing.id));
    if (write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) {
      // There is nobody to say it to.
    }
  }
  done_before = done;
  errno = error;
}

}  // namespace

void watch_for_standstill() {
  struct sigaction action {};
  action.sa_handler = report;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{.it_interval = {kSeconds, 0}, .it_value = {kSeconds, 0}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

}  // namespace soak
