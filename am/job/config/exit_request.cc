#include "am/job/config/exit_request.h"

#include "am/job/config/futex.h"

namespace am {

void ExitRequest::ask(int code) noexcept {
  std::uint32_t expected = kNobody;
  const std::uint32_t asked = kAsked | (static_cast<std::uint32_t>(code) & 0xff);
  word_.compare_exchange_strong(expected, asked, std::memory_order_relaxed);
  futex_wake_all(word_);
}

void ExitRequest::wait() const noexcept {
  while (!asked()) futex_wait(word_, kNobody);
}

}  // namespace am
