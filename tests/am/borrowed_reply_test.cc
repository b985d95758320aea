// Long replies that are sent from where they are.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "am/types/shared_words.h"
#include "tests/support/job_main.h"

namespace am {
namespace borrowed_reply_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;

constexpr std::size_t kMost = 6 << 20;
constexpr std::uint64_t kNowhere = std::uint64_t{1} << 40;  // an offset where nothing fits

// Of the process that is asked.
std::vector<std::byte> source;
bool released = false;
std::uint64_t asked = 0;
std::uint64_t answers = 0;  // of the one that asks

void on_answer(Reply, std::span<std::byte> payload, std::uint8_t value) {
  std::size_t whole = 0;
  while (whole < payload.size() && payload[whole] == std::byte{value}) ++whole;
  EXPECT_EQ(whole, payload.size());
  ++answers;
}
void on_ask(Request request, std::uint64_t bytes, std::uint64_t offset, std::uint8_t value,
            bool throws) {
  ++asked;
  released = false;
  std::memset(source.data(), value, bytes);
  std::move(request).reply_long_borrowing<&on_answer>(offset, std::span(source).first(bytes),
                                                      released, value);
  if (throws) throw std::runtime_error("no");
}

class BorrowedReply : public testing::Test {
 protected:
  BorrowedReply() {
    source.assign(kMost, std::byte{0});
    asked = answers = 0;
    endpoint_.add_handlers<&on_answer, &on_ask>();
    endpoint_.on_returned([this](const Returned& returned) {
      EXPECT_EQ(returned.role, Role::kReply);
      ++returned_;
    });
  }
  void connect() {
    job().connect(endpoint_);
    job().exchange(0);  // in which no handler runs
  }
  void TearDown() override { barrier(); }

  void expect_all_sizes() {
    std::uint64_t times = 0;
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{4096},
                                    std::size_t{4097}, std::size_t{40'000}, kMost}) {
      for (std::uint8_t round = 1; round < 5; ++round) {
        ask(bytes, 0, round);
        wait_until_released(++times);
        std::memset(source.data(), 0xff, bytes);  // it has left
        bundle().wait_until([&] { return answers == times; });
        barrier();
      }
    }
  }

  Rank right() const { return (job().rank() + 1) % job().size(); }
  void ask(std::uint64_t bytes, std::uint64_t offset, std::uint8_t value) {
    bundle().wait_until(
        [&] { return endpoint_.try_request<&on_ask>(right(), bytes, offset, value, false); });
  }
  // This process has been asked at least that often, and what it was asked for may change.
  static void wait_until_released(std::uint64_t times) {
    bundle().wait_until([&] { return asked >= times && is_released(released); });
  }

  std::vector<std::byte> elsewhere_ = std::vector<std::byte>(kMost);
  std::uint64_t returned_ = 0;
  Endpoint endpoint_{bundle()};
};

// The network writes there.
TEST_F(BorrowedReply, arrives_whole_and_is_released_whatever_its_size) {
  connect();
  expect_all_sizes();
}

// The process that has asked copies it.
TEST_F(BorrowedReply, arrives_whole_and_is_released_where_the_network_does_not_write) {
  endpoint_.set_segment(elsewhere_);
  connect();
  expect_all_sizes();
}

TEST_F(BorrowedReply, is_released_when_it_is_not_admitted) {
  connect();
  ask(5000, kNowhere, 1);
  wait_until_released(1);
  bundle().wait_until([&] { return returned_ >= 1; });
  ask(8, kNowhere, 1);
  wait_until_released(2);
  bundle().wait_until([&] { return returned_ == 2; });
  EXPECT_EQ(answers, 0u);
}

TEST_F(BorrowedReply, is_released_when_its_handler_throws) {
  connect();
  ASSERT_TRUE((endpoint_.try_request<&on_ask>(right(), std::uint64_t{5000}, std::uint64_t{0},
                                              std::uint8_t{1}, true)));
  bool thrown = false;
  while (!thrown) {
    try {
      bundle().wait_until([] { return asked >= 1; });
      bundle().poll();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no");
      thrown = true;
    }
  }
  EXPECT_TRUE(is_released(released));
  bundle().wait_until([&] { return endpoint_.in_flight(right(), Kind::kShort) == 0; });
  EXPECT_EQ(answers, 0u);
}

}  // namespace borrowed_reply_test
}  // namespace am
