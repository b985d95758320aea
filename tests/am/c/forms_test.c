// The calls that take a va_list, and the constants that programs use as Berkeley has them: in #if,
// as sizes of arrays, and added to. Checked against the numbers that were passed.
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/am/c/check.h"

#if AM_OK != 0 || AM_ERR_IN_USE != 5 || AM_SEQ == AM_PAR || AM_NONE == AM_ALL
#error "these are numbers that #if knows"
#endif
#if !defined(EBADARGS) || EREPLYREJECTED != 10 || AM_REPLY_XFER_M != 6 || AM_LONG != 2
#error "these, too"
#endif
#if AM_MaxLong() < 8192 || AM_MaxMedium() < 512 || AM_MaxShort() < 8
#error "these are at least what AM-II requires"
#endif

enum { kShort = 1, kPayload = 2, kShortReply = 3, kPayloadReply = 4, kAsk = 5 };

static int handled, replied;
static char segment[4096];

static void expect(int32_t a, int32_t b, int32_t c) { CHECK(a == 1 && b == -2 && c == 3); }
static void on_short(void* token, int32_t a, int32_t b, int32_t c) {
  (void)token;
  expect(a, b, c);
  ++handled;
}
static void on_payload(void* token, void* at, int nbytes, int32_t a, int32_t b, int32_t c) {
  (void)token;
  expect(a, b, c);
  CHECK(nbytes == 7 && memcmp(at, "payload", 7) == 0);
  ++handled;
}
static void on_short_reply(void* token, int32_t a, int32_t b, int32_t c) {
  (void)token;
  expect(a, b, c);
  ++replied;
}
static void on_payload_reply(void* token, void* at, int nbytes, int32_t a, int32_t b, int32_t c) {
  (void)token;
  expect(a, b, c);
  CHECK(nbytes == 7 && memcmp(at, "payload", 7) == 0);
  ++replied;
}

// One function of a program above AM-II, of which each call is a form.
typedef enum {
  kRequest,
  kRequestI,
  kRequestXfer,
  kRequestXferAsync,
  kGetXfer,
  kGetXferAsync,
  kForms
} Form;
static int send(Form form, int numargs, ...) {
  int code = AM_ERR_BAD_ARG;
  va_list args;
  va_start(args, numargs);
  switch (form) {
    case kRequest: code = AM_RequestVA(endpoint, right(), kShort, numargs, args); break;
    case kRequestI:
      code = AM_RequestIVA(endpoint, right(), kPayload, "payload", 7, numargs, args);
      break;
    case kRequestXfer:
      code = AM_RequestXferVA(endpoint, right(), 9, kPayload, "payload", 7, numargs, args);
      break;
    case kRequestXferAsync:
      code = AM_RequestXferAsyncVA(endpoint, right(), 9, kPayload, "payload", 7, numargs, args);
      break;
    case kGetXfer:
      code = AM_GetXferVA(endpoint, right(), 100, kPayloadReply, 200, 7, numargs, args);
      break;
    case kGetXferAsync:
      code = AM_GetXferAsyncVA(endpoint, right(), 100, kPayloadReply, 200, 7, numargs, args);
      break;
    case kForms: break;
  }
  va_end(args);
  return code;
}
static int answer(void* token, int which, int numargs, ...) {
  int code;
  va_list args;
  va_start(args, numargs);
  if (which == 0)
    code = AM_ReplyVA(token, kShortReply, numargs, args);
  else if (which == 1)
    code = AM_ReplyIVA(token, kPayloadReply, "payload", 7, numargs, args);
  else
    code = AM_ReplyXferVA(token, 300, kPayloadReply, "payload", 7, numargs, args);
  va_end(args);
  return code;
}
static void on_ask(void* token, int32_t which) {
  CHECK_RETURNS(AM_ERR_BAD_ARG, answer(token, which, 17, 1));
  CHECK_OK(answer(token, which, 3, 1, -2, 3));
}

static void lists_of_arguments_are_sent(void) {
  handled = replied = 0;
  set(endpoint, kShort, (AM_handler_fn_t)on_short);
  set(endpoint, kPayload, (AM_handler_fn_t)on_payload);
  set(endpoint, kShortReply, (AM_handler_fn_t)on_short_reply);
  set(endpoint, kPayloadReply, (AM_handler_fn_t)on_payload_reply);
  set(endpoint, kAsk, (AM_handler_fn_t)on_ask);
  memcpy(segment + 100, "payload", 7);
  CHECK_OK(AM_SetSeg(endpoint, segment, sizeof segment));
  barrier();
  for (Form form = kRequest; form < kForms; ++form) {
    CHECK_RETURNS(AM_ERR_BAD_ARG, send(form, 17, 1));
    CHECK_RETURNS(AM_ERR_BAD_ARG, send(form, -1, 1));
    int code;
    // An Async one may find that the next process is not known yet.
    while ((code = send(form, 3, 1, -2, 3)) == AM_ERR_NOT_SENT) CHECK_OK(AM_Poll(bundle));
    CHECK_EQ(code, AM_OK);
  }
  for (int which = 0; which < 3; ++which) {
    CHECK_OK(AM_Request1(endpoint, right(), kAsk, which));
  }
  poll_until(&handled, 4);
  poll_until(&replied, 5);
  barrier();
  CHECK_EQ(handled, 4);
  CHECK_EQ(replied, 5);
}

// A program has a buffer of the largest size, and fills all of it.
static void the_largest_message_can_be_allocated(void) {
  const size_t nbytes = AM_MaxLong();
  CHECK(AM_MaxLong() + AM_MaxLong() > 0);  // of ints
  char* const all = malloc(nbytes + 1);
  CHECK(all != NULL);
  CHECK_RETURNS(AM_ERR_BAD_ARG,
                AM_RequestXfer0(endpoint, right(), 0, kPayload, all, (size_t)INT_MAX + 1));
  free(all);
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"lists of arguments are sent", lists_of_arguments_are_sent},
      {"the largest message can be allocated", the_largest_message_can_be_allocated},
  };
  return RUN_CASES(argc, argv, cases);
}
