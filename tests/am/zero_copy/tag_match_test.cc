#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "am/zero_copy/requests.h"

namespace am::zero_copy {
namespace {

constexpr ZeroCopyInfo info(std::uint64_t reference) { return {.reference = reference}; }
std::vector<ZeroCopyInfo> sources(std::uint64_t reference) { return {info(reference)}; }
End end_of(std::uint64_t reference) { return {info(reference), nullptr}; }

TEST(TagMatch, gives_a_request_the_memory_that_was_posted_before) {
  TagMatch match;
  EXPECT_FALSE(match.post(5, end_of(1)));
  EXPECT_TRUE(match.awaits_request(5));
  EXPECT_FALSE(match.match(6, sources(2), {})) << "another tag";
  const auto memory = match.match(5, sources(3), {});
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->buffer.reference, 1u);
  EXPECT_FALSE(match.awaits_request(5));
  EXPECT_FALSE(match.awaits_memory(5));
}

TEST(TagMatch, keeps_a_request_and_what_came_with_it_until_memory_is_posted) {
  TagMatch match;
  std::array<std::byte, 3> payload{std::byte{1}, std::byte{2}, std::byte{3}};
  EXPECT_FALSE(match.match(5, sources(7), payload));
  payload.fill(std::byte{0});  // it was copied
  EXPECT_TRUE(match.awaits_memory(5));
  const auto request = match.post(5, end_of(1));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->sources.front().reference, 7u);
  EXPECT_EQ(request->along, (std::vector{std::byte{1}, std::byte{2}, std::byte{3}}));
  EXPECT_FALSE(match.awaits_memory(5));
  EXPECT_FALSE(match.post(5, end_of(2))) << "the request has had its memory";
}

TEST(TagMatch, uses_a_tag_again_when_both_have_met) {
  TagMatch match;
  for (std::uint64_t i = 0; i < 100; ++i) {
    if (i % 2 == 0) {
      EXPECT_FALSE(match.post(1, end_of(i)));
      EXPECT_EQ(match.match(1, sources(i), {})->buffer.reference, i);
    } else {
      EXPECT_FALSE(match.match(1, sources(i), {}));
      EXPECT_EQ(match.post(1, end_of(i))->sources.front().reference, i);
    }
  }
}

}  // namespace
}  // namespace am::zero_copy
