// What a token and the callbacks around handlers say of a message, of every category and role, from
// the next process and from the own one. Checked against what its sender has sent.
#include <string.h>

#include "am/c/spmd.h"
#include "tests/am/c/check.h"

enum { kShort = 21, kMedium = 22, kLong = 23, kShortReply = 31, kMediumReply, kLongReply, kGot };
enum { kArea = 64 };

static int requests, replies, source_of_requests, source_of_replies;
static unsigned char segment[2 * kArea];

static void expect(void* token, int source, handler_t handler, int category, int is_request,
                   int may_reply, int numargs) {
  AMX_token_info_t info;
  int id = -1;
  CHECK_OK(AMX_GetSourceId(token, &id));
  CHECK_EQ(id, source);
  CHECK_OK(AMX_GetTokenInfo(token, &info));
  CHECK_EQ(info.source, source);
  CHECK_EQ(info.handler, handler);
  CHECK_EQ(info.category, category);
  CHECK_EQ(info.is_request, is_request);
  CHECK_EQ(info.may_reply, may_reply);
  CHECK_EQ(info.numargs, numargs);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetSourceId(token, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetTokenInfo(token, NULL));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetSourceId(&info, &id));
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_GetTokenInfo(NULL, &info));
}

static void on_short_reply(void* token, int32_t a) {
  CHECK_EQ(a, 1);
  expect(token, source_of_replies, kShortReply, AM_SHORT, 0, 0, 1);
  ++replies;
}
static void on_medium_reply(void* token, void* buffer, int nbytes) {
  CHECK(nbytes == 3 && memcmp(buffer, "abc", 3) == 0);
  expect(token, source_of_replies, kMediumReply, AM_MEDIUM, 0, 0, 0);
  ++replies;
}
// The number of bytes as size_t, as AMUDP has it.
static void on_long_reply(void* token, void* buffer, size_t nbytes, int32_t a, int32_t b) {
  CHECK(buffer == segment + kArea && nbytes == 5 && memcmp(buffer, "hello", 5) == 0);
  CHECK(a == 4 && b == 5);
  expect(token, source_of_replies, kLongReply, AM_LONG, 0, 0, 2);
  ++replies;
}
static void on_short(void* token) {
  expect(token, source_of_requests, kShort, AM_SHORT, 1, 1, 0);
  CHECK_OK(AM_Reply1(token, kShortReply, 1));
  expect(token, source_of_requests, kShort, AM_SHORT, 1, 0, 0);  // it has had its reply
  ++requests;
}
static void on_medium(void* token, void* buffer, size_t nbytes, int32_t a) {
  CHECK(nbytes == 4 && memcmp(buffer, "four", 4) == 0);
  CHECK_EQ(a, -7);
  expect(token, source_of_requests, kMedium, AM_MEDIUM, 1, 1, 1);
  CHECK_OK(AM_ReplyI0(token, kMediumReply, "abc", 3));
  ++requests;
}
static void on_long(void* token, void* buffer, int nbytes, int32_t a, int32_t b, int32_t c) {
  CHECK(buffer == segment && nbytes == 6 && memcmp(buffer, "sixsix", 6) == 0);
  CHECK_EQ(a + b + c, 6);
  expect(token, source_of_requests, kLong, AM_LONG, 1, 1, 3);
  CHECK_OK(AM_ReplyXfer2(token, kArea, kLongReply, "hello", 5, 4, 5));
  ++requests;
}
static void on_got(void* token, void* buffer, size_t nbytes, int32_t a) {
  (void)buffer;
  CHECK(nbytes == 6 && a == 9);
  expect(token, source_of_replies, kGot, AM_LONG, 0, 0, 1);
  ++replies;
}

static void prepare(void) {
  requests = replies = 0;
  set(endpoint, kShort, (AM_handler_fn_t)on_short);
  set(endpoint, kMedium, (AM_handler_fn_t)on_medium);
  set(endpoint, kLong, (AM_handler_fn_t)on_long);
  set(endpoint, kShortReply, (AM_handler_fn_t)on_short_reply);
  set(endpoint, kMediumReply, (AM_handler_fn_t)on_medium_reply);
  set(endpoint, kLongReply, (AM_handler_fn_t)on_long_reply);
  set(endpoint, kGot, (AM_handler_fn_t)on_got);
  CHECK_OK(AM_SetSeg(endpoint, segment, sizeof segment));
  barrier();
}

