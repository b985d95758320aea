// The pool of frames, over a provider as it is and one that wants local memory registered.
#include "am/link/fabric/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "tests/am/link/fabric_pair.h"
#include "tests/support/seed.h"

namespace am::link {
namespace frames_test {

class Pool : public testing::TestWithParam<bool> {
 protected:
  std::unique_ptr<rdma::Fabric> fabric_ = test::open_fabric("net", GetParam());
  rdma::Endpoint endpoint_{*fabric_, {.operations = 64, .wait_fd = false}};
  FramePool pool_{*fabric_, endpoint_, fabric_->eager_bytes()};
  Route route_;
};

TEST_P(Pool, gives_every_frame_to_one_holder_at_a_time) {
  std::mt19937_64 random(::test::seed());
  std::set<Frame*> held;
  for (int i = 0; i < 20'000; ++i) {
    if (held.empty() || random() % 2 == 0) {
      Frame& frame = pool_.take(route_, {});
      EXPECT_TRUE(frame.empty());
      EXPECT_EQ(frame.descriptor != nullptr, GetParam());
      ASSERT_TRUE(held.insert(&frame).second);
      std::memset(frame.data, static_cast<int>(held.size()), frame.capacity);
    } else {
      const auto any = std::next(held.begin(), static_cast<long>(random() % held.size()));
      pool_.give_back(**any);
      held.erase(any);
    }
  }
}

TEST_P(Pool, gives_memory_back_when_a_burst_is_over) {
  const std::size_t burst = 2 * pool_.kept() * FrameSlab::kFrames;
  std::mt19937_64 random(::test::seed());
  std::vector<Frame*> held;
  for (std::size_t i = 0; i < burst; ++i) held.push_back(&pool_.take(route_, {}));
  EXPECT_EQ(pool_.slabs(), 2 * pool_.kept());
  std::ranges::shuffle(held, random);
  for (Frame* frame : held) pool_.give_back(*frame);
  EXPECT_EQ(pool_.slabs(), pool_.kept());
}

INSTANTIATE_TEST_SUITE_P(OfMemory, Pool, testing::Bool(),
                         [](const auto& info) { return info.param ? "registered" : "plain"; });

}  // namespace frames_test
}  // namespace am::link
