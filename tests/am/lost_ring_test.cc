// A sender that does not see that the receiver sleeps does not ring (shmem/doorbell.h says how that
// can be). The receiver finds its message all the same, and soon.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "am/route/router.h"
#include "tests/support/job_main.h"

namespace am {
namespace lost_ring_test {

using ::test::bundle;
using ::test::job;

std::uint32_t came = 0;
void on_message(OneWay) { ++came; }

// The word of a doorbell that says whether its owner sleeps: its first.
std::atomic_ref<std::uint32_t> asleep(shmem::Doorbell& bell) {
  return std::atomic_ref(reinterpret_cast<std::uint32_t&>(bell));
}

// So many that the test would not end if each took a second.
constexpr std::uint32_t kMessages = 1'000;

TEST(LostRing, delays_a_message_and_no_more) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_message>();
  job().connect(endpoint);
  const Rank me = job().rank();
  const Peer& receiver = job().router().peer(0);
  const std::atomic_ref seen(*reinterpret_cast<std::uint32_t*>(receiver.segment));
  for (std::uint32_t i = 1; i <= kMessages; ++i) {
    if (me == 0) {
      bundle().wait_until([&] { return came == i; });
      seen.store(i, std::memory_order_release);  // pairs with: the load below
    } else if (me == 1) {
      const auto its = asleep(receiver.header->bell);
      while (its.exchange(0, std::memory_order_relaxed) == 0) sched_yield();
      endpoint.request<&on_message>(0);
      // pairs with: the store above
      while (seen.load(std::memory_order_acquire) < i) sched_yield();
    }
  }
  ::test::barrier();
}

}  // namespace lost_ring_test
}  // namespace am
