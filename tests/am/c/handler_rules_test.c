// What handlers may not do: every call that sends a request, waits, polls, or makes, frees or moves
// something returns AM_ERR_IN_USE, and changes nothing. Checked against the list in am/c/am2.h.
#include <limits.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kTry = 1, kAnswer = 2, kSecond = 3 };

static int tried, answered;
static void* last_token;

static void try_all(void) {
  eb_t new_bundle;
  ep_t new_endpoint;
  en_t name;
  int index = 0;
  uint64_t id;
  char byte = 0;
  CHECK_OK(AM_GetEndpointName(endpoint, &name));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Request0(endpoint, right(), kAnswer));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_RequestI0(endpoint, right(), kAnswer, &byte, 1));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_RequestXfer0(endpoint, right(), 0, kAnswer, &byte, 1));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_RequestXferAsync0(endpoint, right(), 0, kAnswer, &byte, 1));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Request0(endpoint, rank(), kAnswer));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_GetXfer0(endpoint, right(), 0, kAnswer, 0, 0));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_GetXferAsync0(endpoint, right(), 0, kAnswer, 0, 0));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Poll(bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Wait(bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_AllocateBundle(AM_SEQ, &new_bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_FreeBundle(bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_AllocateEndpoint(bundle, &new_endpoint, &name));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_FreeEndpoint(endpoint));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_MoveEndpoint(endpoint, bundle, bundle));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Unmap(endpoint, right()));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_SetTranslationTag(endpoint, right(), 9));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SPMDBarrier());
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SPMDAllGather(&index, &index, sizeof index));
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SPMDStartup(NULL, NULL, 0, &id, &new_bundle, &new_endpoint));
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Terminate());
  CHECK_OK(AM_Init());
  CHECK_OK(AM_Terminate());
  CHECK_OK(AM_GetTranslationInuse(endpoint, right()));
}

static void on_answer(void* token) {
  try_all();
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(token, kAnswer));
  ++answered;
}

static void on_try(void* token) {
  char stack;
  try_all();
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(&stack, kAnswer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(NULL, kAnswer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(token, 0));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(token, 256));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ReplyArgs(token, kAnswer, 17, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ReplyArgs(token, kAnswer, 1, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ReplyI0(token, kAnswer, NULL, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_ReplyI0(token, kAnswer, &stack, AM_MaxMedium() + 1));
  CHECK_OK(AM_Reply0(token, kAnswer));  // what was refused has not used up the reply
  CHECK_RETURNS(AM_ERR_IN_USE, AM_Reply0(token, kAnswer));
  last_token = token;
  ++tried;
}

static void handlers_may_reply_and_look(void) {
  set(endpoint, kTry, on_try);
  set(endpoint, kAnswer, on_answer);
  barrier();
  CHECK_OK(AM_Request0(endpoint, right(), kTry));
  poll_until(&answered, 1);
  poll_until(&tried, 1);
  CHECK_EQ(tried, 1);
  CHECK_EQ(answered, 1);
}

static void a_token_ends_with_its_handler(void) {
  en_t name;
  tag_t tag;
  ep_t to;
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Reply0(last_token, kAnswer));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetSourceEndpoint(last_token, &name));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetMsgTag(last_token, &tag));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetDestEndpoint(last_token, &to));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_GetDestEndpoint(NULL, &to));
}

static int silent;
static void on_silent(void* token) {
  (void)token;
  ++silent;
}

// 64 fit the window: the 65th needs a credit that only an empty reply can have returned.
static void a_handler_need_not_reply(void) {
  set(endpoint, kSecond, on_silent);
  barrier();
  for (int i = 0; i < 200; ++i) CHECK_OK(AM_Request0(endpoint, right(), kSecond));
  poll_until(&silent, 200);
  barrier();
  CHECK_EQ(silent, 200);
}

static void wrong_requests_are_refused(void) {
  char byte = 0;
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, right(), 0));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, right(), 256));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, right(), -1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, procs(), kTry));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, -1, kTry));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request0(endpoint, 1 << 30, kTry));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request(endpoint, right(), kTry, 17));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_Request(endpoint, right(), kTry, -1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_RequestArgs(endpoint, right(), kTry, 2, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_RequestI0(endpoint, right(), kTry, NULL, 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_RequestI0(endpoint, right(), kTry, &byte, AM_MaxMedium() + 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_RequestXfer0(endpoint, right(), 0, kTry, &byte, (size_t)INT_MAX + 1));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AM_RequestXfer0(endpoint, right(), 0, kTry, NULL, 1));
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"handlers may reply and look", handlers_may_reply_and_look},
      {"a token ends with its handler", a_token_ends_with_its_handler},
      {"a handler need not reply", a_handler_need_not_reply},
      {"wrong requests are refused", wrong_requests_are_refused},
  };
  return RUN_CASES(argc, argv, cases);
}
