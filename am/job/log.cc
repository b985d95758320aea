#include "am/job/log.h"

#include <memory>

// In no other file: it takes longer to compile than most rooms.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace am {

void log_info(const std::string& sentence) { spdlog::info(sentence); }

void log_warning(const std::string& sentence) {
  static spdlog::logger logger("splitphase", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger.warn(sentence);
}

}  // namespace am
