#include "am/job/bootstrap/single.h"

#include "am/job/bootstrap/last_words.h"

namespace am {

std::vector<std::vector<std::byte>> BootstrapSingle::exchange(std::span<const std::byte> mine) {
  check_blob(mine);
  return {{mine.begin(), mine.end()}};
}

void BootstrapSingle::report_abort(int, std::string_view sentence) { print_sentence(sentence); }

}  // namespace am
