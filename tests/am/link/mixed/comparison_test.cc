#include "am/link/mixed/comparison.h"

#include <gtest/gtest.h>

#include <string>

namespace am::link {
namespace {

TEST(Comparison, messages_go_by_datagrams_where_these_are_clearly_faster) {
  Comparison found{.reliable_trip_ns = 10'000, .datagram_trip_ns = 9'400};
  EXPECT_TRUE(found.messages_by_datagrams());
  found.datagram_trip_ns = 9'600;
  EXPECT_FALSE(found.messages_by_datagrams());
  found.datagram_trip_ns = 20'000;
  EXPECT_FALSE(found.messages_by_datagrams());
}

TEST(Comparison, nothing_goes_by_datagrams_that_do_not_arrive) {
  const Comparison found{.reliable_trip_ns = 10'000, .rma_bulk_ns = 900'000};
  EXPECT_FALSE(found.messages_by_datagrams());
  EXPECT_TRUE(found.bulk_by_rma());
  EXPECT_NE(found.describe().find("do not come through"), std::string::npos);
}

TEST(Comparison, bulk_goes_by_rma_where_there_is_one_and_it_is_faster) {
  Comparison found{.reliable_trip_ns = 10'000, .datagram_trip_ns = 5'000};
  found.datagram_bulk_ns = 2'000'000;
  EXPECT_FALSE(found.bulk_by_rma());
  found.rma_bulk_ns = 1'000'000;
  EXPECT_TRUE(found.bulk_by_rma());
  found.rma_bulk_ns = 3'000'000;
  EXPECT_FALSE(found.bulk_by_rma());
}

TEST(Comparison, says_what_was_measured) {
  const Comparison found{.reliable_trip_ns = 8'900,
                         .datagram_trip_ns = 5'400,
                         .rma_bulk_ns = 310'000,
                         .datagram_bulk_ns = 1'840'000};
  EXPECT_EQ(found.describe(),
            "short messages there and back in 8.9 us, by datagrams in 5.4; 1 MiB in 310 us by RMA, "
            "in 1840 us by datagrams");
}

}  // namespace
}  // namespace am::link
