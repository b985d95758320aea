// What a handler throws while a call of the library waits for a transfer comes out when the network
// uses the caller's memory no more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "am/core/far/remote_memory.h"
#include "tests/support/job_main.h"
#include "tests/support/side_channel.h"

namespace am {
namespace {

using ::test::barrier;
using ::test::bundle;
using ::test::job;
using ::test::rank;
using ::test::SideChannel;

constexpr std::size_t kBytes = 24 << 20;  // more than is under way at once
constexpr std::byte kSent{7};
constexpr std::byte kLater{9};
constexpr std::uint64_t kCounter = 0;  // offset of the counter of stores
constexpr std::uint64_t kAt = 4096;    // ... and of the payload

SideChannel* thrown = nullptr;
std::uint64_t handled = 0;

void on_throw(OneWay) {
  thrown->advance_to(1);
  throw std::runtime_error("the handler says no");
}
void on_long(OneWay, std::span<std::byte>) { ++handled; }
void on_nothing(OneWay) {}

// Process 0 sends to process 1, which does not poll until a message of process 2 has thrown in 0.
class ThrownInTransfer : public testing::Test {
 protected:
  void SetUp() override {
    endpoint_.add_handlers<&on_throw, &on_long, &on_nothing>();
    job().connect(endpoint_);
    std::ranges::fill(endpoint_.segment().first(kAt + kBytes), std::byte{0});
    handled = 0;
    thrown = &thrown_;
    // Afterwards the connections are there, and what is sent next goes at once.
    if (rank() == 0) endpoint_.request_long<&on_long>(1, kAt, std::span(payload_).first(100'000));
    if (rank() == 2) endpoint_.request<&on_nothing>(0);
    job().quiesce(bundle());
    handled = 0;
  }
  void TearDown() override { barrier(); }

  // `send` sends payload_ from process 0 to process 1.
  template <class Send>
  void run(Send&& send) {
    barrier();
    SideChannel left("thrown_left");
    left.add(1);
    while (!left.reached(3)) bundle().poll();
    if (rank() == 0) {
      sends_.advance_to(1);  // without a poll from here to there
      EXPECT_THROW(send(), std::runtime_error);
      std::ranges::fill(payload_, kLater);
    } else {
      sends_.await(1);
      if (rank() == 2) endpoint_.request<&on_throw>(0);
      thrown_.await(1);
    }
    job().quiesce(bundle());
  }

  void expect_received() {
    if (rank() != 1) return;
    const auto received = endpoint_.segment().subspan(kAt, kBytes);
    EXPECT_EQ(std::ranges::count(received, kSent), static_cast<std::ptrdiff_t>(kBytes));
  }

  Endpoint endpoint_{bundle()};
  SideChannel sends_{"sends"};
  SideChannel thrown_{"thrown"};
  std::vector<std::byte> payload_ = std::vector<std::byte>(kBytes, kSent);
};

TEST_F(ThrownInTransfer, request_long_keeps_its_payload) {
  run([&] { endpoint_.request_long<&on_long>(1, kAt, payload_); });
  expect_received();
  EXPECT_EQ(handled, rank() == 1 ? 1u : 0u);
}

TEST_F(ThrownInTransfer, store_keeps_its_source) {
  RemoteMemory memory(bundle(), [](std::uint32_t) {});
  std::uint64_t sent = 0;
  run([&] { memory.store(1, kAt, payload_, kCounter, "store", sent); });
  EXPECT_EQ(sent, rank() == 0 ? kBytes : 0u);  // as process 1 counts it
  barrier();
  if (rank() == 1) {
    const auto* const counter =
        reinterpret_cast<const std::uint64_t*>(endpoint_.segment().data() + kCounter);
    bundle().wait_until([&] { return *counter == kBytes; }, Wake::kMemory);
  }
  expect_received();
}

}  // namespace
}  // namespace am
