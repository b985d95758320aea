// Processes that sleep on the bundle's descriptor alone: what is lost leaves one asleep for ever.
#include "am/c/event_loop.h"

#include <poll.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kToken = 1, kArms = 2, kRounds = 200 };

static int token, refused;

static void on_token(void* from, int32_t n) {
  (void)from;
  token = n;
}

static void on_arms(void* from) {
  (void)from;
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_Arm(bundle));
  refused = 1;
}

static void sleep_until(const int* what, int value) {
  struct pollfd watched = {.events = POLLIN};
  CHECK_OK(AMX_GetEventFd(bundle, &watched.fd));
  while (*what != value) {
    const int code = AMX_Arm(bundle);
    CHECK(code == AM_OK || code == AM_ERR_NOT_SENT);
    if (code == AM_OK) CHECK(poll(&watched, 1, -1) == 1);
    CHECK_OK(AM_Poll(bundle));
  }
}

static void pass_a_token_around(void) {
  set(endpoint, kToken, (AM_handler_fn_t)on_token);
  barrier();
  for (int lap = 1; lap <= kRounds; ++lap) {
    if (rank() != 0) sleep_until(&token, lap);
    CHECK_OK(AM_Request1(endpoint, right(), kToken, lap + (right() == 0)));
    if (rank() == 0) sleep_until(&token, lap + 1);
  }
}

static void is_refused(void) {
  int fd = -1;
  set(endpoint, kArms, (AM_handler_fn_t)on_arms);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetEventFd(bundle, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetEventFd(NULL, &fd));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_Arm(NULL));
  eb_t parallel = NULL;
  CHECK_OK(AM_AllocateBundle(AM_PAR, &parallel));
  CHECK_RETURNS(AM_ERR_RESOURCE, AMX_GetEventFd(parallel, &fd));
  CHECK_RETURNS(AM_ERR_RESOURCE, AMX_Arm(parallel));
  CHECK_OK(AM_FreeBundle(parallel));
  CHECK_OK(AM_Request0(endpoint, rank(), kArms));
  sleep_until(&refused, 1);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"loses no wake-up", pass_a_token_around},
      {"is refused", is_refused},
  };
  return RUN_CASES(argc, argv, cases);
}
