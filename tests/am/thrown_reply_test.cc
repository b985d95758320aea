// A handler replies and then throws: what it has replied does not leave, and leaves nothing behind.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/job_main.h"

namespace am {
namespace thrown_reply_test {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::meet_silently;

constexpr std::size_t kBytes = 5 << 20;  // more than waits in a slot, or is kept for the next
std::vector<std::byte> to_reply(kBytes, std::byte{3});
std::uint64_t answers = 0;
std::uint64_t refused = 0;

void on_answer(Reply, std::span<std::byte> payload) {
  ++answers;
  EXPECT_EQ(payload.back(), std::byte{3});
}
void on_ask(Request r, bool throws) {
  std::move(r).reply_long<&on_answer>(0, to_reply);
  if (throws) throw std::runtime_error("no");
}

// Of payloads on their way, in this process.
int mapped() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find("the payload of a long message") != std::string::npos ? 1 : 0;
  }
  return count;
}

class ThrownReply : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_answer, &on_ask>();
    endpoint_.set_segment(elsewhere_);
    job().connect(endpoint_);
    answers = refused = 0;
    meet_silently();
  }
  void TearDown() override { barrier(); }

  // Each process asks the one to its right, and all have been answered.
  void ask(bool throws) {
    const Rank right = (job().rank() + 1) % job().size();
    poll_until([&] { return endpoint_.try_request<&on_ask>(right, throws); });
    poll_until([&] { return endpoint_.in_flight(right, Kind::kShort) == 0; });
  }
  // The same, and all have refused.
  void ask_in_vain() {
    ask(true);
    ++asked_;
    poll_until([&] { return refused == asked_; });
    meet_silently();
  }
  template <class Done>
  static void poll_until(const Done& done) {
    while (!done()) {
      try {
        bundle().wait_until(done);
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "no");
        ++refused;
      }
    }
  }

  std::vector<std::byte> elsewhere_ = std::vector<std::byte>(kBytes);
  std::uint64_t asked_ = 0;
  Endpoint endpoint_{bundle()};
};

TEST_F(ThrownReply, is_not_delivered_and_its_payload_is_freed) {
  for (int i = 0; i < 20; ++i) ask_in_vain();
  EXPECT_EQ(answers, 0u);
  EXPECT_LE(mapped(), 4);
  ask(false);
  bundle().wait_until([] { return answers == 1; });
  barrier();
}

}  // namespace thrown_reply_test
}  // namespace am
