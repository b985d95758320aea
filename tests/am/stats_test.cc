#include <gtest/gtest.h>

#include <string>

#include "tests/support/job_main.h"

namespace am {
namespace stats_test {

using test::barrier;
using test::bundle;
using test::job;

int answers = 0;
int heard = 0;

void on_answer(Reply, int) { ++answers; }
void on_question(Request request, int n) { std::move(request).reply<&on_answer>(n); }
void on_silent_question(Request) {}
void on_news(OneWay, std::span<const std::byte>) { ++heard; }

TEST(Stats, every_message_is_counted_at_both_ends) {
  Endpoint endpoint(bundle());
  endpoint.add_handlers<&on_answer, &on_question, &on_silent_question, &on_news>();
  job().connect(endpoint);
  answers = heard = 0;
  const int peers = static_cast<int>(job().size());
  for (Rank to = 0; to < job().size(); ++to) {
    for (int i = 0; i < 5; ++i) endpoint.request<&on_question>(to, i);
    for (int i = 0; i < 3; ++i) endpoint.request<&on_silent_question>(to);
    endpoint.request_medium<&on_news>(to, {});
  }
  bundle().wait_until([&] {
    return answers == 5 * peers && heard == peers && endpoint.in_flight(0, Kind::kShort) == 0;
  });
  barrier();
  const Stats& stats = endpoint.stats();
  const auto n = static_cast<std::uint64_t>(peers);
  EXPECT_EQ(stats[Kind::kShort].requests_sent, 8 * n);
  EXPECT_EQ(stats[Kind::kShort].requests_received, 8 * n);
  EXPECT_EQ(stats[Kind::kShort].replies_sent, 5 * n);
  EXPECT_EQ(stats[Kind::kMedium].one_way_sent, n);
  EXPECT_EQ(stats[Kind::kMedium].one_way_received, n);
  EXPECT_EQ(stats[Kind::kShort].one_way_sent, 0u);
  EXPECT_EQ(stats.returned_here + stats.returned_by_us, 0u);
}

}  // namespace stats_test
}  // namespace am
