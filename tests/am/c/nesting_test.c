// AM_Init() and AM_Terminate(), nested and repeated, without the SPMD layer. Checked against the
// text of am/c/am2.h. (The checks of check.h need no start.)
#include "tests/am/c/check.h"

static int pings;
static void on_ping(void* token) {
  (void)token;
  ++pings;
}

static void nothing_works_before(void) {
  eb_t made;
  void* address;
  uintptr_t nbytes;
  CHECK_RETURNS(AM_ERR_NOT_INIT, AM_AllocateBundle(AM_SEQ, &made));
  CHECK_RETURNS(AM_ERR_NOT_INIT, AM_Poll(NULL));
  CHECK_RETURNS(AM_ERR_NOT_INIT, AM_Request0(NULL, 0, 1));
  CHECK_RETURNS(AM_ERR_NOT_INIT, AM_GetProcessSegment(&address, &nbytes));
  CHECK_RETURNS(AM_ERR_NOT_INIT, AM_Terminate());
}

// A ping to oneself, in a bundle of its own.
static void use_it(void) {
  eb_t in;
  ep_t self;
  en_t name;
  CHECK_OK(AM_AllocateBundle(bundle_type(), &in));
  CHECK_OK(AM_AllocateEndpoint(in, &self, &name));
  CHECK_OK(AM_SetTag(self, 3));
  CHECK_OK(AM_Map(self, 0, name, 3));
  CHECK_OK(AM_SetHandler(self, 1, on_ping));
  const int before = pings;
  CHECK_OK(AM_Request0(self, 0, 1));
  while (pings == before) CHECK_OK(AM_Poll(in));
}

static void on_nest(void* token) {
  (void)token;
  CHECK_OK(AM_Init());
  CHECK_OK(AM_Terminate());
  ++pings;
}

// The last AM_Terminate() sends what is queued, and runs handlers that nest.
static void terminate_with_messages(void) {
  eb_t in;
  ep_t self;
  en_t name;
  CHECK_OK(AM_Init());
  CHECK_OK(AM_AllocateBundle(bundle_type(), &in));
  CHECK_OK(AM_AllocateEndpoint(in, &self, &name));
  CHECK_OK(AM_SetTag(self, 3));
  CHECK_OK(AM_Map(self, 0, name, 3));
  CHECK_OK(AM_SetHandler(self, 1, on_nest));
  const int before = pings;
  for (int i = 0; i < 300; ++i) CHECK_OK(AM_Request0(self, 0, 1));
  CHECK_OK(AM_Terminate());
  CHECK(pings - before >= 300 - 64);  // a window of them may be on its way
}

int main(void) {
  eb_t kept;
  nothing_works_before();
  for (int round = 0; round < 5; ++round) {
    CHECK_OK(AM_Init());
    CHECK_OK(AM_AllocateBundle(bundle_type(), &kept));
    CHECK_OK(AM_Init());
    use_it();
    CHECK_OK(AM_Init());
    CHECK_OK(AM_Terminate());
    CHECK_OK(AM_Terminate());
    CHECK_OK(AM_Poll(kept));  // not the last one yet
    use_it();
    CHECK_OK(AM_Terminate());
    nothing_works_before();
    CHECK_OK(AM_Init());
    CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Poll(kept));  // the last one has freed it
    CHECK_OK(AM_Terminate());
  }
  terminate_with_messages();
  CHECK_OK(AM_Init());  // and the process may end so
  use_it();
  return 0;
}
