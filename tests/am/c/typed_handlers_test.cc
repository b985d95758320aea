// Handlers of the C++ interface at an endpoint of C, as a library in C++ below a program in C may
// have them: the calls of C that no handler may make are refused there, too, in each of their
// forms.
#include <cstdint>

#include "am/am.h"
#include "am/c/am2.h"
#include "am/c/binding/handles.h"
#include "tests/am/c/check.h"

namespace {

enum { kUntyped = 100, kUnused = 101, kSink = 102 };

int handled = 0;
int arrived = 0;

// To itself and another, also where nothing is mapped.
void expect_refused() {
  const std::int32_t args[5] = {1, 2, 3, 4, 5};
  for (const int to : {rank(), right(), 200}) {
    CHECK_RETURNS(AM_ERR_IN_USE, AM_Request0(endpoint, to, kSink));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_Request3(endpoint, to, kSink, 1, 2, 3));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_Request5(endpoint, to, kSink, 1, 2, 3, 4, 5));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_Request(endpoint, to, kSink, 3, 1, 2, 3));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_RequestArgs(endpoint, to, kSink, 3, args));
    CHECK_RETURNS(AM_ERR_IN_USE, AM_RequestI3(endpoint, to, kSink, args, sizeof args, 1, 2, 3));
    CHECK_RETURNS(AM_ERR_IN_USE,
                  AM_RequestXfer3(endpoint, to, 0, kSink, args, sizeof args, 1, 2, 3));
  }
  int no_token = 0;
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(nullptr, kSink));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(&no_token, kSink));
  ++handled;
}

void on_request(am::Request, int) { expect_refused(); }
void on_one_way(am::OneWay, int) { expect_refused(); }
void on_untyped(am::UntypedMessage, void*) { expect_refused(); }
void on_sink(am::UntypedMessage, void*) { ++arrived; }

void are_refused_what_handlers_may_not_do() {
  am::Endpoint& core = *endpoint->core;
  core.add_handlers<&on_request, &on_one_way>();
  core.set_untyped_handler(kUntyped, &on_untyped);
  core.set_untyped_handler(kSink, &on_sink);
  core.on_returned([](const am::Returned&) { expect_refused(); });
  barrier();
  for (const int to : {rank(), right()}) {  // so both ways are open when the handlers run
    CHECK_OK(AM_Request0(endpoint, to, kSink));
  }
  poll_until(&arrived, 2);
  core.request<&on_request>(static_cast<std::uint32_t>(right()), 1);
  core.request<&on_one_way>(static_cast<std::uint32_t>(right()), 2);
  CHECK_OK(AM_Request0(endpoint, right(), kUntyped));
  CHECK_OK(AM_Request0(endpoint, right(), kUnused));  // comes back
  poll_until(&handled, 4);
  barrier();
  CHECK_EQ(handled, 4);
  CHECK_EQ(arrived, 2);
}

}  // namespace

int main(int argc, char** argv) {
  const Case cases[] = {
      {"C++ handlers are refused what handlers may not do", are_refused_what_handlers_may_not_do},
  };
  return RUN_CASES(argc, argv, cases);
}
