// Which function of the program a call without a line is said to be in.
#include "am/job/stall/code.h"

#include <gtest/gtest.h>

#include <string>

namespace am {
namespace {

TEST(AroundLambdas, is_the_function_in_which_a_lambda_stands) {
  EXPECT_EQ(around_lambdas("main::{lambda(splitc::Args)#1}::operator()(splitc::Args) const"),
            "main");
  EXPECT_EQ(around_lambdas("heat::step(int)::{lambda()#2}::operator()() const"), "heat::step(int)");
  EXPECT_EQ(around_lambdas("main::{lambda(splitc::Args)#1}::operator()(splitc::Args) const::"
                           "{lambda(long&)#1}::operator()(long&) const"),
            "main");
  EXPECT_EQ(around_lambdas("main::$_0::operator()(splitc::Args) const"), "main") << "by clang";
}

// Optimized, the program's function is a part of the library's that calls it.
TEST(AroundLambdas, is_the_function_whose_lambda_the_library_calls) {
  EXPECT_EQ(
      around_lambdas("splitc::detail::run_program<main::{lambda(splitc::Args)#1}>(int, char**, "
                     "splitc::RunOptions const&, main::{lambda(splitc::Args)#1}&, am::OutOfBand "
                     "const*)::{lambda(void*, splitc::Args)#1}::_FUN(void*, splitc::Args)"),
      "main");
  EXPECT_EQ(around_lambdas("int splitc::run<heat(int)::{lambda(splitc::Args)#1}>(int, char**, "
                           "heat(int)::{lambda(splitc::Args)#1}&&)"),
            "heat(int)");
}

TEST(AroundLambdas, is_a_function_itself_that_is_no_lambda) {
  for (const std::string name :
       {"main", "step(int)", "void work<main::{lambda()#1}>(main::{lambda()#1})",
        "splitc::detail::finish_outstanding()", "",
        "splitc::detail::run_program<void (&)(splitc::Args)>(int, char**)::{lambda(void*, "
        "splitc::Args)#1}::_FUN(void*, splitc::Args)"}) {
    EXPECT_EQ(around_lambdas(name), name);
  }
}

}  // namespace
}  // namespace am
