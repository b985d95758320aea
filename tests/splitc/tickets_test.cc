// What operations need of the program's memory, and which of it is named when it is gone.
#include "splitc/world/tickets.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace splitc::detail {
namespace {

constexpr std::size_t kBytes = 8;

// AddressSanitizer moves what a function declares to other memory, but not what has no fixed size.
[[gnu::noinline]] void in_a_frame_that_is_left(const auto& borrow) {
  volatile std::size_t bytes = kBytes;
  void* const gone = __builtin_alloca(bytes);
  std::memset(gone, 0, kBytes);
  borrow(gone);
}

// Gets of a few bytes have one ticket if they go together.
TEST(Tickets, of_several_gets_name_the_frame_that_was_left_and_not_lower_memory_that_stays) {
  static std::byte stays[kBytes];
  Tickets tickets{0};
  const handle all = Tickets::Start(tickets, {.proc = 0}).started();
  const auto borrow = [&](const void* memory) {
    tickets.borrow(all, {.memory = memory, .bytes = kBytes});
  };
  borrow(stays);
  const void* const frame = __builtin_frame_address(0);
  EXPECT_EQ(tickets.left_behind(frame), nullptr);
  in_a_frame_that_is_left(borrow);
  borrow(stays);
  const Tickets::Borrowed* const named = tickets.left_behind(frame);
  ASSERT_NE(named, nullptr);
  EXPECT_NE(named->memory, stays);
  tickets.answered(all.ticket(), nullptr);
}

}  // namespace
}  // namespace splitc::detail
