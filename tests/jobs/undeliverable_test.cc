// Messages that come back to an endpoint without a handler for them end the job with a sentence.
#include <gtest/gtest.h>

#include <string>

#include "tests/am/job/program.h"

namespace undeliverable {

void expect_end(const std::string& how, const std::string& rank, const std::string& sentence) {
  const auto result =
      am::test::run({"tools/splitcrun/splitcrun", "-n", "3", "tests/jobs/undeliverable", how});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("rank " + rank + ": " + sentence), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("Endpoint::on_returned, in C handler 0, takes such messages"),
            std::string::npos)
      << result.err;
}

TEST(Undeliverable, short_request_is_printed_in_full) {
  expect_end("short", "0",
             "a short request to rank 1, handler 200, came back: EBADHANDLER: no handler there has "
             "that index; arguments (bytes) 01020304ff000000.");
}

TEST(Undeliverable, one_way_request_is_printed_in_full) {
  expect_end("oneway", "0",
             "a short one-way request to rank 1, handler 201, came back: EBADHANDLER: no handler "
             "there has that index; arguments (bytes) none.");
}

TEST(Undeliverable, medium_request_is_printed_in_full) {
  expect_end("medium", "0",
             "a medium request to rank 1, handler 1, came back: EBADHANDLER: no handler there has "
             "that index; arguments (bytes) 11000000, payload of 5 bytes.");
}

TEST(Undeliverable, long_request_is_printed_in_full) {
  expect_end("long", "0",
             "a long request to rank 1, handler 2, came back: EBADSEGOFF: the payload would begin "
             "outside the segment there; arguments (bytes) none, payload of 5 bytes at offset "
             "1099511627776.");
}

TEST(Undeliverable, reply_ends_the_job_at_the_replier) {
  expect_end("reply", "1",
             "a short reply to rank 0, handler 3, came back: EBADHANDLER: no handler there has "
             "that index; arguments (bytes) 07000000.");
}

}  // namespace undeliverable
