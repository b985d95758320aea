#include "am/job/log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

// In no other file: it takes longer to compile than most rooms.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "am/job/config/lost_output.h"

namespace am {

void log_info(const std::string& sentence) {
  errno = 0;
  spdlog::info(sentence);  // which looks at no error
  const int error = errno;
  if (std::ferror(stdout) == 0) return;
  note_lost_output("standard output cannot be written (" + std::string(std::strerror(error)) +
                   "), so what SPLITC_VERBOSE asked for is lost: " + sentence);
}

void log_warning(const std::string& sentence) {
  static spdlog::logger logger("splitphase", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger.warn(sentence);
}

}  // namespace am
