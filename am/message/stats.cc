#include "am/message/stats.h"

#include <cstdio>

namespace am {

std::string to_string(const Stats& stats) {
  char line[160];
  std::string text =
      "          requests    one-way    replies  |  received: requests    one-way    replies\n";
  for (int kind = 0; kind < kKinds; ++kind) {
    const Stats::Category& c = stats.of[kind];
    std::snprintf(line, sizeof line, "%-7s %10llu %10llu %10llu  |          %10llu %10llu %10llu\n",
                  name_of(static_cast<Kind>(kind)),
                  static_cast<unsigned long long>(c.requests_sent),
                  static_cast<unsigned long long>(c.one_way_sent),
                  static_cast<unsigned long long>(c.replies_sent),
                  static_cast<unsigned long long>(c.requests_received),
                  static_cast<unsigned long long>(c.one_way_received),
                  static_cast<unsigned long long>(c.replies_received));
    text += line;
  }
  std::snprintf(line, sizeof line, "credit stalls %llu, returned to us %llu, returned by us %llu\n",
                static_cast<unsigned long long>(stats.credit_stalls),
                static_cast<unsigned long long>(stats.returned_here),
                static_cast<unsigned long long>(stats.returned_by_us));
  return text + line;
}

}  // namespace am