// To process `to`, while this one gets the same of `from`.
static void send_each(int to, int from) {
  source_of_requests = from;
  source_of_replies = to;
  barrier();
  const int before = replies;
  CHECK_OK(AM_Request0(endpoint, to, kShort));
  CHECK_OK(AM_RequestI1(endpoint, to, kMedium, "four", 4, -7));
  CHECK_OK(AM_RequestXfer3(endpoint, to, 0, kLong, "sixsix", 6, 1, 2, 3));
  poll_until(&requests, before / 4 * 3 + 3);
  poll_until(&replies, before + 3);
  CHECK_OK(AM_GetXfer1(endpoint, to, 0, kGot, 16, 6, 9));
  poll_until(&replies, before + 4);
  barrier();
}

static void a_token_says_what_was_sent(void) {
  prepare();
  send_each(right(), left());
  send_each(rank(), rank());
  CHECK_EQ(requests, 6);
  CHECK_EQ(replies, 8);
}

// --- Callbacks

static int begun[2][3], ended[2][3], inside;

static void before(AMX_category_t category, int is_request, int handler, void* token, void* buffer,
                   size_t nbytes, int numargs, uint32_t* args) {
  AMX_token_info_t info;
  CHECK(!inside);
  inside = 1;
  CHECK_OK(AMX_GetTokenInfo(token, &info));
  CHECK_EQ(info.category, category);
  CHECK_EQ(info.handler, handler);
  CHECK_EQ(info.is_request, is_request);
  CHECK_EQ(info.numargs, numargs);
  CHECK_EQ(info.source, is_request ? source_of_requests : source_of_replies);
  if (handler == kShort) CHECK(buffer == NULL && nbytes == 0);
  if (handler == kMedium) CHECK(nbytes == 4 && memcmp(buffer, "four", 4) == 0);
  if (handler == kMedium) CHECK_EQ((int32_t)args[0], -7);
  if (handler == kLong) CHECK(buffer == segment && nbytes == 6 && args[2] == 3);
  ++begun[is_request][category];
}
static void after(AMX_category_t category, int is_request) {
  CHECK(inside);
  inside = 0;
  ++ended[is_request][category];
}

static void callbacks_run_around_each_handler(void) {
  prepare();
  memset(begun, 0, sizeof begun);
  memset(ended, 0, sizeof ended);
  CHECK_OK(AMX_SetHandlerCallbacks(endpoint, before, after));
  set(endpoint, kShort, (AM_handler_fn_t)on_short);  // also of one that is set afterwards
  send_each(right(), left());
  send_each(rank(), rank());
  for (int role = 0; role < 2; ++role)
    for (int category = AM_SHORT; category < AM_NUM_CATEGORIES; ++category) {
      CHECK_EQ(begun[role][category], role == 0 && category == AM_LONG ? 4 : 2);
      CHECK_EQ(ended[role][category], begun[role][category]);
    }
  CHECK_OK(AMX_SetHandlerCallbacks(endpoint, NULL, after));
  inside = 1;  // what `after` looks for
  CHECK_OK(AM_Request0(endpoint, rank(), kShort));
  while (ended[0][AM_SHORT] < 3) {
    inside = 1;
    CHECK_OK(AM_Poll(bundle));
  }
  CHECK_EQ(begun[1][AM_SHORT], 2);
  CHECK_OK(AMX_SetHandlerCallbacks(endpoint, NULL, NULL));
  send_each(rank(), rank());
  CHECK_EQ(ended[0][AM_SHORT], 3);
  inside = 0;
}

static int refused;
static void on_try(void* token) {
  (void)token;
  CHECK_RETURNS(AM_ERR_IN_USE, AMX_SetHandlerCallbacks(endpoint, before, after));
  ++refused;
}
static void a_handler_cannot_set_them(void) {
  refused = 0;
  set(endpoint, kGot + 1, (AM_handler_fn_t)on_try);
  CHECK_OK(AM_Request0(endpoint, rank(), kGot + 1));
  poll_until(&refused, 1);
  CHECK_RETURNS(AM_ERR_BAD_ARG, AMX_SetHandlerCallbacks(NULL, before, after));
}

int main(int argc, char** argv) {
  static const Case cases[] = {
      {"a token says what was sent", a_token_says_what_was_sent},
      {"callbacks run around each handler", callbacks_run_around_each_handler},
      {"a handler cannot set them", a_handler_cannot_set_them},
  };
  return RUN_CASES(argc, argv, cases);
}
