#include "am/job/bootstrap_single.h"

#include <cstdio>

namespace am {

std::vector<std::vector<std::byte>> BootstrapSingle::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  return {{mine.begin(), mine.end()}};
}

void BootstrapSingle::report_abort(int, std::string_view sentence) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

}  // namespace am
