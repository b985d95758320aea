#include "am/job/crash/text.h"

#include <unistd.h>

#include <cerrno>

namespace am {

void CrashText::write() const noexcept {
  for (std::string_view rest = view(); !rest.empty();) {
    const ssize_t wrote = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (wrote <= 0 && errno != EINTR) return;
    if (wrote > 0) rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace am
