// Threads of a process that sleep on one doorbell: what one of them takes from the socket was meant
// for the others as well.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "am/route/port.h"
#include "am/route/router.h"
#include "tests/support/job_main.h"

namespace am {
namespace lost_wake_test {

using ::test::job;

constexpr std::int64_t kForEver = std::int64_t{1} << 60;

TEST(LostWake, a_ring_that_another_thread_has_taken_keeps_from_sleeping) {
  Port* const port = job().router().port();
  if (port == nullptr) GTEST_SKIP() << "one node";
  shmem::Doorbell& bell = job().router().self().header->bell;
  // Two threads are about to sleep, and have looked. Then comes what both wait for.
  const std::uint32_t one = bell.about_to_sleep();
  const std::uint32_t other = bell.about_to_sleep();
  bell.ring();
  // The first is woken, is the last that sleeps, and makes the socket quiet.
  port->sleep(one, kForEver);
  port->sleep(other, kForEver);
  ::test::barrier();
}

TEST(LostWake, a_ring_for_a_thread_that_sleeps_already_wakes_it) {
  Port* const port = job().router().port();
  if (port == nullptr) GTEST_SKIP() << "one node";
  shmem::Doorbell& bell = job().router().self().header->bell;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t ticket = bell.about_to_sleep();
    const std::jthread ringer([&] { bell.ring(); });
    port->sleep(ticket, kForEver);
  }
  ::test::barrier();
}

}  // namespace lost_wake_test
}  // namespace am
