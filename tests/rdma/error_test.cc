#include "rdma/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

namespace rdma {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Error error_of(const std::string& what, long result) {
  try {
    fail(what, result);
  } catch (const Error& error) {
    return error;
  }
}

TEST(Error, has_what_was_wanted_and_libfabrics_words) {
  const Error error = error_of("cannot open eth0", -FI_ENODATA);
  EXPECT_STREQ(error.what(), "rdma: cannot open eth0 (No data available)");
  EXPECT_EQ(error.code, FI_ENODATA);
  EXPECT_EQ(error_of("", FI_EAGAIN).code, FI_EAGAIN) << "either sign";
}

TEST(Error, says_what_to_do_about_pinned_memory) {
  EXPECT_THAT(error_of("cannot register", -FI_ENOMEM).what(),
              AllOf(HasSubstr("ulimit -l"), HasSubstr("raise it")));
}

TEST(Error, says_what_to_do_about_keys) {
  EXPECT_THAT(error_of("cannot register", -FI_ENOKEY).what(), HasSubstr("every memory key"));
}

TEST(Error, codes_are_a_category_that_knows_errno) {
  const std::error_code again(FI_EAGAIN, category());
  EXPECT_EQ(again, std::errc::resource_unavailable_try_again);
  EXPECT_STREQ(again.category().name(), "libfabric");
  const std::error_code key(FI_ENOKEY, category());
  EXPECT_NE(key.message(), "");
  const std::error_code own(FI_EOVERRUN, category());
  EXPECT_EQ(own.default_error_condition().category(), category());
}

}  // namespace
}  // namespace rdma
