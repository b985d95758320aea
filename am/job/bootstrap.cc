#include "am/job/bootstrap.h"

#include <algorithm>

namespace am {

void Bootstrap::check_blob(std::span<const std::byte> mine) const {
  if (mine.size() <= kMaxBlob) return;
  throw Error("rank " + std::to_string(rank()) + ": exchange() was given " +
              std::to_string(mine.size()) + " bytes; at most " + std::to_string(kMaxBlob) +
              " fit, so exchange an address of the rest");
}

std::string_view Bootstrap::clip(std::string_view sentence) {
  return sentence.substr(0, std::min(sentence.size(), kMaxSentence));
}

}  // namespace am
