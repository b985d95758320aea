#include "am/far/arrival_words.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "am/types/types.h"

namespace am {

ArrivalWords::ArrivalWords(unsigned bits, std::function<std::uint64_t()> random)
    : mask_(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1),
      random_(std::move(random)) {}

std::uint64_t ArrivalWords::from_system() {
  if (left_ == 0) {
    if (getentropy(fetched_.data(), sizeof fetched_) != 0) {
      throw Error(std::string("the system has no random numbers (") + std::strerror(errno) + ")");
    }
    left_ = fetched_.size();
  }
  return fetched_[--left_];
}

std::uint64_t ArrivalWords::add(std::uint32_t arrival, ArrivalSink& sink) {
  for (;;) {
    const std::uint64_t word = (random_ ? random_() : from_system()) & mask_;
    if (word != 0 && arrivals_.try_emplace(word, Given{arrival, &sink}).second) return word;
  }
}

}  // namespace am
