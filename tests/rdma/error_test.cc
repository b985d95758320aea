#include "rdma/error.h"

#include <fcntl.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

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

// Lets this process open no more files for as long as it lives.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = open("/dev/null", O_RDONLY);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(Error, says_that_no_more_files_can_be_opened_whatever_the_provider_says) {
  EXPECT_THAT(error_of("cannot listen", -FI_EMFILE).what(),
              AllOf(HasSubstr("ulimit -n"), HasSubstr("raise it")));
  EXPECT_EQ(error_of("cannot listen", -FI_EIO).code, FI_EIO);
  const NoMoreFiles none;
  const Error error = error_of("cannot listen", -FI_EIO);
  EXPECT_EQ(error.code, FI_EMFILE);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("Too many open files"), HasSubstr("ulimit -n")));
}

TEST(Error, tells_what_is_short_here_from_what_the_peer_does) {
  for (const int code : {FI_ENOMEM, FI_EMFILE, ENFILE, FI_ENOSPC, FI_ENOBUFS, FI_EADDRINUSE,
                         FI_EADDRNOTAVAIL, static_cast<int>(FI_ENOKEY)}) {
    EXPECT_TRUE(is_local_shortage(code)) << code;
    EXPECT_TRUE(is_local_shortage(-code)) << code;
    EXPECT_NE(remedy(code), "") << code;
  }
  for (const int code :
       {0, FI_EAGAIN, FI_EIO, FI_ECONNREFUSED, FI_ECONNRESET, FI_EHOSTUNREACH, FI_ENETUNREACH,
        FI_ETIMEDOUT, FI_ENOTCONN, FI_EACCES, static_cast<int>(FI_ETRUNC)}) {
    EXPECT_FALSE(is_local_shortage(code)) << code;
  }
}

TEST(Error, tells_what_is_wrong_here_from_what_the_peer_or_the_network_does) {
  for (const int code : {FI_EFAULT, FI_EPERM, FI_EMSGSIZE, FI_EBADF, FI_ENOSYS, FI_EOPNOTSUPP,
                         FI_ENOMEM, FI_EMFILE}) {
    EXPECT_TRUE(is_local(code)) << code;
    EXPECT_TRUE(is_local(-code)) << code;
    EXPECT_FALSE(code == FI_EFAULT && is_local_shortage(code));
  }
  for (const int code : {0, FI_EIO, FI_EINVAL, FI_ECONNREFUSED, FI_ECONNRESET, FI_EHOSTUNREACH,
                         FI_ETIMEDOUT, FI_ENOTCONN, FI_EACCES, static_cast<int>(FI_ETRUNC)}) {
    EXPECT_FALSE(is_local(code)) << code;
  }
  EXPECT_THAT(remedy(FI_EFAULT), HasSubstr("freed"));
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
